import { BackgroundTurns } from '../../next-turn.js';
import type { Reader, Transaction } from '../../storage.js';
import type { SeriesRow } from '../../tables/samples.js';
import type { LogRow } from '../log-index.js';
import { ALL_SERIES } from '../log-row.js';
import { indexAt, type Patch, patchBetween } from '../patch.js';
import type { PendingLog, PendingLogs } from '../pending.js';
import { type Progress, readProgress } from '../progress.js';
import { packSegment } from '../segments.js';
import type { Budget, Rewrite, Sizes, Tail } from './rewrite.js';
import { appendTail, costOf, isTail, rewriteSegments } from './rewrite.js';
import { allOf, type CompactionStep, findSeries, isSamePlace, type PackedRewrite, storeStep } from './step.js';

const SERIES_COST = 512;
const SERIES_READ = 16;

/** A round's rows, and their series in the order of their keys. */
interface Round {
  readonly afterCommit: number;
  readonly untilCommit: number;
  readonly keys: Float64Array;
  /** The patch of the series where the last step stopped. */
  current: { readonly key: number; readonly patch: Patch } | undefined;
}

/** Gives `work` a state of the shard; the next call may give a later one. */
export type ReadShard = <Result>(work: (tx: Reader) => Promise<Result>) => Promise<Result>;

export interface CompactionOptions {
  /** The commit up to which nobody needs the log any more. */
  readonly boundOf: (tx: Reader) => Promise<number>;
  /** Moves whatever there is, and deletes it from the log at once, even if followers need it. */
  readonly isEager?: boolean;
}

/** A step that is being computed. */
interface Draft {
  readonly from: Progress;
  readonly to: Progress;
  readonly round: Round;
  /** What is left of the budget. */
  readonly left: number;
  readonly isDone: boolean;
}

/** Moves the log into segments in rounds, some series per step. */
export class Compaction {
  readonly #logs: PendingLogs;
  readonly #sizes: Sizes;
  readonly #clock: { monotonicMs(): number };
  /** The current round of each shard; its rows are on the disk and do not change. */
  readonly #rounds = new Map<number, Round>();

  constructor(logs: PendingLogs, sizes: Sizes, clock: { monotonicMs(): number }) {
    this.#logs = logs;
    this.#sizes = sizes;
    this.#clock = clock;
  }

