import { crc32 } from 'node:zlib';
import { hashText } from '../core/hash.js';

/** How many shards a store has. Written into it once: keys of another count would not be found again. */
export const SHARD_COUNT = 32;

/** Where what belongs to an organisation as a whole lies, and its series where they are not spread. */
export function shardOf(organisation: string, part = ''): number {
  return Number(hashText(JSON.stringify([organisation, part])) % BigInt(SHARD_COUNT));
}

/** Where clients, users and tokens lie: they are looked up before the organisation is known. */
export const IDENTITY_SHARD = shardOf('', 'identity');

/** Over how many shards the series of an organisation may be spread. */
export const GROUP_COUNTS: readonly number[] = [1, 2, 4, 8, 16, 32];

/** Where the series of an organisation lie. An item, with its work and its transaction, lies where its result does. */
export interface Placement {
  /** Where what belongs to the organisation as a whole lies; one of `shards`. */
  readonly home: number;
  /** In the order of their numbers. */
  readonly shards: readonly number[];
  shardOf(timeseriesId: string): number;
}

/** @param groupCount one of `GROUP_COUNTS`; written down once, as series would not be found again with another. */
export function placementOf(organisation: string, groupCount: number): Placement {
  const home = shardOf(organisation);
  if (groupCount === 1) return { home, shards: [home], shardOf: () => home };
  const step = SHARD_COUNT / groupCount;
  // Evenly, so that no two groups share a shard.
  const ofGroup = Array.from({ length: groupCount }, (_, group) => (home + group * step) % SHARD_COUNT);
  return {
    home,
    shards: [...ofGroup].sort((a, b) => a - b),
    // All metrics of an id lie together: most items read series of one id.
    shardOf: (timeseriesId) => ofGroup[crc32(timeseriesId) % groupCount]!,
  };
}
