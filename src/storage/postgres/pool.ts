import { StorageError } from '../errors.js';
import type { Connection } from './connection.js';

/** A pool of connections, each used by one transaction at a time; callers queue while all are in use. */
export class ConnectionPool {
  readonly #connect: () => Promise<Connection>;
  readonly #countMax: number;
  readonly #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
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
    while (this.#count >= this.#countMax && this.#idle.length === 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
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
      this.#waiting.shift()?.();
      throw error;
    }
  }

  #giveBack(connection: Connection): void {
    if (connection.failure === undefined && !this.#isClosed) this.#idle.push(connection);
    else {
      connection.close();
      this.#count--;
    }
    this.#waiting.shift()?.();
  }
}
