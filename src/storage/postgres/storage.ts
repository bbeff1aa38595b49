import { StorageError } from '../errors.js';
import { checkShard } from '../shard.js';
import { SqlReader } from '../sql/transaction.js';
import type { Claim, CommitListener, Reader, Storage, Transaction, TransactionOptions } from '../storage.js';
import { giveBackClaim, readLive, takeClaim } from './claims.js';
import type { Connection } from './connection.js';
import { PostgresFailure } from './failure.js';
import { createJob, quietWatch } from './group.js';
import type { Hints } from './hints.js';
import type { ConnectionPool } from './pool.js';
import { checkVersion, OLDEST_VERSION } from './schema.js';
import { SharedRead } from './shared-read.js';
import { pause, pauseOf, ShardWriter, TRIES_MS_MAX, type WriterParts } from './writer.js';

export interface StorageParts {
  readonly pool: ConnectionPool;
  readonly hints: Hints;
  readonly writer: WriterParts;
  readonly session: number;
  /** See `TimeLimits`. */
  readonly silentMsMax: number;
  /** Turns a failure of PostgreSQL into an error for the caller. */
  readonly explain: (error: unknown) => unknown;
}

/** How long a list of live processes stays valid. */
const LIVE_MS = 2000;

/**
 * A PostgreSQL database that any number of processes use at a time. Each reader sees one state (repeatable read); the
 * lock on a shard's row in `windrow_shard` serialises its writers.
 */
export class PostgresStorage implements Storage {
  readonly #parts: StorageParts;
  /** By the shards that they write. */
  readonly #writers = new Map<string, ShardWriter>();
  readonly #reading = new Set<Promise<unknown>>();
  /** By shard. Each request asks for one, to know whether its token still holds. */
  readonly #lastCommits = new Map<number, SharedRead<number>>();
  #live: readonly number[] = [];
  #liveReadMs = Number.NEGATIVE_INFINITY;
  #closing: Promise<void> | undefined;

  constructor(parts: StorageParts) {
    this.#parts = parts;
  }

  async read<Result>(shard: number, work: (tx: Reader) => Promise<Result>): Promise<Result> {
    this.#assertUsable(shard);
    const { version } = this.#parts.writer;
    return this.#retrying((connection) => readWith(connection, shard, version, work));
  }

  async transaction<Result>(
    shard: number,
    work: (tx: Transaction) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    return this.transactionOver([shard], ([tx]) => work(tx!), options);
  }

