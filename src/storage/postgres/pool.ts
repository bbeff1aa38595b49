import { StorageError } from '../errors.js';
import type { Connection } from './connection.js';
import { PostgresFailure } from './failure.js';

/** How long a job waits for a connection: if the database does not answer, those before it would take far longer. */
const WAIT_MS_MAX = 15_000;

/** A pool of connections, each used by one transaction at a time; callers queue while all are in use. */
export class ConnectionPool {
  readonly #connect: () => Promise<Connection>;
  readonly #countMax: number;
  readonly #idle: Connection[] = [];
  /** In the order of their arrival; a Set, as one may leave before its turn. */
  readonly #waiting = new Set<() => void>();
  #count = 0;
  #isClosed = false;

  constructor(connect: () => Promise<Connection>, countMax: number) {
    this.#connect = connect;
    this.#countMax = countMax;
  }

  /** Runs `work` on a connection; a failed connection is not reused. */
  async use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const connection = await this.#take();
    try {
      return await work(connection);
    } finally {
      this.#giveBack(connection);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  async #take(): Promise<Connection> {
    while (this.#count >= this.#countMax && this.#idle.length === 0) await this.#wait();
    if (this.#isClosed) throw new StorageError('storage.closed', 'the store is closed');
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.failure === undefined) return idle;
      this.#count--;
    }
    this.#count++;
    try {
      return await this.#connect();
    } catch (error) {
      this.#count--;
      this.#wakeNext();
      throw error;
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(end);
        reject(
          new PostgresFailure('lost', `all ${this.#countMax} connections were in use for ${WAIT_MS_MAX / 1000} s`),
        );
      }, WAIT_MS_MAX);
      this.#waiting.add(end);
    });
  }

  #wakeNext(): void {
    const [end] = this.#waiting;
    end?.();
  }

  #giveBack(connection: Connection): void {
    if (connection.failure === undefined && !this.#isClosed) this.#idle.push(connection);
    else {
      connection.close();
      this.#count--;
    }
    this.#wakeNext();
  }
}
