import { equal, type Transaction } from '../../../storage/storage.js';
import { defineTable, integer, type RowIn, realOrNull, text } from '../../../storage/table.js';
import { BASE_ORDINAL, checkpointChecksum, itemCheckpoints } from '../../../storage/tables/operations.js';
import type { Positions } from '../compute/slice.js';
import type { WorkerSizes } from './sizes.js';

/** How far an item has computed. */
export interface Progress {
  readonly positions: Positions;
  /** Time of the last final result; null before the first. */
  readonly emittedMs: number | null;
  readonly sampleCount: number;
  /** Results up to here may rest on samples that retention had deleted before they were read; null if none may. */
  readonly lacksUntilMs: number | null;
}

/** A checkpoint without its state: enough to choose one to resume from. */
export interface Checkpoint extends Progress {
  readonly ordinal: number;
  readonly byteCount: number;
}

export function positionsToText(positions: Positions): string {
  return JSON.stringify(positions.map((timeMs) => (timeMs === Number.NEGATIVE_INFINITY ? null : timeMs)));
}

export function positionsFromText(text: string): Positions {
  // `as`: written by the function above.
  const times = JSON.parse(text) as (number | null)[];
  return times.map((timeMs) => timeMs ?? Number.NEGATIVE_INFINITY);
}

/**
 * How many of the first checkpoints are still valid after a source changed at an instant. Positions never decrease
 * from one checkpoint to the next, so the invalid ones are the last.
 */
export function countValid(checkpoints: readonly Checkpoint[], source: number, fromMs: number): number {
  let count = checkpoints.length;
  while (count > 0 && checkpoints[count - 1]!.positions[source]! >= fromMs) count--;
  return count;
}

/**
 * The checkpoint to drop if there are too many: the one with the smallest gap relative to its age, so that a late
 * sample of any age finds one nearby. The base and the last one are kept.
 */
export function checkpointToDrop(
  checkpoints: readonly Checkpoint[],
  { checkpointsMax, checkpointBytesMax }: Pick<WorkerSizes, 'checkpointsMax' | 'checkpointBytesMax'>,
): Checkpoint | undefined {
  const byteCount = checkpoints.reduce((sum, one) => sum + one.byteCount, 0);
  const isWithin = checkpoints.length <= checkpointsMax && byteCount <= checkpointBytesMax;
  if (checkpoints.length < 2 || isWithin) return undefined;
  const end = checkpoints[checkpoints.length - 1]!.sampleCount;
  let least: Checkpoint | undefined;
  let leastShare = Number.POSITIVE_INFINITY;
  for (let k = 0; k < checkpoints.length - 1; k++) {
    const before = checkpoints[k - 1]?.sampleCount ?? 0;
    const share = (checkpoints[k + 1]!.sampleCount - before) / (end - before + 1);
    if (share >= leastShare || checkpoints[k]!.ordinal === BASE_ORDINAL) continue;
    least = checkpoints[k]!;
    leastShare = share;
  }
  return least;
}

export interface CheckpointSession {
  readonly tx: Transaction;
  /** The same transaction; getting it marks the session as written. */
  readonly writer: Transaction;
  readonly sizes: WorkerSizes;
  /** The item no longer starts from its base. */
  noteBaseLost(): void;
}

/** `item_checkpoints` without the states, which may be large and are read only to resume. */
export const checkpointHeads = defineTable(
  itemCheckpoints.name,
  {
    organisation: text,
    itemId: text,
    ordinal: integer,
    positions: text,
    emittedMs: realOrNull,
    sampleCount: integer,
    byteCount: integer,
    lacksUntilMs: realOrNull,
  },
  ['organisation', 'itemId', 'ordinal'],
);
export type CheckpointHead = RowIn<typeof checkpointHeads>;

const SAMPLE_BYTES = 16;

export class Checkpoints {
  readonly #ofItem: ReturnType<typeof equal<'organisation' | 'itemId'>>;
  readonly #key: { readonly organisation: string; readonly itemId: string };
  #list: readonly Checkpoint[];

