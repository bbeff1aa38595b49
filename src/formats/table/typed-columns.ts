import { formatInstant } from '../../core/instant.js';
import type { FormatOptions, FormatSource } from '../format.js';
import { type Cells, textOf } from './cells.js';
import { type ColumnFacts, factsOf } from './facts.js';
import { TableReader } from './table-reader.js';

/** A column of a file with typed columns: Parquet, Arrow. Its times are epoch milliseconds. */
export interface TypedColumn {
  readonly name: string;
  readonly type: 'time' | 'number' | 'other';
  /** For times: whether the file says that they are local. */
  readonly isLocal: boolean;
  /** Whether it holds days, which a column with times of day may complete. */
  readonly isDate: boolean;
  /** Of times of day: how many of its units are a second. */
  readonly clockUnits?: number | undefined;
  /** Whether its cells are texts: bytes where they are no UTF-8, as `textOfBytes` returns. */
  readonly areTexts?: boolean;
  /** Of a decimal, how many of its digits stand behind the point. */
  readonly scale?: number | undefined;
}

/** Tells of columns of lists or records. */
export function nestedNote(names: readonly string[]): string {
  return `nested columns left out: ${names.join(', ')}`;
}

/** How many rows decide what the columns are. */
export const SAMPLE_ROWS = 400;

/** Opens a reader from the columns of a file and their first rows. */
export function openTyped(
  columns: readonly TypedColumn[],
  sample: readonly Cells[],
  options: FormatOptions,
): TableReader {
  const hasClock = columns.some(({ clockUnits }) => clockUnits !== undefined);
  const facts = columns.map(({ name, type, isDate }, column): ColumnFacts => {
    const texts = Array.from(sample[column] ?? [], textOf).slice(0, SAMPLE_ROWS);
    if (type === 'other') return factsOf(name, texts);
    return { name, kind: type === 'number' ? 'number' : hasClock && isDate ? 'date' : 'instant', texts };
  });
  const ofTimes = new TableReader(facts, { ...options, timeFormat: 'ms', areTimesTyped: true }, true);
  const time = columns[ofTimes.roles.timeColumn];
  if (time?.type !== 'time') return new TableReader(facts, options, true);
  const areTexts = time.isLocal || ofTimes.roles.clockColumn >= 0;
  return areTexts ? new TableReader(facts, { ...options, timeFormat: 'ymd', areTimesTyped: true }, true) : ofTimes;
}

/** Times of day as texts, such as 12:30:00.500. */
export function clockTexts(cells: ArrayLike<unknown>, unitsInSecond: number): unknown[] {
  const pair = (number: number): string => String(number).padStart(2, '0');
  return Array.from(cells, (cell) => {
    if (typeof cell !== 'number' && typeof cell !== 'bigint') return cell;
    const units = BigInt(cell);
    const seconds = Number(units / BigInt(unitsInSecond));
    const fraction = String(units % BigInt(unitsInSecond)).padStart(Math.log10(unitsInSecond), '0');
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return `${parts.map(pair).join(':')}.${fraction}`;
  });
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

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of some bytes, or the bytes if they are none: what nobody reads may be anything. */
export function textOfBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes.slice();
  }
}

/**
 * Checks a column that is read.
 *
 * @throws Error for a text that is not UTF-8, as two such names would be one.
 */
export function checkTexts({ name, areTexts = false }: TypedColumn, cells: Cells): void {
  if (!areTexts) return;
  for (let row = 0; row < (cells?.length ?? 0); row++) {
    if (cells![row] instanceof Uint8Array) throw new Error(`a text in the column ${name} is not UTF-8`);
  }
}

/** All bytes of a file that can be read only once. */
export async function wholeOf({ blocks }: Pick<FormatSource, 'blocks'>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const block of blocks()) parts.push(block.slice());
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
