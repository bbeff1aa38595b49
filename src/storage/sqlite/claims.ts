import { join } from 'node:path';
import { StaleClaimError } from '../errors.js';
import type { Claim } from '../storage.js';
import { createFile, type Database, type OpenDatabase, SqliteFailure } from './database.js';

/** Claims of shards, in the table `windrow_shard` with one row for each shard. */
export function takeClaim(
  database: Database,
  shard: number,
  owner: string,
  leaseMs: number,
  nowMs: number,
): Claim | undefined {
  const holder = holderOf(database, shard);
  // A lease that is longer than any was given before the clock was set back.
  const isOver = holder.leaseUntilMs <= nowMs || holder.leaseUntilMs > nowMs + leaseMs;
  if (holder.owner !== null && holder.owner !== owner && !isOver) return undefined;
  const sequence = holder.owner === owner ? holder.sequence : holder.sequence + 1;
  setHolder(database, shard, { owner, sequence, leaseUntilMs: nowMs + leaseMs });
  return Object.freeze({ shard, owner, sequence });
}

/** Releases a claim; does nothing if another owner has it by now. */
export function giveBackClaim(database: Database, claim: Claim): void {
  if (!isHeld(database, claim)) return;
  setHolder(database, claim.shard, { owner: null, sequence: claim.sequence, leaseUntilMs: 0 });
}

/** Ends the claims of processes that are known to be dead. */
export function endClaims(database: Database): void {
  database.exec('UPDATE "windrow_shard" SET "owner" = NULL, "leaseUntilMs" = 0 WHERE "owner" IS NOT NULL');
}

export function checkClaim(database: Database, shard: number, claim: Claim): void {
  if (claim.shard === shard && isHeld(database, claim)) return;
  throw new StaleClaimError(
    `shard ${shard}: the claim of ${claim.owner} with the sequence ${claim.sequence} on shard ${claim.shard} ` +
      'no longer holds; claim the shard again and start from what is stored',
  );
}

interface Holder {
  readonly owner: string | null;
  readonly sequence: number;
  readonly leaseUntilMs: number;
}

function isHeld(database: Database, { shard, owner, sequence }: Claim): boolean {
  const holder = holderOf(database, shard);
  return holder.owner === owner && holder.sequence === sequence;
}

function holderOf(database: Database, shard: number): Holder {
  const [row] = database.all('SELECT "owner", "sequence", "leaseUntilMs" FROM "windrow_shard" WHERE "shard" = ?', [
    shard,
  ]);
  const owner = typeof row?.owner === 'string' ? row.owner : null;
  return { owner, sequence: Number(row?.sequence), leaseUntilMs: Number(row?.leaseUntilMs) };
}

function setHolder(database: Database, shard: number, { owner, sequence, leaseUntilMs }: Holder): void {
  database.run('UPDATE "windrow_shard" SET "owner" = ?, "sequence" = ?, "leaseUntilMs" = ? WHERE "shard" = ?', [
    owner,
    sequence,
    leaseUntilMs,
    shard,
  ]);
}

/**
 * Shows whether any process that works on shards is alive: each holds a lock on a file, which the system releases when
 * the process ends. So the claims of a killed process need not expire first.
 */
export class WorkerLock {
  readonly #open: OpenDatabase;
  readonly #path: string;
  #database: Database | undefined;

  constructor(open: OpenDatabase, directory: string) {
    this.#open = open;
    this.#path = join(directory, 'windrow.worker');
  }

  /**
   * @returns true if this call took the lock: then no earlier holder is alive.
   * @throws SqliteFailure if the file cannot be opened.
   */
  take(): boolean {
    if (this.#database !== undefined) return false;
    const database = this.#openFile();
    try {
      database.exec('BEGIN EXCLUSIVE');
      this.#database = database;
      return true;
    } catch (error) {
      database.close();
      if (error instanceof SqliteFailure && error.kind === 'busy') return false;
      throw error;
    }
  }

  #openFile(): Database {
    try {
      createFile(this.#path);
    } catch (error) {
      throw new SqliteFailure('io', error instanceof Error ? error.message : String(error), { cause: error });
    }
    return this.#open(this.#path);
  }

  release(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}
