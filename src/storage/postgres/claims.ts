import type { Claim } from '../storage.js';
import type { Connection } from './connection.js';
import { LOCK_CLASS } from './schema.js';

/** Who claims: an owner, and the lock that its process holds while it lives. */
export interface Claimant {
  readonly owner: string;
  readonly session: number;
}

/** Locks of processes that work on shards: PostgreSQL lets go of one the moment that its connection ends. */
const LIVE = `SELECT "objid" FROM pg_locks WHERE "locktype" = 'advisory' AND "classid" = ${LOCK_CLASS}
  AND "objid" <> 0 AND "granted"
  AND "database" = (SELECT "oid" FROM pg_database WHERE "datname" = current_database())`;

/**
 * Makes an owner the one worker of a shard, by the clock of the database. A claim ends with the process that holds it:
 * what it held is taken at once. Else each process takes its share of the shards that have work, and gives back what it
 * has beyond it, one with each renewal: so all come to work when processes come.
 */
export async function takeClaim(
  connection: Connection,
  shard: number,
  { owner, session }: Claimant,
  leaseMs: number,
): Promise<Claim | undefined> {
  const state = await readState(connection, shard, owner, leaseMs);
  if (state.holder === owner && state.ownCount > state.share) {
    await giveBackClaim(connection, { shard, owner, sequence: state.sequence });
    return undefined;
  }
  const isOthers = state.holder !== null && state.holder !== owner;
  if (isOthers && state.isHeld) return undefined;
  // What nobody took for a lease is anybody's.
  if (state.holder === null && state.ownCount >= state.share && !state.isLeft) return undefined;
  const sql = `UPDATE "windrow_shard" SET "owner" = ?, "session" = ?,
      "sequence" = "sequence" + CASE WHEN "owner" = ? THEN 0 ELSE 1 END,
      "leaseUntil" = clock_timestamp() + ?::float8 * interval '1 ms'
    WHERE "shard" = ? AND "sequence" = ? AND ("owner" IS NOT DISTINCT FROM ?) RETURNING "sequence"`;
  const values = [owner, session, owner, leaseMs, shard, state.sequence, state.holder];
  const [taken] = await connection.all({ sql, values });
  return taken === undefined ? undefined : Object.freeze({ shard, owner, sequence: Number(taken.sequence) });
}

/** Gives a claim back; one that has passed on is left where it is. */
export async function giveBackClaim(connection: Connection, { shard, owner, sequence }: Claim): Promise<void> {
  const sql = `UPDATE "windrow_shard" SET "owner" = NULL, "session" = NULL, "leaseUntil" = clock_timestamp()
    WHERE "shard" = ? AND "owner" = ? AND "sequence" = ?`;
  await connection.run({ sql, values: [shard, owner, sequence] });
}

/** The numbers of the processes that work on shards and live, rising. */
export async function readLive(connection: Connection): Promise<readonly number[]> {
  const rows = await connection.all({ sql: `${LIVE} ORDER BY "objid"::bigint`, values: [] });
  return rows.map(({ objid }) => Number(objid));
}

interface ShardState {
  readonly holder: string | null;
  readonly sequence: number;
  /** Whether the lease runs, and the process that holds it lives. */
  readonly isHeld: boolean;
  /** Whether the last lease has ended for as long as a lease takes. */
  readonly isLeft: boolean;
  /** How many shards the claimant has. */
  readonly ownCount: number;
  /** How many each process has when all have as many: of those that are held, or were until lately, and this one. */
  readonly share: number;
}

async function readState(connection: Connection, shard: number, owner: string, leaseMs: number): Promise<ShardState> {
  const sql = `SELECT "owner", "sequence",
      "leaseUntil" > clock_timestamp() AND "session"::oid IN (${LIVE}) AS "isHeld",
      "leaseUntil" < clock_timestamp() - ?::float8 * interval '1 ms' AS "isLeft",
      (SELECT count(*) FROM "windrow_shard" WHERE "owner" = ?) AS "ownCount",
      (SELECT count(*) FROM "windrow_shard" WHERE "owner" IS NOT NULL OR "shard" = ?
        OR "leaseUntil" > clock_timestamp() - ?::float8 * interval '1 ms') AS "workedCount",
      (SELECT count(*) FROM (${LIVE}) AS "live") AS "liveCount"
    FROM "windrow_shard" WHERE "shard" = ?`;
  const [row] = await connection.all({ sql, values: [leaseMs, owner, shard, leaseMs, shard] });
  const share = Math.ceil(Number(row!.workedCount) / Math.max(1, Number(row!.liveCount)));
  return {
    holder: typeof row!.owner === 'string' ? row!.owner : null,
    sequence: Number(row!.sequence),
    isHeld: row!.isHeld === true,
    isLeft: row!.isLeft === true,
    ownCount: Number(row!.ownCount),
    share,
  };
}
