import { StaleClaimError } from '../../../storage/errors.js';
import type { Claim, Transaction } from '../../../storage/storage.js';
import { items, itemWork } from '../../../storage/tables/operations.js';
import type { ServiceContext } from '../../context.js';
import { ENGINE_VERSION } from '../engine-version.js';
import type { StepPool } from '../threads/pool.js';
import { absorb } from './absorb.js';
import { entryOf, restart } from './entries.js';
import { addMark } from './marks.js';
import { ShardMemory } from './memory.js';
import { openSession, type Session, sealSession } from './session.js';
import { settle } from './settle.js';
import type { WorkerSizes } from './sizes.js';
import { beginTurn, continueTurn, type PendingStep, type StepOutcome } from './turn.js';

/** The work of one shard, for as long as its claim is held. */
export interface ShardWorker {
  readonly claim: Claim;
  /** Takes in what has come: now, if the shard's queue is running. Tells whether items may be due by that. */
  absorb(): Promise<boolean>;
  /** An item whose work is due, without those that are at work already. */
  nextDue(busy: ReadonlySet<string>): Promise<DueItem | undefined>;
  /** Does the work of an item, until it is done or the worker stops. */
  turn(item: DueItem, isStopping: () => boolean): Promise<void>;
  /** Writes down how far the items have come. */
  checkpoint(): Promise<void>;
}

export interface DueItem {
  readonly organisation: string;
  readonly itemId: string;
}

/** What the workers of all shards share. */
export interface WorkerParts {
  readonly pool: StepPool;
  readonly sizes: WorkerSizes;
}

/** Begins the work on a shard: what another version of the engine has computed is computed anew. */
export async function openShardWorker(
  context: ServiceContext,
  claim: Claim,
  { pool, sizes }: WorkerParts,
): Promise<ShardWorker> {
  const memory = new ShardMemory(claim.shard);
  const { storage } = context;
  let pending: Promise<boolean> | undefined;

  const run = async <Result>(work: (session: Session) => Promise<Result>): Promise<Result | undefined> => {
    let attemptCount = 0;
    const inTransaction = async (tx: Transaction): Promise<Result | undefined> => {
      pending = undefined;
      // A transaction that is run again finds in memory what the first run has left there.
      if (attemptCount++ > 0) memory.clear();
      const session = await openSession(context, memory, sizes, claim, tx);
      if (session === undefined) return undefined;
      await absorb(session);
      await settle(session);
      const result = await work(session);
      // What the work changed of a result, others may read.
      await settle(session);
      await sealSession(session);
      memory.trim(sizes);
      return result;
    };
    try {
      return await storage.transaction(claim.shard, inTransaction, { claim });
    } catch (error) {
      memory.clear();
      throw error;
    }
  };

  await run(restartOutdated);
  return {
    claim,
    absorb: () => {
      // One that waits for its transaction will see what has come until then.
      if (pending !== undefined) return pending;
      const own = run(async (session) => session)
        .then((session) => session?.isWorkDue === true)
        .finally(() => {
          if (pending === own) pending = undefined;
        });
      pending = own;
      return own;
    },
    nextDue: (busy) => findDue(context, claim.shard, busy),
    turn: async ({ organisation, itemId }, isStopping) => {
      let step = await run((session) => beginTurn(session, organisation, itemId));
      while (step !== undefined) {
        const current: PendingStep = step;
        const outcome = await compute(context, pool, current);
        step = await run((session) => continueTurn(session, current, outcome));
        if (isStopping()) return;
      }
    },
    checkpoint: async () => {
      await run(writeMarks);
    },
  };
}

async function findDue(
  { storage, clock }: ServiceContext,
  shard: number,
  busy: ReadonlySet<string>,
): Promise<DueItem | undefined> {
  const nowMs = clock.nowMs();
  const found = await storage.read(shard, (tx) =>
    tx.find(itemWork, {
      where: [['dueMs', '<=', nowMs]],
      orderBy: [{ column: 'dueMs' }, { column: 'organisation' }, { column: 'itemId' }],
      limit: 1 + busy.size,
    }),
  );
  return found.find(({ itemId }) => !busy.has(itemId));
}

async function compute({ settings }: ServiceContext, pool: StepPool, step: PendingStep): Promise<StepOutcome> {
  const { plan, state, slice } = step;
  try {
    return { result: await pool.run(plan, state, slice.chunks, { maxOutputSamples: settings.outputSamplesMax }) };
  } catch (failure) {
    return { failure };
  }
}

async function restartOutdated(session: Session): Promise<void> {
  const outdated = await session.tx.find(items, { where: [['engineVersion', '!=', ENGINE_VERSION]] });
  for (const { organisation, itemId } of outdated) {
    const entry = await entryOf(session, organisation, itemId);
    if (entry !== undefined) await restart(session, entry, { engineVersion: ENGINE_VERSION });
  }
}

async function writeMarks(session: Session): Promise<void> {
  for (const entry of session.memory.entries.values()) {
    const { live, marks } = entry;
    if (live === undefined || live.sampleCount === (marks.at(-1)?.sampleCount ?? 0)) continue;
    await addMark(session, entry, live, live.stream.checkpoint());
  }
}

/** Whether a failure means that the shard is another's now. */
export function isClaimLost(error: unknown): boolean {
  return error instanceof StaleClaimError;
}
