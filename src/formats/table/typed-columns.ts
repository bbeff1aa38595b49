import { formatInstant } from '../../core/instant.js';
import type { FormatOptions, FormatSource } from '../format.js';
import { type ColumnFacts, factsOf } from './facts.js';
import { type Cells, TableReader, textOf } from './table-reader.js';

/** A column of a file whose columns have types: Parquet, Arrow. Its times are epoch milliseconds. */
export interface TypedColumn {
  readonly name: string;
  readonly type: 'time' | 'number' | 'other';
  /** Of a time: whether the file says that it is no instant, but local. */
  readonly isLocal: boolean;
}

/** So many rows tell what the columns are. */
export const SAMPLE_ROWS = 400;

/** Makes ready to read a file, from its columns and their first rows. */
export function openTyped(
  columns: readonly TypedColumn[],
  sample: readonly Cells[],
  options: FormatOptions,
): TableReader {
  const facts = columns.map(({ name, type }, column): ColumnFacts => {
    const texts = Array.from(sample[column] ?? [], textOf).slice(0, SAMPLE_ROWS);
    return type === 'other' ? factsOf(name, texts) : { name, kind: type === 'time' ? 'instant' : 'number', texts };
  });
  const ofTimes = new TableReader(facts, { ...options, timeFormat: options.timeFormat ?? 'ms' }, true);
  const time = columns[ofTimes.roles.timeColumn];
  if (time?.type !== 'time') return new TableReader(facts, options, true);
  return time.isLocal ? new TableReader(facts, { ...options, timeFormat: undefined }, true) : ofTimes;
}

/** Times that are local, as texts, so that they are read in the zone of the run. */
export function localTimes(cells: ArrayLike<unknown>): unknown[] {
  return Array.from(cells, (ms) => (typeof ms === 'number' ? formatInstant(ms).replace(/Z$/, '') : ms));
}

/** All bytes of a file that can be read once. */
export async function wholeOf({ blocks }: Pick<FormatSource, 'blocks'>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const block of blocks()) parts.push(block.slice());
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