  /** @param heads in the order of their ordinals. */
  constructor(
    { organisation, itemId }: Pick<CheckpointHead, 'organisation' | 'itemId'>,
    heads: readonly CheckpointHead[],
  ) {
    this.#key = { organisation, itemId };
    this.#ofItem = equal({ organisation, itemId });
    this.#list = heads.map(({ ordinal, positions, emittedMs, sampleCount, byteCount, lacksUntilMs }) => ({
      ordinal,
      positions: positionsFromText(positions),
      emittedMs,
      sampleCount,
      byteCount,
      lacksUntilMs,
    }));
  }

  get last(): Checkpoint | undefined {
    return this.#list.at(-1);
  }

  /** The base, if there is one. */
  get base(): Checkpoint | undefined {
    const [first] = this.#list;
    return first?.ordinal === BASE_ORDINAL ? first : undefined;
  }

  /** The last one that has taken nothing after these instants, one of each source. */
  lastUntil(untilMs: readonly number[]): Checkpoint | undefined {
    const isUntil = (timeMs: number, source: number) => timeMs <= untilMs[source]!;
    return this.#list.filter(({ positions }) => positions.every(isUntil)).at(-1);
  }

  /** The state to resume from. Damaged ones are dropped, as they can be recomputed from the samples. */
  async readLastState(session: CheckpointSession): Promise<Uint8Array | undefined> {
    for (let { last } = this; last !== undefined; last = this.last) {
      const state = await this.readState(session, last);
      if (state !== undefined) return state;
      await this.dropLast(session);
    }
    return undefined;
  }

  /** Undefined if it is damaged. */
  async readState({ tx }: CheckpointSession, { ordinal }: Checkpoint): Promise<Uint8Array | undefined> {
    const row = await tx.get(itemCheckpoints, { ...this.#key, ordinal });
    if (row === undefined) throw new Error(`assertion failed: ${this.#key.itemId} has no checkpoint ${ordinal}`);
    return row.checksum === checkpointChecksum(row) ? row.state : undefined;
  }

  /** Whether enough samples have been read since the last checkpoint; a large state takes more. */
  isDue(sampleCount: number, { checkpointSamples }: WorkerSizes): boolean {
    const { last } = this;
    const since = sampleCount - (last?.sampleCount ?? 0);
    return since >= Math.max(checkpointSamples, (last?.byteCount ?? 0) / SAMPLE_BYTES);
  }

  /** Adds a checkpoint, and drops one while there are too many. */
  async add(session: CheckpointSession, progress: Progress, state: Uint8Array): Promise<void> {
    this.#list = [...this.#list, await this.#put(session, (this.last?.ordinal ?? BASE_ORDINAL) + 1, progress, state)];
    for (;;) {
      const dropped = checkpointToDrop(this.#list, session.sizes);
      if (dropped === undefined) return;
      await this.drop(session, dropped);
    }
  }

  /** Replaces the base. Those before it go, as they rest on samples that may be deleted now. */
  async setBase(session: CheckpointSession, progress: Progress, state: Uint8Array): Promise<void> {
    const { positions } = progress;
    const isAfter = (one: Checkpoint) => one.positions.every((timeMs, source) => timeMs >= positions[source]!);
    const firstKept = this.#list.findIndex((one) => one.ordinal !== BASE_ORDINAL && isAfter(one));
    const kept = firstKept < 0 ? [] : this.#list.slice(firstKept);
    const before = ['ordinal', '<', kept[0]?.ordinal ?? Number.MAX_SAFE_INTEGER] as const;
    if (this.#list.length > kept.length) await session.writer.delete(itemCheckpoints, [...this.#ofItem, before]);
    this.#list = [await this.#put(session, BASE_ORDINAL, progress, state), ...kept];
  }

  async #put(session: CheckpointSession, ordinal: number, progress: Progress, state: Uint8Array): Promise<Checkpoint> {
    const { positions, emittedMs, sampleCount, lacksUntilMs } = progress;
    const own = { ordinal, emittedMs, sampleCount, byteCount: state.length, lacksUntilMs };
    const row = { ...this.#key, ...own, positions: positionsToText(positions), state };
    await session.writer.put(itemCheckpoints, { ...row, checksum: checkpointChecksum(row) });
    return { ...own, positions: [...positions] };
  }

  /** Deletes the checkpoints that a change of a source at an instant makes invalid. */
  async dropInvalid(session: CheckpointSession, source: number, fromMs: number): Promise<void> {
    await this.#keep(session, countValid(this.#list, source, fromMs));
  }

  async drop(session: CheckpointSession, one: Checkpoint): Promise<void> {
    if (one === this.base) session.noteBaseLost();
    this.#list = this.#list.filter((kept) => kept !== one);
    await session.writer.delete(itemCheckpoints, [...this.#ofItem, ['ordinal', '=', one.ordinal]]);
  }

  async dropLast(session: CheckpointSession): Promise<void> {
    await this.#keep(session, Math.max(0, this.#list.length - 1));
  }

  async dropAll(session: CheckpointSession): Promise<void> {
    await this.#keep(session, 0);
  }

  async dropAllButBase(session: CheckpointSession): Promise<void> {
    await this.#keep(session, this.base === undefined ? 0 : 1);
  }

  async #keep(session: CheckpointSession, count: number): Promise<void> {
    const first = this.#list[count];
    if (first === undefined) return;
    if (first === this.base) session.noteBaseLost();
    this.#list = this.#list.slice(0, count);
    await session.writer.delete(itemCheckpoints, [...this.#ofItem, ['ordinal', '>=', first.ordinal]]);
  }
}