  /**
   * Computes the next step in turns of the event loop, and reads what it needs in short readers, so that writers need
   * not wait for it.
   *
   * @returns undefined while too little has gathered.
   */
  async prepare(read: ReadShard, options: CompactionOptions): Promise<CompactionStep | undefined> {
    for (;;) {
      const turns = new BackgroundTurns(this.#clock);
      const draft = await this.#begin(read, turns, options);
      if (draft === undefined) return undefined;
      const computed = await this.#rewriteAll(read, turns, draft);
      // Another process went on, or a series was dropped: what was read does not belong together.
      if (computed === undefined) continue;
      const { from, round } = draft;
      const isEndOfRound = computed.to.roundKey >= (round.keys.at(-1) ?? 0);
      return { ...computed, from, isEndOfRound, isEager: options.isEager ?? false };
    }
  }

  /**
   * Writes a step.
   *
   * @returns false if the store has changed since the step was computed: nothing was written.
   */
  store(tx: Transaction, step: CompactionStep): Promise<boolean> {
    return storeStep(tx, step);
  }

  /** The place where the next step begins; undefined while too little has gathered. */
  async #begin(read: ReadShard, turns: BackgroundTurns, options: CompactionOptions): Promise<Draft | undefined> {
    const begun = await read(async (tx) => {
      turns.begin();
      const from = await readProgress(tx);
      const log = await this.#logs.open(tx, from);
      const untilCommit = Math.min(await options.boundOf(tx), tx.durableCommit);
      const to = await beginRound(log, from, untilCommit, options.isEager ?? false, this.#sizes);
      turns.end();
      return to === undefined ? undefined : { shard: tx.shard, log, from, to };
    });
    if (begun === undefined) return undefined;
    const { shard, log, from, to } = begun;
    const round = await this.#roundOf(shard, to, log);
    return { from, to, round, left: this.#sizes.stepCost, isDone: false };
  }

  async #roundOf(shard: number, progress: Progress, log: PendingLog): Promise<Round> {
    const { compactedCommit: afterCommit, roundCommit: untilCommit } = progress;
    const known = this.#rounds.get(shard);
    if (known?.afterCommit === afterCommit && known.untilCommit === untilCommit) return known;
    for (const { heads, damage } of log.rowsWithin(afterCommit, untilCommit)) {
      // Its row would be deleted with the round.
      if (heads === ALL_SERIES && damage !== undefined) throw damage.error;
    }
    const keys = await log.keysWithin(afterCommit, untilCommit);
    const round = { afterCommit, untilCommit, keys, current: undefined };
    this.#rounds.set(shard, round);
    return round;
  }

  /** @returns undefined if the state that the draft began with has passed. */
  async #rewriteAll(
    read: ReadShard,
    turns: BackgroundTurns,
    begun: Draft,
  ): Promise<Pick<CompactionStep, 'to' | 'rewrites'> | undefined> {
    const rewrites: PackedRewrite[] = [];
    let draft = begun;
    while (!draft.isDone) {
      const before = draft;
      const some = await read(async (tx) => {
        turns.begin();
        const progress = await readProgress(tx);
        if (!isSamePlace(progress, before.from)) return undefined;
        return new SomeSeries(tx, await this.#logs.open(tx, progress), turns, before, this.#sizes).rewrite();
      });
      if (some === undefined) return undefined;
      for (const rewrite of some.rewrites) rewrites.push(await pack(rewrite, turns));
      turns.end();
      draft = some.draft;
    }
    return { to: draft.to, rewrites };
  }
}

/** Packing takes longer than all else. */
async function pack({ row, isAppend, removed, added }: Rewrite, turns: BackgroundTurns): Promise<PackedRewrite> {
  const rows = [];
  for (const columns of added) {
    await turns.pass();
    rows.push(packSegment(row.seriesKey, columns));
  }
  return { row, isAppend, removed, added: rows };
}

/** The current round, or a new one if enough has gathered. */
async function beginRound(
  log: PendingLog,
  progress: Progress,
  untilCommit: number,
  isEager: boolean,
  sizes: Sizes,
): Promise<Progress | undefined> {
  const { compactedCommit, roundCommit } = progress;
  if (roundCommit > compactedCommit) return progress;
  const rows = await rowsBeforeDamage(log, log.rowsWithin(compactedCommit, untilCommit), compactedCommit);
  if (rows.length === 0 || !(isEager || isEnough(rows, log.seriesCount, sizes))) return undefined;
  return { ...progress, roundCommit: endOfRound(rows, sizes), roundKey: 0, roundMs: null };
}

/** Damaged rows stay in the log, where reads report them, until what they may have touched was deleted. */
async function rowsBeforeDamage(log: PendingLog, rows: readonly LogRow[], afterCommit: number) {
  for (const { commit, organisation, heads, damage } of rows) {
    if (damage === undefined) continue;
    let isDeleted = heads !== ALL_SERIES;
    for (const key of heads.keys) {
      const { damaged = [] } = await log.patchWithin({ organisation, key }, afterCommit, Infinity);
      isDeleted &&= damaged.length === 0;
    }
    if (isDeleted) continue;
    const before = rows.filter((row) => row.commit < commit);
    if (before.length === 0) throw damage.error;
    return before;
  }
  return rows;
}

function isEnough(rows: readonly LogRow[], seriesCount: number, sizes: Sizes): boolean {
  if (rows.length >= sizes.rowsEnough) return true;
  let [sampleCount, changeCount] = [0, 0];
  for (const row of rows) {
    changeCount += row.heads.keys.length;
    // Until a deletion is compacted, every read there reads what it deletes.
    sampleCount += row.sampleCount + row.heads.extras.size * sizes.samplesMin;
    if (sampleCount >= sizes.samplesEnough || changeCount >= sizes.changesEnough) return true;
  }
  return sampleCount >= Math.max(sizes.samplesMin, sizes.seriesSamplesMin * seriesCount);
}

/** The last commit of a round: as many whole commits as fit, at least one. */
function endOfRound(rows: readonly LogRow[], sizes: Sizes): number {
  let [sampleCount, changeCount] = [0, 0];
  let commit = rows[0]!.commit;
  for (const row of rows) {
    sampleCount += row.sampleCount;
    changeCount += row.heads.keys.length;
    const isTooMuch = sampleCount > sizes.roundSamplesMax || changeCount > sizes.roundChangesMax;
    if (isTooMuch && row.commit > commit) return commit;
    commit = row.commit;
  }
  return commit;
}

/**
 * The series of a round that one reader moves, from the place of the draft on: for a turn, or as many as are found at
 * once. A reader may be run again, so it leaves the draft as it is.
 */
class SomeSeries {
  readonly #tx: Reader;
  readonly #log: PendingLog;
  readonly #turns: BackgroundTurns;
  readonly #draft: Draft;
  readonly #round: Round;
  readonly #budget: Budget;
  readonly #sizes: Sizes;
  readonly #rewrites: Rewrite[] = [];
  readonly #tails: Tail[] = [];
  #tailCost = 0;
  #to: Progress;

