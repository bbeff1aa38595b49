import { StaleClaimError } from '../errors.js';
import type { Claim } from '../storage.js';
import type { Database } from './database.js';

/** Who works on a shard: the table `windrow_shard`, one row for each. */
export function takeClaim(
  database: Database,
  shard: number,
  owner: string,
  leaseMs: number,
  nowMs: number,
): Claim | undefined {
  const holder = holderOf(database, shard);
  const isFree = holder.owner === null || holder.owner === owner || holder.leaseUntilMs <= nowMs;
  if (!isFree) return undefined;
  const sequence = holder.owner === owner ? holder.sequence : holder.sequence + 1;
  setHolder(database, shard, { owner, sequence, leaseUntilMs: nowMs + leaseMs });
  return Object.freeze({ shard, owner, sequence });
}

/** Gives a claim back; one that has passed on is left where it is. */
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
      'is not the one that holds; claim the shard anew and begin again from what is stored',
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
