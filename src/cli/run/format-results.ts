import { type Series, type SeriesReference, seriesKey } from '../../core/series.js';
import type { Format } from '../../formats/format.js';
import type { Target } from '../files/target.js';
import { Spool, type TempFiles } from '../files/temp-files.js';
import type { Io } from '../terminal/io.js';

/** What all spools together may hold in memory. */
const MEMORY_BYTES = 8 << 20;
const DOUBLE_BYTES = 8;

/**
 * The results of a run on their way to a file of any format: kept as doubles while they come in order of time, written
 * in order of series at the end.
 */
export class FormatResults {
  /** Samples of each result so far, in the order of the request. */
  readonly sampleCounts: number[];
  readonly #format: Format;
  readonly #outputs: readonly SeriesReference[];
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #target: Target;
  readonly #spools: readonly Spool[];

  constructor(format: Format, outputs: readonly SeriesReference[], target: Target, io: Io, temps: TempFiles) {
    const memoryBytes = Math.floor(MEMORY_BYTES / Math.max(1, outputs.length));
    this.sampleCounts = outputs.map(() => 0);
    this.#format = format;
    this.#outputs = outputs;
    this.#indexOf = new Map(outputs.map((output, index) => [seriesKey(output), index]));
    this.#target = target;
    this.#spools = outputs.map(() => new Spool(io, temps, memoryBytes, target.beside));
  }

  add(series: readonly Series[]): void {
    for (const one of series) {
      const index = this.#indexOf.get(seriesKey(one));
      const spool = this.#spools[index ?? -1];
      if (index === undefined || spool === undefined) throw new Error('assertion failed: a result nobody asked for');
      const pairs = new Float64Array(2 * one.timeMs.length);
      for (const [row, timeMs] of one.timeMs.entries()) {
        pairs[2 * row] = timeMs;
        pairs[2 * row + 1] = one.value[row]!;
      }
      spool.write(new Uint8Array(pairs.buffer));
      this.sampleCounts[index] = (this.sampleCounts[index] ?? 0) + one.timeMs.length;
    }
  }

  /** Forgets everything that was added. */
  reset(): void {
    this.#target.reset();
    for (const spool of this.#spools) spool.reset();
    this.sampleCounts.fill(0);
  }

  /** Writes the output; `keep` of the target makes it appear. */
  async finish(): Promise<void> {
    let waiting: Uint8Array[] = [];
    const writer = await this.#format.openWriter?.((bytes) => waiting.push(bytes.slice()));
    if (writer === undefined) throw new Error('assertion failed: a format that cannot be written');
    const drain = async (): Promise<void> => {
      const pieces = waiting;
      waiting = [];
      for (const piece of pieces) await this.#target.write(piece);
    };
    for (const [index, spool] of this.#spools.entries()) {
      for (const piece of spool.pieces()) {
        writer.write({ ...this.#outputs[index]!, ...columnsOf(piece) });
        await drain();
      }
      spool.reset();
    }
    writer.end();
    await drain();
  }
}

// A piece of a spool is a whole number of samples.
function columnsOf(piece: Uint8Array): Pick<Series, 'timeMs' | 'value'> {
  const pairs = new Float64Array(piece.slice().buffer, 0, piece.length / DOUBLE_BYTES);
  const timeMs = new Float64Array(pairs.length / 2);
  const value = new Float64Array(pairs.length / 2);
  for (let row = 0; row < timeMs.length; row++) {
    timeMs[row] = pairs[2 * row]!;
    value[row] = pairs[2 * row + 1]!;
  }
  return { timeMs, value };
}
