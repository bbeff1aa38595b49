import { existsSync } from 'node:fs';
import { Piscina } from 'piscina';
import type { Scheduler } from './context.js';

/**
 * The script of a thread, by the name that `tsup.config.ts` gives it: it is built beside the command, and found in dist
 * when run from the sources. Undefined if it is not built.
 */
export function builtScript(name: string): URL | undefined {
  const places = [`./${name}.js`, `./cli/${name}.js`, `../../dist/cli/${name}.js`];
  return places.map((place) => new URL(place, import.meta.url)).find((one) => existsSync(one));
}

/** How long a thread may work before it is taken for hung. */
export interface Limit {
  readonly scheduler: Scheduler;
  readonly ms: number;
  /** Resolves once the thread is where it may be ended, and stays there. By default it may be ended anywhere. */
  readonly leave?: () => Promise<void>;
}

/** A thread was ended because it did not answer in time. */
export class HungThreadError extends Error {
  constructor(name: string, { ms }: Limit) {
    super(`${name}: the thread did not answer for ${ms / 1000} s and was ended`);
    this.name = new.target.name;
  }
}

/** Threads that do one job each at a time. They start when they are first needed, and are replaced if they die. */
export class Threads {
  readonly #script: URL;
  readonly #count: number;
  #pool: Piscina | undefined;
  /** For each job that is not done: resolves once its thread is where it may be ended. */
  readonly #leaving = new Set<() => Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(script: URL, count: number) {
    this.#script = script;
    this.#count = count;
  }

  get isStarted(): boolean {
    return this.#pool !== undefined;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Calls a function of the script in a thread. Rejects if the thread dies, or once the threads are closed.
   *
   * @param limit after which a thread that has not answered is ended.
   */
  async run<Result>(name: string, message?: unknown, limit?: Limit): Promise<Result> {
    if (this.isClosed) throw new Error('the service is stopping');
    this.#pool ??= this.#open();
    if (limit === undefined) return this.#pool.run(message, { name });
    return this.#runWithin(limit, name, message);
  }

  /** Ends the threads; running work is rejected. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #runWithin<Result>(limit: Limit, name: string, message: unknown): Promise<Result> {
    const ending = new AbortController();
    const job: Promise<Result> = this.#pool!.run(message, { name, signal: ending.signal });
    // A thread that has died does not answer any more.
    const leave = () => Promise.race([limit.leave?.(), Promise.allSettled([job])]);
    this.#leaving.add(leave);
    let cancel = () => {};
    const hung = new Promise<never>((_, reject) => {
      cancel = limit.scheduler.after(limit.ms, () => {
        // Whoever waits is told in time, even if the thread cannot be ended yet.
        reject(new HungThreadError(name, limit));
        // Once the job is done, the thread may have begun another one.
        void leave().then(() => this.#leaving.has(leave) && ending.abort());
      });
    });
    const forget = () => void this.#leaving.delete(leave);
    job.then(forget, forget);
    try {
      return await Promise.race([job, hung]);
    } finally {
      cancel();
    }
  }

  async #end(): Promise<void> {
    await Promise.all([...this.#leaving].map((leave) => leave()));
    await this.#pool?.destroy();
  }

  #open(): Piscina {
    // Minimum equals maximum: Piscina replaces a dead thread only below the minimum.
    const count = { minThreads: this.#count, maxThreads: this.#count };
    const pool = new Piscina({ filename: this.#script.href, ...count });
    // Whoever awaits the work gets the error.
    pool.on('error', () => {});
    return pool;
  }
}
