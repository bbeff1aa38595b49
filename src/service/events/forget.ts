import { SHARD_COUNT } from '../../storage/shard.js';
import { equal, writeReserved } from '../../storage/storage.js';
import { events } from '../../storage/tables/events.js';
import { repeat, type StopWork } from '../background.js';
import type { ServiceContext } from '../context.js';
import { raiseHorizon } from './horizon.js';

/** Old versions that one commit deletes; other requests of the shard wait for no longer than that. */
const VERSIONS_PER_COMMIT = 500;

/** How far the clocks of two processes may differ. */
const CLOCK_SKEW_MS = 60_000;

const PERIOD_MS_MIN = 60_000;

/** Deletes versions of events that no continuation token can ask for any more. */
export function startForgetting(context: ServiceContext): StopWork {
  const periodMs = Math.max(PERIOD_MS_MIN, (context.settings.continuationLifetimeS * 1000) / 4);
  return repeat(context, periodMs, 'old versions of events were not deleted', async (isStopped) => {
    for (let shard = 0; shard < SHARD_COUNT && !isStopped(); shard++) {
      while (!isStopped() && (await forgetSome(context, shard)));
    }
  });
}

/** @returns whether more may be left. */
export async function forgetSome({ storage, clock, settings }: ServiceContext, shard: number): Promise<boolean> {
  const beforeMs = clock.nowMs() - settings.continuationLifetimeS * 1000 - CLOCK_SKEW_MS;
  const where = [['endedMs', '<', beforeMs]] as const;
  const orderBy = [{ column: 'endedMs' }] as const;
  // Most shards have none, and a read does not wait for a commit.
  const [oldest] = await storage.read(shard, (tx) => tx.find(events, { where, orderBy, limit: 1 }));
  if (oldest === undefined) return false;
  return writeReserved(storage, shard, async (tx) => {
    const ended = await tx.find(events, { where, orderBy, limit: VERSIONS_PER_COMMIT });
    let forgottenCommit = 0;
    for (const { organisation, ercollectionid, id, firstCommit, endCommit } of ended) {
      await tx.delete(events, equal({ organisation, ercollectionid, id, firstCommit }));
      forgottenCommit = Math.max(forgottenCommit, endCommit);
    }
    await raiseHorizon(tx, forgottenCommit);
    return ended.length === VERSIONS_PER_COMMIT;
  });
}
