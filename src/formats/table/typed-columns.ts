import { formatInstant } from '../../core/instant.js';
import type { FormatOptions, FormatSource } from '../format.js';
import { type ColumnFacts, factsOf } from './facts.js';
import { type Cells, TableReader, textOf } from './table-reader.js';

/** A column of a file with typed columns: Parquet, Arrow. Its times are epoch milliseconds. */
export interface TypedColumn {
  readonly name: string;
  readonly type: 'time' | 'number' | 'other';
  /** For times: whether the file says that they are local. */
  readonly isLocal: boolean;
  /** Of a decimal, how many of its digits stand behind the point. */
  readonly scale?: number | undefined;
}

/** How many rows decide what the columns are. */
export const SAMPLE_ROWS = 400;

/** Opens a reader from the columns of a file and their first rows. */
export function openTyped(
  columns: readonly TypedColumn[],
  sample: readonly Cells[],
  options: FormatOptions,
): TableReader {
  const facts = columns.map(({ name, type }, column): ColumnFacts => {
    const texts = Array.from(sample[column] ?? [], textOf).slice(0, SAMPLE_ROWS);
    return type === 'other' ? factsOf(name, texts) : { name, kind: type === 'time' ? 'instant' : 'number', texts };
  });
  const ofTimes = new TableReader(facts, { ...options, timeFormat: 'ms', areTimesTyped: true }, true);
  const time = columns[ofTimes.roles.timeColumn];
  if (time?.type !== 'time') return new TableReader(facts, options, true);
  return time.isLocal
    ? new TableReader(facts, { ...options, timeFormat: undefined, areTimesTyped: true }, true)
    : ofTimes;
}

/** Decimals as the doubles nearest to them, from their digits: whole numbers, or bytes with the greatest first. */
export function decimals(cells: ArrayLike<unknown>, scale: number): unknown[] {
  return Array.from(cells, (cell) => {
    const digits = cell instanceof Uint8Array ? wholeNumberOf(cell) : cell;
    return typeof digits === 'number' || typeof digits === 'bigint' ? Number(`${digits}e${-scale}`) : digits;
  });
}

function wholeNumberOf(bytes: Uint8Array): bigint {
  let digits = 0n;
  for (const byte of bytes) digits = 256n * digits + BigInt(byte);
  return BigInt.asIntN(8 * bytes.length, digits);
}

/** Turns local times into texts, so that they are read in the zone of the run. */
export function localTimes(cells: ArrayLike<unknown>): unknown[] {
  return Array.from(cells, (ms) => (typeof ms === 'number' ? formatInstant(ms).replace(/Z$/, '') : ms));
}

/** All bytes of a file that can be read only once. */
export async function wholeOf({ blocks }: Pick<FormatSource, 'blocks'>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const block of blocks()) parts.push(block.slice());
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
