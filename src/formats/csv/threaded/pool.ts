import type { Piscina } from 'piscina';
import type { RangeResult, RangeTask } from './worker.js';

/** What is read before its turn waits in memory: so many ranges a thread may. */
const RANGES_AHEAD = 3;

/** Threads that read ranges of CSV files for a run, one file after the other. */
export class RangePool {
  /** Ranges that may be asked for and not yet used. */
  readonly rangesAhead: number;
  readonly #pool: Piscina;
  #fileCount = 0;

  private constructor(pool: Piscina) {
    this.#pool = pool;
    this.rangesAhead = RANGES_AHEAD * pool.options.maxThreads;
  }

  /** @param code where the built code of worker.ts lies. */
  static async open(code: URL, threads: number): Promise<RangePool> {
    const { Piscina } = await import('piscina');
    const pool = new Piscina({
      filename: code.href,
      name: 'readRange',
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: RANGES_AHEAD,
      recordTiming: false,
    });
    return new RangePool(pool);
  }

  /** A number that tells the ranges of one file from those of another. */
  nextFile(): number {
    return ++this.#fileCount;
  }

  /** Ranges of a file are to be asked for in rising order. */
  read(task: RangeTask): Promise<RangeResult> {
    return this.#pool.run(task);
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}
