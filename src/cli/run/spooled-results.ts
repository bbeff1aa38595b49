import { type Series, type SeriesReference, seriesKey } from '../../core/series.js';
import { SourceMatcher } from '../../core/source-matcher.js';
import type { Format } from '../../formats/format.js';
import { SampleSpool } from '../files/sample-spool.js';
import type { Target } from '../files/target.js';
import type { TempFiles } from '../files/temp-files.js';
import type { Io } from '../terminal/io.js';
import type { Settings } from './settings.js';

interface Known {
  readonly reference: SeriesReference;
  readonly item: number;
  readonly number: number;
}

/**
 * The results of a run on their way to a file of any format, kept until its end. Which series a pattern has shows as
 * they come; all are written in the order in which the end of the run gives them, which is that of the items.
 */
export class SpooledResults {
  /** The number of samples and series of each item so far, in the order of the request. */
  readonly sampleCounts: number[];
  readonly seriesCounts: number[];
  readonly #format: Format;
  readonly #fileName: string;
  readonly #target: Target;
  readonly #spool: SampleSpool;
  readonly #matcher: SourceMatcher;
  readonly #known = new Map<string, Known>();
  #lastGiven: readonly Known[] = [];

  constructor(
    { outputFormat, output }: Pick<Settings, 'outputFormat' | 'output'>,
    outputs: readonly SeriesReference[],
    target: Target,
    io: Io,
    temps: TempFiles,
  ) {
    this.sampleCounts = outputs.map(() => 0);
    this.seriesCounts = outputs.map(() => 0);
    this.#format = outputFormat;
    this.#fileName = output;
    this.#target = target;
    this.#spool = new SampleSpool(io, temps, target.beside);
    this.#matcher = new SourceMatcher(outputs);
  }

  add(series: readonly Series[]): void {
    this.#lastGiven = series.map((one) => {
      const known = this.#knownOf(one);
      this.#spool.add(known.number, one);
      this.sampleCounts[known.item]! += one.timeMs.length;
      return known;
    });
  }

  /** Discards everything that was added. */
  reset(): void {
    this.#target.reset();
    this.#spool.reset();
    this.#known.clear();
    this.#lastGiven = [];
    this.sampleCounts.fill(0);
    this.seriesCounts.fill(0);
  }

  /** Writes the output; `keep` of the target makes it appear. By then the run has named every series, in order. */
  async finish(): Promise<void> {
    let waiting: Uint8Array[] = [];
    const writer = await this.#format.openWriter?.((bytes) => waiting.push(bytes.slice()), this.#fileName);
    if (writer === undefined) throw new Error('assertion failed: a format that cannot be written');
    const drain = async (): Promise<void> => {
      const pieces = waiting;
      waiting = [];
      for (const piece of pieces) await this.#target.write(piece);
    };
    for (const { reference, number } of this.#lastGiven) {
      for (const { timeMs, value } of this.#spool.pieces(number)) {
        writer.write({ ...reference, timeMs, value });
        if (waiting.length > 0) await drain();
      }
    }
    writer.end();
    await drain();
    this.#spool.reset();
  }

  #knownOf(series: Series): Known {
    const key = seriesKey(series);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [place] = this.#matcher.placesOf(series);
    if (place === undefined) throw new Error('assertion failed: a result nobody asked for');
    const { timeseriesId, metric } = series;
    const added = { reference: { timeseriesId, metric }, item: place.source, number: this.#known.size };
    this.#known.set(key, added);
    this.seriesCounts[added.item]! += 1;
    return added;
  }
}
