import { hashText } from '../core/hash.js';

/** How many shards a store has. Written into it once: keys of another count would not be found again. */
export const SHARD_COUNT = 32;

/**
 * The shard of an organisation's placement group. Series that are computed with one another lie in one group,
 * and so in one shard, which one worker holds at a time.
 */
export function shardOf(organisation: string, placementGroup = ''): number {
  return Number(hashText(JSON.stringify([organisation, placementGroup])) % BigInt(SHARD_COUNT));
}

/** Where clients, users and tokens lie: they are looked up before the organisation is known. */
export const IDENTITY_SHARD = shardOf('', 'identity');