  constructor(tx: Reader, log: PendingLog, turns: BackgroundTurns, draft: Draft, sizes: Sizes) {
    this.#tx = tx;
    this.#log = log;
    this.#turns = turns;
    this.#draft = draft;
    this.#round = draft.round;
    this.#budget = { left: draft.left };
    this.#to = draft.to;
    this.#sizes = sizes;
  }

  async rewrite(): Promise<{ readonly rewrites: readonly Rewrite[]; readonly draft: Draft }> {
    const budget = this.#budget;
    const { keys } = this.#round;
    const from = indexAt(keys, this.#to.roundKey + 1);
    const some = keys.subarray(from, from + SERIES_READ);
    const rows = await findSeries(this.#tx, [...some]);
    let isDone = false;
    for (const key of some) {
      isDone = budget.left <= this.#tailCost || (await this.#move(key, rows.get(key)));
      if (isDone || this.#turns.isOver) break;
    }
    const tails = this.#tails.map((tail) => appendTail(this.#tx, tail, budget, this.#sizes));
    const rewrites = [...this.#rewrites, ...(await allOf(tails))];
    isDone ||= budget.left <= 0 || this.#to.roundKey >= (keys.at(-1) ?? 0);
    return { rewrites, draft: { ...this.#draft, to: this.#to, left: budget.left, isDone } };
  }

  /** @returns whether the step ends within this series. */
  async #move(key: number, row: SeriesRow | undefined): Promise<boolean> {
    this.#budget.left -= SERIES_COST;
    // A missing series was dropped, together with its segments.
    const roundMs = row === undefined ? undefined : await this.#moveOne(row);
    if (roundMs !== undefined) {
      this.#to = { ...this.#to, roundMs };
      return true;
    }
    this.#to = { ...this.#to, roundKey: key, roundMs: null };
    return false;
  }

  /** @returns the time where the next step is to go on with this series, if it has more. */
  async #moveOne(row: SeriesRow): Promise<number | undefined> {
    const { stepSamples } = this.#sizes;
    const patch = await this.#patchOf(row);
    const fromMs = this.#to.roundMs ?? -Infinity;
    // The next steps move what exceeds this.
    const untilMs = patch.timeMs[indexAt(patch.timeMs, fromMs) + stepSamples];
    const isWhole = fromMs === -Infinity && untilMs === undefined;
    const tail = { row, patch: isWhole ? patch : patchBetween(patch, fromMs, untilMs ?? Infinity) };
    if (!isTail(tail)) {
      const { resumeMs, ...rewrite } = await rewriteSegments(this.#tx, row, tail.patch, this.#budget, this.#sizes);
      if (rewrite.removed.length > 0 || rewrite.added.length > 0) this.#rewrites.push(rewrite);
      // An area may end after the part of the patch that was moved.
      return untilMs === undefined ? resumeMs : Math.min(resumeMs ?? untilMs, untilMs);
    }
    this.#tails.push(tail);
    this.#tailCost += costOf(tail);
    return untilMs;
  }

  async #patchOf({ organisation, seriesKey: key }: SeriesRow): Promise<Patch> {
    const round = this.#round;
    if (round.current?.key === key) return round.current.patch;
    const { afterCommit, untilCommit } = round;
    const { damaged, ...patch } = await this.#log.patchWithin({ organisation, key }, afterCommit, untilCommit);
    // Damage that a later change deletes does not matter.
    if (damaged !== undefined) {
      patchBetween(await this.#log.patchWithin({ organisation, key }, afterCommit, Infinity), -Infinity, Infinity);
    }
    round.current = { key, patch };
    return patch;
  }
}
