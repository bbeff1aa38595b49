import pLimit from 'p-limit';
import { groupBy } from '../../../core/group.js';
import { ENGINE_VERSION } from '../../../engine/version.js';
import { nextTurn } from '../../../storage/next-turn.js';
import type { Deletable } from '../../../storage/samples/compaction/retention.js';
import { type Claim, equal, type Reader, type Transaction } from '../../../storage/storage.js';
import {
  AT_ONCE_UNTIL_MS,
  BASE_ORDINAL,
  endedPatterns,
  itemCheckpoints,
  itemHeads,
  itemWork,
  NOT_COMPUTED,
} from '../../../storage/tables/operations.js';
import type { ServiceContext } from '../../context.js';
import type { StepPool } from '../compute/pool.js';
import { deleteMembers } from '../end.js';
import { ItemBugError } from './item.js';
import { ItemCache } from './item-cache.js';
import { Replication } from './replication.js';
import { deleteTaken, type Kept } from './retention.js';
import { isPause } from './schedule.js';
import { type AbsorbingWork, Session } from './session.js';
import type { WorkerSizes } from './sizes.js';
import type { SourceCache } from './source-cache.js';
import type { PendingStep, StepOutcome } from './turns.js';

/** An item whose work is due. */
export interface DueItem {
  readonly organisation: string;
  readonly itemId: string;
}

/** What the workers of all shards share. */
export interface WorkerParts {
  readonly pool: StepPool;
  readonly sizes: WorkerSizes;
  readonly sources: SourceCache;
}

/**
 * If a transaction leaves some of the log, the next one absorbs this much more, to overtake all writers. To settle an
 * item takes ten times as long as to deliver a change to it, and there are at most as many as items.
 */
const CATCH_UP: Readonly<Record<AbsorbingWork, number>> = { deliveries: 1.25, settling: 1.05 };

/** Writers wait for the transaction. */
const TAKEN_OVER_AT_ONCE = 50;
// What nobody has computed has its turn anyway.
const IS_OF_OTHER = [
  ['engineVersion', '!=', ENGINE_VERSION],
  ['engineVersion', '!=', NOT_COMPUTED],
] as const;

/** Takes over those of these items that another version of the engine has computed, or could not plan. */
async function takeOver(session: Session, organisation: string, itemIds: readonly string[]): Promise<void> {
  await session.writeTransitions();
  const ofIds = [...equal({ organisation }), ['itemId', 'in', itemIds]] as const;
  const outdated = await session.tx.find(itemHeads, { where: [...ofIds, ...IS_OF_OTHER] });
  const ids = outdated.map(({ itemId }) => itemId);
  // Each would delete its own, in a statement of its own.
  const own = [...equal({ organisation }), ['itemId', 'in', ids], ['ordinal', '>', BASE_ORDINAL]] as const;
  await session.writer.delete(itemCheckpoints, own);
  // Whoever loads an item takes it over.
  await session.itemsOf(organisation, ids);
}

/** The work of one shard, for as long as its claim is held. */
export class ShardWorker {
  readonly claim: Claim;
  readonly #context: ServiceContext;
  readonly #parts: WorkerParts;
  readonly #cache: ItemCache;
  readonly #replication: Replication;
  /** One transaction at a time: if one is undone, the cache has to forget it before the next begins. */
  readonly #alone = pLimit(1);
  #replicating: Promise<boolean> | undefined;
  /** Whether something was written since the current replication began. */
  #isReplicationDue = false;
  /** Whether the next replication stores all positions, however few commits they are behind. */
  #notesPositions = false;
  /** Once for each claim. */
  #takingOver: Promise<boolean> | undefined;
  #isTakenOver = false;
  /** An absorb whose transaction has not begun yet. */
  #waiting: Promise<boolean> | undefined;

  /** Begins the work. */
  static async open(context: ServiceContext, claim: Claim, parts: WorkerParts): Promise<ShardWorker> {
    const worker = new ShardWorker(context, claim, parts);
    await worker.#run(async () => undefined);
    return worker;
  }

  private constructor(context: ServiceContext, claim: Claim, parts: WorkerParts) {
    this.#context = context;
    this.claim = claim;
    this.#cache = new ItemCache(claim.shard, parts.sources);
    this.#parts = parts;
    this.#replication = new Replication(context, claim.shard, parts.sizes, (work) => this.#run(work));
  }

  /** Whether items of the shard read series of another. */
  isReaderOf(sourceShard: number): boolean {
    return this.#replication.isOf(sourceShard);
  }

  /** Applies what other shards have written of the series that items read. Returns whether there was anything. */
  replicate(): Promise<boolean> {
    this.#isReplicationDue = true;
    this.#replicating ??= this.#replicateAll();
    return this.#replicating;
  }

