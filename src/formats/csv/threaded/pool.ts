import type { Piscina } from 'piscina';
import type { RangeResult, RangeTask } from './worker.js';

/** How many ranges a thread may read ahead, as results wait in memory for their turn. */
const RANGES_AHEAD = 3;

/** The threads that read ranges of CSV files for a run, one file after the other. */
export class RangePool {
  /** How many ranges may be requested before they are used. */
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

  /** A new number for a file, which tells its ranges from those of others. */
  nextFile(): number {
    return ++this.#fileCount;
  }

  /** Reads a range. Those of one file must be requested in rising order. */
  read(task: RangeTask): Promise<RangeResult> {
    return this.#pool.run(task);
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}
