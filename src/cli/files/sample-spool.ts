import { DoubleList } from '../../core/list.js';
import type { Columns } from '../../core/series.js';
import type { Io } from '../terminal/io.js';
import type { TempFile, TempFiles } from './temp-files.js';

/** How many doubles all series together may keep in memory. */
const MEMORY_DOUBLES = 1 << 20;
/** Each block begins with the position and the length, in doubles, of the block before it of the same series. */
const HEADER_DOUBLES = 2;
const DOUBLE_BYTES = 8;

interface Kept {
  /** Times and values, alternating. */
  readonly pairs: DoubleList;
  /** The position and length, in doubles, of its last block in the file. */
  at: number;
  length: number;
}

/**
 * Keeps samples of many series until they are needed series by series: in memory while they are few, then in one file,
 * as blocks that each point to the one before. So memory does not grow with the samples.
 */
export class SampleSpool {
  readonly #io: Io;
  readonly #temps: TempFiles;
  readonly #beside: string | undefined;
  #kept: Kept[] = [];
  #keptDoubles = 0;
  #file: TempFile | undefined;
  #fileDoubles = 0;

  /** @param beside a path in whose folder to put the file; by default the system's temporary folder. */
  constructor(io: Io, temps: TempFiles, beside?: string) {
    this.#io = io;
    this.#temps = temps;
    this.#beside = beside;
  }

  /** @param series the number of the series; new ones are numbered consecutively. */
  add(series: number, { timeMs, value }: Columns): void {
    this.#kept[series] ??= { pairs: new DoubleList(), at: 0, length: 0 };
    const { pairs } = this.#kept[series];
    for (const [row, time] of timeMs.entries()) {
      pairs.push(time);
      pairs.push(value[row]!);
    }
    this.#keptDoubles += 2 * timeMs.length;
    if (this.#keptDoubles > MEMORY_DOUBLES) this.#writeAll();
  }

  /** The samples of a series, piece by piece. */
  *pieces(series: number): Iterable<Columns> {
    const kept = this.#kept[series];
    if (kept === undefined) return;
    const blocks: { at: number; length: number }[] = [];
    for (let block = { at: kept.at, length: kept.length }; block.length > 0; ) {
      blocks.push(block);
      const [at = 0, length = 0] = this.#read(block.at, HEADER_DOUBLES);
      block = { at, length };
    }
    for (const { at, length } of blocks.reverse()) {
      yield columnsOf(this.#read(at + HEADER_DOUBLES, length - HEADER_DOUBLES));
    }
    yield columnsOf(kept.pairs.view());
  }

  reset(): void {
    this.#kept = [];
    this.#keptDoubles = 0;
    if (this.#file !== undefined) this.#temps.remove(this.#file);
    this.#file = undefined;
    this.#fileDoubles = 0;
  }

  #writeAll(): void {
    this.#file ??= this.#temps.create(this.#beside);
    for (const kept of this.#kept) {
      if (kept.pairs.length === 0) continue;
      const block = new Float64Array(HEADER_DOUBLES + kept.pairs.length);
      block[0] = kept.at;
      block[1] = kept.length;
      block.set(kept.pairs.view(), HEADER_DOUBLES);
      this.#temps.write(this.#file, new Uint8Array(block.buffer));
      kept.at = this.#fileDoubles;
      kept.length = block.length;
      this.#fileDoubles += block.length;
      kept.pairs.clear();
    }
    this.#keptDoubles = 0;
  }

  #read(at: number, length: number): Float64Array {
    const doubles = new Float64Array(length);
    const bytes = new Uint8Array(doubles.buffer);
    for (let from = 0; from < bytes.length; ) {
      const position = at * DOUBLE_BYTES + from;
      const rest = bytes.length - from;
      const count = this.#io.fs.readSync(this.#file!.descriptor, bytes, from, rest, position);
      if (count === 0) throw new Error('assertion failed: a temporary file is shorter than what was written');
      from += count;
    }
    return doubles;
  }
}

function columnsOf(pairs: Float64Array): Columns {
  const count = pairs.length / 2;
  return {
    timeMs: Float64Array.from({ length: count }, (_, row) => pairs[2 * row]!),
    value: Float64Array.from({ length: count }, (_, row) => pairs[2 * row + 1]!),
  };
}