  async transactionOver<Result>(
    shards: readonly number[],
    work: (txs: readonly Transaction[]) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    for (const shard of shards) this.#assertUsable(shard);
    const { writer: parts, explain } = this.#parts;
    const key = shards.join(' ');
    const writer = this.#writers.get(key) ?? new ShardWriter(parts, shards);
    this.#writers.set(key, writer);
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(explain(error));
      writer.push(createJob(parts.monotonicMs(), work, options, resolve, fail));
    });
  }

  async lastCommit(shard: number): Promise<number> {
    this.#assertUsable(shard);
    const known = this.#lastCommits.get(shard) ?? new SharedRead(() => this.#readLastCommit(shard));
    this.#lastCommits.set(shard, known);
    return known.call();
  }

  /** Not a notification's number: any role of the database may notify. */
  recentCommit(shard: number): Promise<number> {
    return this.lastCommit(shard);
  }

  #readLastCommit(shard: number): Promise<number> {
    const { version } = this.#parts.writer;
    const sql = `SELECT "commit", ${OLDEST_VERSION} FROM "windrow_shard" WHERE "shard" = ?`;
    return this.#retrying(async (connection) => {
      const [row] = await connection.all({ sql, values: [shard] });
      checkVersion(row!.oldestVersion, version);
      return Number(row!.commit);
    });
  }

  async claim(shard: number, owner: string, leaseMs: number): Promise<Claim | undefined> {
    this.#assertUsable(shard);
    const { hints, session, silentMsMax, writer } = this.#parts;
    return this.#retrying(async (connection) => {
      await hints.holdLiveLock();
      return takeClaim(connection, shard, { owner, session, version: writer.version, silentMsMax }, leaseMs);
    });
  }

  async release(claim: Claim): Promise<void> {
    this.#assertUsable(claim.shard);
    await this.#retrying((connection) => giveBackClaim(connection, claim));
  }

  async maintains(shard: number): Promise<boolean> {
    this.#assertUsable(shard);
    const { hints, session, silentMsMax, writer } = this.#parts;
    if (writer.monotonicMs() - this.#liveReadMs >= LIVE_MS) {
      this.#liveReadMs = writer.monotonicMs();
      this.#live = await this.#retrying(async (connection) => {
        await hints.holdLiveLock();
        return readLive(connection, silentMsMax);
      });
    }
    const index = this.#live.indexOf(session);
    // A process that is not in the list yet maintains all shards.
    return index < 0 || shard % this.#live.length === index;
  }

  onCommit(listener: CommitListener): () => void {
    return this.#parts.writer.announcer.onCommit(listener);
  }

  async check(): Promise<void> {
    this.#assertUsable(0);
    const { version } = this.#parts.writer;
    await this.#retrying(async (connection) => {
      const [rows] = await connection.exec(`SELECT ${OLDEST_VERSION} FROM "windrow_shard" WHERE "shard" = 0`);
      checkVersion(rows![0]!.oldestVersion, version);
    }, 0);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await Promise.all([...this.#writers.values()].map((writer) => writer.end()));
    await Promise.allSettled(this.#reading);
    await this.#parts.hints.close();
    this.#parts.pool.close();
  }

  /** Runs a job on a connection; retries on another one after a failure of the connection or a conflict. */
  async #retrying<Result>(
    work: (connection: Connection) => Promise<Result>,
    triesMsMax: number = TRIES_MS_MAX,
  ): Promise<Result> {
    const running = this.#tryWork(work, triesMsMax);
    this.#reading.add(running);
    try {
      return await running;
    } catch (error) {
      throw this.#parts.explain(error);
    } finally {
      this.#reading.delete(running);
    }
  }

  async #tryWork<Result>(work: (connection: Connection) => Promise<Result>, triesMsMax: number): Promise<Result> {
    const { pool, writer } = this.#parts;
    const untilMs = writer.monotonicMs() + triesMsMax;
    for (let failureCount = 1; ; failureCount++) {
      try {
        return await pool.use(async (connection) => {
          try {
            await connection.confirmed();
            return await work(connection);
          } catch (error) {
            throw connection.failure ?? error;
          }
        });
      } catch (error) {
        const isTransient = error instanceof PostgresFailure && error.isTransient;
        if (!isTransient || writer.monotonicMs() >= untilMs) throw error;
        await pause(pauseOf(failureCount));
      }
    }
  }

  #assertUsable(shard: number): void {
    if (this.#closing !== undefined) throw new StorageError('storage.closed', 'the store is closed');
    checkShard(shard);
  }
}

async function readWith<Result>(
  connection: Connection,
  shard: number,
  version: number,
  work: (tx: Reader) => Promise<Result>,
): Promise<Result> {
  // Locked before the state that the reader sees is taken, so that no breaking migration lies between.
  const [, , rows] = await connection.exec(
    `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; LOCK TABLE "windrow_shard" IN ACCESS SHARE MODE;
    SELECT "commit", ${OLDEST_VERSION} FROM "windrow_shard" WHERE "shard" = ${shard}`,
  );
  const { commit, oldestVersion } = rows![0]!;
  const lastCommit = Number(commit);
  const tx = new SqlReader(connection, shard, { lastCommit, durableCommit: lastCommit });
  try {
    checkVersion(oldestVersion, version);
    return await quietWatch.run([tx], () => work(tx));
  } finally {
    tx.end();
    connection.send('COMMIT');
  }
}
