import { crc32 } from 'node:zlib';
import { hashText } from '../core/hash.js';
import { StorageError } from './errors.js';

/** How many shards a store has. Fixed when it is created: with another count, keys would not be found. */
export const SHARD_COUNT = 32;

export function isShard(shard: number | undefined): shard is number {
  return Number.isInteger(shard) && shard! >= 0 && shard! < SHARD_COUNT;
}

/** @throws StorageError unless it is the number of a shard. */
export function checkShard(shard: number): void {
  if (isShard(shard)) return;
  throw new StorageError('storage.key', `expected a shard from 0 to ${SHARD_COUNT - 1}, received ${shard}`);
}

/**
 * An organisation's home shard: it has what belongs to the organisation as a whole, and its series unless they are
 * spread.
 */
export function shardOf(organisation: string, part = ''): number {
  return Number(hashText(JSON.stringify([organisation, part])) % BigInt(SHARD_COUNT));
}

/** The shard of clients, users and tokens, which are looked up before the organisation is known. */
export const IDENTITY_SHARD = shardOf('', 'identity');

/** How many groups the series of an organisation may be spread over. */
export const GROUP_COUNTS: readonly number[] = [1, 2, 4, 8, 16, 32];

/**
 * In which shards the series of an organisation lie. An item, its work and its transaction lie in the shard of its
 * result.
 */
export interface Placement {
  /** The shard of what belongs to the organisation as a whole; one of `shards`. */
  readonly home: number;
  /** In ascending order. */
  readonly shards: readonly number[];
  shardOf(timeseriesId: string): number;
}

/** @param groupCount one of `GROUP_COUNTS`; fixed for an organisation, as series would not be found with another. */
export function placementOf(organisation: string, groupCount: number): Placement {
  const home = shardOf(organisation);
  if (groupCount === 1) return { home, shards: [home], shardOf: () => home };
  const step = SHARD_COUNT / groupCount;
  // Evenly spaced, so that no two groups share a shard.
  const ofGroup = Array.from({ length: groupCount }, (_, group) => (home + group * step) % SHARD_COUNT);
  return {
    home,
    shards: [...ofGroup].sort((a, b) => a - b),
    // By the id alone, so that all its metrics lie together: most items read series of one id.
    shardOf: (timeseriesId) => ofGroup[crc32(timeseriesId) % groupCount]!,
  };
}
