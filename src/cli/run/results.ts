import { type Series, type SeriesReference, seriesKey } from '../../core/series.js';
import { type CsvWriter, createCsvWriter, csvHeader } from '../../formats/csv/index.js';
import type { Target } from '../files/target.js';
import { createSpool, type Spool, type TempFiles } from '../files/temp-files.js';
import type { Io } from '../terminal/io.js';

/** The results of a run on their way to the output: written in order of series, though they come in order of time. */
export interface Results {
  readonly add: (series: readonly Series[]) => void;
  /** Forgets all that was added. */
  readonly reset: () => void;
  /** Writes what is not yet in the output; `keep` of the target makes it appear. */
  readonly finish: () => Promise<void>;
  /** Samples of each result so far, in the order of the request. */
  readonly sampleCounts: readonly number[];
}

/** What all spools together may hold in memory. */
const MEMORY_BYTES = 8 << 20;

/** @param outputs the results in the order of the request. */
export function createResults(outputs: readonly SeriesReference[], target: Target, io: Io, temps: TempFiles): Results {
  const indexOf = new Map(outputs.map((output, index) => [seriesKey(output), index]));
  const { append } = target;
  // The first result of a file is written where it will stay, without a detour; the others wait for it to end.
  const waiting = append === undefined ? outputs : outputs.slice(1);
  const memoryBytes = Math.floor(MEMORY_BYTES / Math.max(1, waiting.length));
  const spools = waiting.map(() => createSpool(io, temps, memoryBytes, target.beside));
  const sampleCounts = outputs.map(() => 0);
  let writers = openWriters(append, spools);

  function add(series: readonly Series[]): void {
    for (const one of series) {
      const index = indexOf.get(seriesKey(one));
      const writer = writers[index ?? -1];
      if (index === undefined || writer === undefined) throw new Error('assertion failed: a result nobody asked for');
      writer.write(one);
      sampleCounts[index] = (sampleCounts[index] ?? 0) + one.timeMs.length;
    }
  }

  function reset(): void {
    target.reset();
    for (const spool of spools) spool.reset();
    writers = openWriters(append, spools);
    sampleCounts.fill(0);
  }

  async function finish(): Promise<void> {
    for (const writer of writers) writer.flush();
    if (append === undefined) await target.write(new TextEncoder().encode(csvHeader));
    for (const spool of spools) {
      for (const piece of spool.pieces()) await target.write(piece);
      spool.reset();
    }
  }

  return { add, reset, finish, sampleCounts };
}

function openWriters(append: Target['append'], spools: readonly Spool[]): CsvWriter[] {
  const waiting = spools.map((spool) => createCsvWriter(spool.write, { hasHeader: false }));
  return append === undefined ? waiting : [createCsvWriter(append), ...waiting];
}
