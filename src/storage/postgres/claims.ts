import type { Claim } from '../storage.js';
import type { Connection } from './connection.js';
import { checkVersion, LOCK_CLASS, OLDEST_VERSION } from './schema.js';

/** An owner that claims a shard, and the lock that its process holds while it lives. */
export interface Claimant {
  readonly owner: string;
  readonly session: number;
  /** The version of stores that its process knows. */
  readonly version: number;
  /** How long other processes may be silent. */
  readonly silentMsMax: number;
}

/**
 * The locks of live processes that work on shards: PostgreSQL releases one as soon as its connection ends. The
 * connection of a process that hangs stays open, but is silent, where a live one polls. A role that may not see when it
 * spoke takes it for alive. A process whose connection was lost may hold its lock twice for a while. Their class is the
 * table's, as the database may have other stores, each in a schema of its own. Processes of the version before hold one
 * in a class of all stores: those that have shards of this one count, too, so that none is taken for dead during a
 * rolling upgrade.
 */
const live = (silentMsMax: number) => `SELECT DISTINCT "objid" FROM pg_locks JOIN pg_stat_activity USING ("pid")
  WHERE "locktype" = 'advisory' AND "granted"
  AND ("state" IS DISTINCT FROM 'idle' OR "state_change" > clock_timestamp() - ${silentMsMax} * interval '1 ms')
  AND "database" = (SELECT "oid" FROM pg_database WHERE "datname" = current_database())
  AND ("classid" = to_regclass('windrow_shard')::oid
    OR "classid" = ${LOCK_CLASS} AND "objid" IN (SELECT "session"::oid FROM "windrow_shard"))`;

/**
 * Makes the owner the only worker of a shard, by the database's clock. Claims of a process that ended can be taken at
 * once. Otherwise each process takes its share of the shards that have work, and gives back what exceeds it, one with
 * each renewal, so that new processes get work.
 */
export async function takeClaim(
  connection: Connection,
  shard: number,
  { owner, session, version, silentMsMax }: Claimant,
  leaseMs: number,
): Promise<Claim | undefined> {
  const state = await readState(connection, shard, owner, leaseMs, silentMsMax);
  checkVersion(state.oldestVersion, version);
  if (state.holder === owner && state.ownCount > state.share) {
    await giveBackClaim(connection, { shard, owner, sequence: state.sequence });
    return undefined;
  }
  const isOfAnother = state.holder !== null && state.holder !== owner;
  if (isOfAnother && state.isHeld) return undefined;
  // A shard that nobody took for the time of a lease may be taken by anyone.
  if (state.holder === null && state.ownCount >= state.share && !state.isAbandoned) return undefined;
  const sql = `UPDATE "windrow_shard" SET "owner" = ?, "session" = ?,
      "sequence" = "sequence" + CASE WHEN "owner" = ? THEN 0 ELSE 1 END,
      "leaseUntil" = clock_timestamp() + ?::float8 * interval '1 ms'
    WHERE "shard" = ? AND "sequence" = ? AND ("owner" IS NOT DISTINCT FROM ?) RETURNING "sequence"`;
  const values = [owner, session, owner, leaseMs, shard, state.sequence, state.holder];
  const [taken] = await connection.all({ sql, values });
  return taken === undefined ? undefined : Object.freeze({ shard, owner, sequence: Number(taken.sequence) });
}

/** Releases a claim; does nothing if another owner has it by now. */
export async function giveBackClaim(connection: Connection, { shard, owner, sequence }: Claim): Promise<void> {
  const sql = `UPDATE "windrow_shard" SET "owner" = NULL, "session" = NULL, "leaseUntil" = clock_timestamp()
    WHERE "shard" = ? AND "owner" = ? AND "sequence" = ?`;
  await connection.run({ sql, values: [shard, owner, sequence] });
}

/** The session numbers of live processes that work on shards, in ascending order. */
export async function readLive(connection: Connection, silentMsMax: number): Promise<readonly number[]> {
  const sql = `SELECT "objid" FROM (${live(silentMsMax)}) AS "live" ORDER BY "objid"::bigint`;
  const rows = await connection.all({ sql, values: [] });
  return rows.map(({ objid }) => Number(objid));
}

interface ShardState {
  readonly holder: string | null;
  readonly sequence: number;
  /** Whether the lease has not expired and its process is alive. */
  readonly isHeld: boolean;
  /** Whether the last lease ended longer ago than a lease lasts. */
  readonly isAbandoned: boolean;
  /** How many shards the claimant holds. */
  readonly ownCount: number;
  /** A process's fair share of the shards that are held, were held lately, or are this one. */
  readonly share: number;
  readonly oldestVersion: number;
}

async function readState(
  connection: Connection,
  shard: number,
  owner: string,
  leaseMs: number,
  silentMsMax: number,
): Promise<ShardState> {
  const locks = live(silentMsMax);
  const sql = `SELECT "owner", "sequence",
      "leaseUntil" > clock_timestamp() AND "session"::oid IN (${locks}) AS "isHeld",
      "leaseUntil" < clock_timestamp() - ?::float8 * interval '1 ms' AS "isAbandoned",
      (SELECT count(*) FROM "windrow_shard" WHERE "owner" = ?) AS "ownCount",
      (SELECT count(*) FROM "windrow_shard" WHERE "owner" IS NOT NULL OR "shard" = ?
        OR "leaseUntil" > clock_timestamp() - ?::float8 * interval '1 ms') AS "workedCount",
      (SELECT count(*) FROM (${locks}) AS "live") AS "liveCount",
      ${OLDEST_VERSION}
    FROM "windrow_shard" WHERE "shard" = ?`;
  const [row] = await connection.all({ sql, values: [leaseMs, owner, shard, leaseMs, shard] });
  const share = Math.ceil(Number(row!.workedCount) / Math.max(1, Number(row!.liveCount)));
  return {
    holder: typeof row!.owner === 'string' ? row!.owner : null,
    sequence: Number(row!.sequence),
    isHeld: row!.isHeld === true,
    isAbandoned: row!.isAbandoned === true,
    ownCount: Number(row!.ownCount),
    share,
    oldestVersion: Number(row!.oldestVersion),
  };
}