  async #replicateAll(): Promise<boolean> {
    let isNew = false;
    try {
      while (this.#isReplicationDue) {
        this.#isReplicationDue = false;
        const behindMax = this.#notesPositions ? 0 : undefined;
        this.#notesPositions = false;
        isNew = (await this.#replication.run(behindMax)) || isNew;
      }
    } finally {
      // In the turn of the last look at what is due, or a call in between would be lost.
      this.#replicating = undefined;
    }
    return isNew;
  }

  /** Stores how far the logs of other shards have been read, which is otherwise stored now and then. */
  async notePositions(): Promise<void> {
    this.#notesPositions = true;
    await this.replicate();
  }

  /** Whether no item of another version of the engine is left. */
  get isTakenOver(): boolean {
    return this.#isTakenOver;
  }

  /**
   * Has this version of the engine compute again what another has computed, or could not plan. Goes on where it failed.
   *
   * @returns whether there was anything.
   */
  takeOver(isStopping: () => boolean): Promise<boolean> {
    this.#takingOver ??= this.#takeOverAll(isStopping).catch((error: unknown) => {
      this.#takingOver = undefined;
      throw error;
    });
    return this.#takingOver;
  }

  async #takeOverAll(isStopping: () => boolean): Promise<boolean> {
    const { shard } = this.claim;
    const outdated = await this.#context.storage.read(shard, (tx) => tx.find(itemHeads, { where: IS_OF_OTHER }));
    for (const [organisation, own] of groupBy(outdated, (head) => head.organisation)) {
      for (let from = 0; from < own.length && !isStopping(); from += TAKEN_OVER_AT_ONCE) {
        const ids = own.slice(from, from + TAKEN_OVER_AT_ONCE).map(({ itemId }) => itemId);
        await this.#run((session) => takeOver(session, organisation, ids));
      }
    }
    const isAnyDue = await this.#endLongPauses(isStopping);
    this.#isTakenOver = true;
    return outdated.length > 0 || isAnyDue;
  }

  /** Makes items due whose pause after a failure would be too long, as the clock was set back. */
  async #endLongPauses(isStopping: () => boolean): Promise<boolean> {
    const { storage, clock } = this.#context;
    const nowMs = clock.nowMs();
    const where = [
      ['attemptCount', '>', 0],
      ['dueMs', '>', nowMs],
    ] as const;
    const paused = await storage.read(this.claim.shard, (tx) => tx.find(itemWork, { where }));
    const due = paused.filter((work) => !isPause(work, nowMs));
    for (const { organisation, itemId } of due) {
      if (isStopping()) break;
      await this.#run(async (session) => (await session.itemOf(organisation, itemId))?.schedule.makeDue(session));
    }
    return due.length > 0;
  }

  /** Absorbs what was written; at once, if the shard's queue is running. Returns whether items may be due now. */
  absorb(): Promise<boolean> {
    // One that waits for its transaction will see all that was written by then.
    if (this.#waiting !== undefined) return this.#waiting;
    const own = this.#run(async (session) => session)
      .then((session) => session?.isWorkDue === true)
      .finally(() => {
        if (this.#waiting === own) this.#waiting = undefined;
      });
    this.#waiting = own;
    return own;
  }

  /** Some of the items whose work is due, without those at work already. */
  async findDue(busy: ReadonlySet<string>): Promise<readonly DueItem[]> {
    const { storage, clock } = this.#context;
    const nowMs = clock.nowMs();
    const countMax = this.#parts.sizes.turnsPerTransaction;
    const orderBy = [{ column: 'dueMs' }, { column: 'organisation' }, { column: 'itemId' }] as const;
    const findBetween = (tx: Reader, afterMs: number, lastMs: number, limit: number) =>
      tx.find(itemWork, {
        where: [
          ['dueMs', '>', afterMs],
          ['dueMs', '<=', lastMs],
        ],
        orderBy,
        limit,
      });
    const found = await storage.read(this.claim.shard, async (tx) => {
      // What had to wait for its time comes first: there is less of it.
      const inTime = await findBetween(tx, AT_ONCE_UNTIL_MS, nowMs, countMax + busy.size);
      const atOnce = await findBetween(tx, Number.MIN_SAFE_INTEGER, AT_ONCE_UNTIL_MS, countMax + busy.size);
      return [...inTime, ...atOnce];
    });
    return found.filter(({ itemId }) => !busy.has(itemId)).slice(0, countMax);
  }

  /** Does what one transaction can of the work that is due. Returns a step to compute outside of it, if any. */
  async beginTurns(due: readonly DueItem[]): Promise<PendingStep | undefined> {
    await this.#deleteMembers();
    return this.#run(async (session) => {
      for (const [organisation, own] of groupBy(due, (one) => one.organisation)) {
        const items = await session.itemsOf(
          organisation,
          own.map(({ itemId }) => itemId),
        );
        await session.lookUp(organisation, items);
      }
      for (const { organisation, itemId } of due) {
        const item = await session.itemOf(organisation, itemId);
        if (item === undefined) await session.catchUp(organisation);
        const step = await item?.beginTurn(session);
        // The next item may read the results of this one.
        await session.settle();
        await session.countWork(item?.plan.steps.length);
        if (step !== undefined || !session.hasRoom) return step;
      }
      return undefined;
    });
  }

  /** Deletes some members of patterns that were ended. */
  async #deleteMembers(): Promise<void> {
    const { storage } = this.#context;
    const { shard } = this.claim;
    const [one] = await storage.read(shard, (tx) => tx.find(endedPatterns, { limit: 1 }));
    if (one === undefined) return;
    const { organisation, itemId } = one;
    const inTransaction = async (tx: Transaction): Promise<void> => {
      const ended = await tx.get(endedPatterns, { organisation, itemId });
      if (ended !== undefined) await deleteMembers(this.#context, tx, ended, this.#parts.sizes.membersPerTransaction);
    };
    await storage.transaction(shard, inTransaction, { claim: this.claim, usesReserve: true });
  }

  /** Computes the steps of a turn, until it is done or the worker stops. */
  async takeSteps(first: PendingStep, isStopping: () => boolean): Promise<void> {
    for (let step: PendingStep | undefined = first; step !== undefined && !isStopping(); ) {
      const current: PendingStep = step;
      const outcome = await this.#compute(current);
      // It may have failed because the worker stops, which is no failure of the item.
      if ('failure' in outcome && isStopping()) return;
      const { organisation, itemId } = current.item;
      const work = async (session: Session) =>
        (await session.itemOf(organisation, itemId))?.continueTurn(session, current, outcome);
      step = await this.#run(work, false);
    }
  }

  async #compute({ plan, state, slice, tail, needsState }: PendingStep): Promise<StepOutcome> {
    const { outputSamplesMax } = this.#context.settings;
    const options = { maxOutputSamples: outputSamplesMax, tail, needsState };
    try {
      return { result: await this.#parts.pool.run(plan, state, slice.chunks, options) };
    } catch (failure) {
      return { failure };
    }
  }

  /** Deletes expired samples that no item needs any more. */
  async deleteExpired(
    organisation: string,
    expired: readonly Deletable[],
    kept: Kept,
    isStopping: () => boolean,
  ): Promise<void> {
    const inSession = <Result>(work: (session: Session) => Promise<Result>) => this.#run(work);
    const { pool } = this.#parts;
    const { shard } = this.claim;
    const replicate = () => this.replicate();
    const parts = { context: this.#context, pool, inSession, isStopping, shard, replicate, kept };
    await deleteTaken(parts, organisation, expired);
  }

  /** Stores checkpoints of the items. */
  async checkpoint(): Promise<void> {
    await this.#run(async (session) => {
      for (const item of await this.#cache.known(session)) await item.checkpoint(session);
    });
  }

  /** @param usesReserve not for steps, whose results may be many. */
  async #run<Result>(work: (session: Session) => Promise<Result>, usesReserve = true): Promise<Result | undefined> {
    const { sizes } = this.#parts;
    let attemptCount = 0;
    let isMore = false;
    const most = { deliveries: sizes.workPerTransaction, settling: sizes.workPerTransaction };
    const inTransaction = async (tx: Transaction): Promise<Result | undefined> => {
      this.#waiting = undefined;
      isMore = false;
      // If the transaction is run again, it finds what its first run left in memory.
      if (attemptCount++ > 0) this.#cache.clear();
      const session = await Session.open(this.#context, this.#cache, sizes, this.claim, tx);
      if (session === undefined) return undefined;
      const left = await session.absorb(most);
      isMore = left !== 'nothing';
      if (left !== 'nothing') most[left] *= CATCH_UP[left];
      const result = isMore ? undefined : await work(session);
      // Others may read the results that changed.
      if (!isMore) await session.settle();
      await session.seal();
      this.#cache.trim(sizes);
      return result;
    };
    // Deleted samples free space only once the items have absorbed the deletion.
    const options = { claim: this.claim, usesReserve };
    const transact = async (): Promise<Result | undefined> => {
      try {
        return await this.#context.storage.transaction(this.claim.shard, inTransaction, options);
      } catch (error) {
        this.#cache.clear();
        if (error instanceof ItemBugError) await this.#failItem(error);
        throw error;
      }
    };
    for (;;) {
      attemptCount = 0;
      const result = await this.#alone(transact);
      if (!isMore) return result;
      // Requests that wait are answered before the next transaction, however short the last one was.
      await nextTurn();
    }
  }

  async #failItem(bug: ItemBugError): Promise<void> {
    const { organisation, itemId } = bug.item;
    const inTransaction = async (tx: Transaction): Promise<void> => {
      const session = await Session.open(this.#context, this.#cache, this.#parts.sizes, this.claim, tx);
      await (await session?.itemOf(organisation, itemId))?.fail(session!, bug);
      await session?.writeTransitions();
    };
    try {
      await this.#context.storage.transaction(this.claim.shard, inTransaction, {
        claim: this.claim,
        usesReserve: true,
      });
    } finally {
      // It has absorbed nothing of the log.
      this.#cache.clear();
    }
  }
}
