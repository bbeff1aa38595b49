import {
  type Deletable,
  deleteExpired,
  lastExpiredMs,
  SERIES_PER_TRANSACTION,
} from '../../../storage/samples/compaction/retention.js';
import type { ServiceContext } from '../../context.js';
import type { StepPool } from '../compute/pool.js';
import { awaitsResults, type Elsewhere, findBusyElsewhere } from './awaited.js';
import type { BaseMove } from './base.js';
import type { Session } from './session.js';
import { dropFailedBases, type Ending, findTaken, type TakenSeries } from './taken.js';

/** What a round keeps for longer than its rule, over all transactions of a shard, so that the log says it once. */
export interface Kept {
  /** The keys of series that items have still to take. */
  readonly seriesKeys: Set<number>;
  /** The items that could not prepare for it, of which the log says so already. */
  readonly itemIds: Set<string>;
}

export interface RetentionParts {
  readonly context: ServiceContext;
  readonly pool: StepPool;
  /** Runs a job in a transaction of the shard, under its claim. */
  inSession<Result>(work: (session: Session) => Promise<Result>): Promise<Result | undefined>;
  isStopping(): boolean;
  readonly shard: number;
  /** Applies what other shards have written of the series that items read. */
  replicate(): Promise<unknown>;
  readonly kept: Kept;
}

/** The items that read such series, each with the latest of these ends. */
type EndsOfItems = readonly (readonly [itemId: string, endMs: number])[];

/** What it takes to move a base by a step, in deliveries of changes to items: it reads, computes and writes. */
const MOVE_WORK = 20;

/** How often an item begins again whose samples change meanwhile; then they stay until the next time. */
const OUTDATED_MAX = 3;

/**
 * Deletes expired samples of a shard with items. First the items that read them move their bases, so that they can
 * compute again without these samples; what an item has still to take stays until the next time.
 */
export async function deleteTaken(
  parts: RetentionParts,
  organisation: string,
  expired: readonly Deletable[],
): Promise<void> {
  if (expired.length === 0) return;
  // Whatever was written before is taken before bases move. In this order, or results between the two would be missed.
  const elsewhere = await findBusyElsewhere(parts.context, parts.shard, organisation);
  await parts.replicate();
  for (let from = 0; from < expired.length && !parts.isStopping(); from += SERIES_PER_TRANSACTION) {
    const some = expired.slice(from, from + SERIES_PER_TRANSACTION);
    const found = await parts.inSession((session) => findEndings(session, organisation, some));
    if (found === undefined || found.endings.length === 0) continue;
    await moveBases(parts, organisation, found.items, elsewhere);
    await deleteEndings({ ...parts, organisation }, found.endings);
  }
}

async function findEndings(session: Session, organisation: string, expired: readonly Deletable[]) {
  const endings: Ending[] = [];
  const items = new Map<string, number>();
  for (const one of expired) {
    const endMs = await lastExpiredMs(session.tx, one);
    if (endMs === undefined) continue;
    endings.push({ ...one, endMs });
    for (const itemId of await session.readerIdsOf(organisation, one.row)) {
      items.set(itemId, Math.max(endMs, items.get(itemId) ?? endMs));
    }
    await session.countWork();
  }
  return { endings, items: [...items] };
}

async function moveBases(
  parts: RetentionParts,
  organisation: string,
  items: EndsOfItems,
  elsewhere: Elsewhere,
): Promise<void> {
  let outdatedCount = 0;
  for (let next = 0; next < items.length && !parts.isStopping(); ) {
    const begin = next;
    const done = await parts.inSession((session) =>
      moveSome(session, items, { begin, organisation, elsewhere, kept: parts.kept }),
    );
    if (done === undefined) return;
    next = done.next;
    if (next > begin) outdatedCount = 0;
    if (done.move === undefined) continue;
    const end = await computeMove(parts, done.move, elsewhere);
    if (end === 'outdated') outdatedCount++;
    if (end !== 'failed' && outdatedCount < OUTDATED_MAX) continue;
    next++;
    outdatedCount = 0;
  }
}

interface MoveScope {
  readonly organisation: string;
  readonly elsewhere: Elsewhere;
  readonly kept: Kept;
  /** The first of the items that is left. */
  readonly begin: number;
}

/** Moves what one transaction can. Items wait for results that they read: what changes before a base has no effect. */
async function moveSome(session: Session, items: EndsOfItems, { begin, organisation, elsewhere, kept }: MoveScope) {
  let next = begin;
  do {
    const [itemId, endMs] = items[next]!;
    const item = await session.itemOf(organisation, itemId);
    const isReady = item !== undefined && !(await awaitsResults(session, item, endMs, elsewhere));
    const move = isReady ? await item.base.move(session, endMs, kept.itemIds) : 'done';
    if (typeof move !== 'string') return { next, move };
    if (move === 'done') next++;
    await session.countWork(MOVE_WORK * (item?.plan.steps.length ?? 1));
  } while (next < items.length && session.hasRoom);
  return { next, move: undefined };
}

/** Computes a step in a thread. @returns whether to go on, to begin again as it was outdated, or to give up. */
async function computeMove(
  { context, pool, inSession, kept }: RetentionParts,
  move: BaseMove,
  elsewhere: Elsewhere,
): Promise<'more' | 'outdated' | 'failed'> {
  const { plan, state, slice } = move;
  const { outputSamplesMax } = context.settings;
  const outcome = await pool.run(plan, state, slice.chunks, { maxOutputSamples: outputSamplesMax }).then(
    (result) => ({ result }),
    (failure: unknown) => ({ failure }),
  );
  const end = await inSession(async (session) => {
    const item = await session.itemOf(move.item.organisation, move.item.itemId);
    if (item === undefined) return 'failed';
    const lastMs = Math.max(...move.slice.positions);
    const isReady = !(await awaitsResults(session, item, lastMs, elsewhere));
    if ('result' in outcome)
      return (await item.base.endMove(session, move, outcome.result, isReady)) ? 'more' : 'outdated';
    return (await item.base.failMove(session, move, outcome.failure, kept.itemIds)) ? 'more' : 'failed';
  });
  return end ?? 'failed';
}

/** Deletes what all items have taken. If an item loses its base meanwhile, it begins again, up to some times. */
async function deleteEndings(
  parts: RetentionParts & { readonly organisation: string },
  endings: readonly Ending[],
): Promise<void> {
  let left = endings;
  for (let count = 0; count < OUTDATED_MAX && left.length > 0; count++) {
    const taken = await findTaken(parts, left);
    const deletable = taken === undefined ? undefined : await dropFailedBases(parts, taken);
    if (deletable !== undefined) left = left.slice(await deleteSeries(parts, deletable));
  }
}

/** @returns how many of the first series are done: not all if an item has lost its base, or at a stop. */
async function deleteSeries(parts: RetentionParts, { series, basesVersion }: TakenSeries): Promise<number> {
  for (const { row, takenMs, endMs } of series) {
    if (takenMs < endMs) parts.kept.seriesKeys.add(row.seriesKey);
    else parts.kept.seriesKeys.delete(row.seriesKey);
  }
  for (let done = 0; ; ) {
    if (done === series.length || parts.isStopping()) return done;
    const doneCount = await parts.inSession(async (session) =>
      session.basesVersion === basesVersion ? deleteExpired(session.writer, series.slice(done)) : undefined,
    );
    if (doneCount === undefined) return done;
    done += doneCount;
  }
}
