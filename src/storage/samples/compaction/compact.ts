import type { Reader } from '../../storage.js';
import type { SeriesRow } from '../../tables/samples.js';
import type { LogRow } from '../log-index.js';
import { ALL_SERIES } from '../log-row.js';
import { indexAt, type Patch, patchBetween } from '../patch.js';
import type { PendingLog, PendingLogs } from '../pending.js';
import { type Progress, readProgress } from '../progress.js';
import { findSeries, type Move, type SeriesMove } from './move.js';
import { appendTails, Budget, costOf, isTail, rewriteSegments, type Sizes, type Tail } from './rewrite.js';

/** What a series costs a move in addition to its samples, in samples. */
const SERIES_COST = 512;
/** How many series a move looks up at once. */
const SERIES_READ = 64;
/** What a row of the log costs in addition to its samples, in samples: of the room that it takes. */
const KEPT_ROW_COST = 8;
/** How much more than a round added is deleted at its end, in samples: after a pause, earlier rounds are left. */
const DELETED_MORE = 65_536;

export interface CompactOptions {
  /** Moves whatever there is, not only once enough has gathered. */
  readonly isDue?: boolean;
  /** Does so, and deletes it from the log at once, even if followers need it. */
  readonly isEager?: boolean;
}

/** A round's rows, and their series in the order of their keys. */
interface Round {
  readonly afterCommit: number;
  readonly untilCommit: number;
  readonly keys: Float64Array;
  /** The room that its rows take in the log, in samples. */
  readonly cost: number;
  /** The patch of the series where the last call stopped. */
  current: { readonly key: number; readonly patch: Patch } | undefined;
}

/** A round that has ended, whose rows are still in the log. */
interface KeptRound {
  readonly commit: number;
  readonly endedMs: number;
  readonly cost: number;
}

/** Prepares moves of the log into segments in rounds, some series per call. */
export class Compaction {
  readonly #logs: PendingLogs;
  readonly #sizes: Sizes;
  /** The current round of each shard; its rows are on the disk and do not change. */
  readonly #rounds = new Map<number, Round>();
  /** By shard, in their order. */
  readonly #kept = new Map<number, readonly KeptRound[]>();
  readonly #clock: { nowMs(): number };

  constructor(logs: PendingLogs, sizes: Sizes, clock: { nowMs(): number }) {
    this.#logs = logs;
    this.#sizes = sizes;
    this.#clock = clock;
  }

  /** Undefined if none is due. */
  async prepare(tx: Reader, untilCommit: number, options: CompactOptions): Promise<Move | undefined> {
    const stored = await readProgress(tx);
    const log = await this.#logs.open(tx, stored);
    const begun = await beginRound(log, stored, Math.min(untilCommit, tx.durableCommit), options, this.#sizes);
    if (begun === undefined) return undefined;
    const round = this.#roundOf(tx.shard, begun, log);
    const { progress: moved, series } = await new RoundMove(tx, log, round, begun, this.#sizes).run();
    if (moved.roundKey < (round.keys.at(-1) ?? 0)) return { begun: stored, ended: moved, series };
    this.#rounds.delete(tx.shard);
    const forgottenCommit = options.isEager ? moved.roundCommit : this.#keep(tx.shard, moved, round.cost);
    const ended = { ...moved, compactedCommit: moved.roundCommit, roundKey: 0, roundMs: null, forgottenCommit };
    return { begun: stored, ended, series };
  }

  /**
   * Keeps the rows of the round that ends, and those of rounds before as long as they are recent and few, for followers
   * of the log that lag or connect again.
   *
   * @returns the commit up to which the log is deleted.
   */
  #keep(shard: number, { compactedCommit, roundCommit, forgottenCommit }: Progress, cost: number): number {
    const { keptMs, keptCostMax } = this.#sizes;
    const endedMs = this.#clock.nowMs();
    const before = this.#kept.get(shard) ?? [{ commit: compactedCommit, endedMs, cost: 0 }];
    // A move that could not be stored is prepared again.
    const rounds = [...before.filter(({ commit }) => commit < roundCommit), { commit: roundCommit, endedMs, cost }];
    let keptCost = rounds.reduce((sum, round) => sum + round.cost, 0);
    const leastCost = keptCost - cost - DELETED_MORE;
    let count = 0;
    for (const round of rounds.slice(0, -1)) {
      // The clock may be set back.
      const isKept = keptCost <= keptCostMax && Math.abs(endedMs - round.endedMs) < keptMs;
      if (isKept || (count > 0 && keptCost - round.cost < leastCost)) break;
      keptCost -= round.cost;
      count++;
    }
    this.#kept.set(shard, rounds.slice(count));
    return Math.max(forgottenCommit, rounds[count - 1]?.commit ?? 0);
  }

  #roundOf(shard: number, progress: Progress, log: PendingLog): Round {
    const { compactedCommit: afterCommit, roundCommit: untilCommit } = progress;
    const known = this.#rounds.get(shard);
    if (known?.afterCommit === afterCommit && known.untilCommit === untilCommit) return known;
    const keys = new Set<number>();
    let cost = 0;
    for (const { heads, damage, sampleCount } of log.rowsWithin(afterCommit, untilCommit)) {
      // Its row would be deleted with the round.
      if (heads === ALL_SERIES && damage !== undefined) throw damage.error;
      for (const key of heads.keys) keys.add(key);
      cost += KEPT_ROW_COST + sampleCount;
    }
    const round = { afterCommit, untilCommit, keys: Float64Array.from(keys).sort(), cost, current: undefined };
    this.#rounds.set(shard, round);
    return round;
  }
}

/** The current round, or a new one if enough has gathered. */
async function beginRound(
  log: PendingLog,
  progress: Progress,
  untilCommit: number,
  { isDue = false, isEager = false }: CompactOptions,
  sizes: Sizes,
): Promise<Progress | undefined> {
  const { compactedCommit, roundCommit } = progress;
  if (roundCommit > compactedCommit) return progress;
  const rows = await rowsBeforeDamage(log, log.rowsWithin(compactedCommit, untilCommit), compactedCommit);
  if (rows.length === 0 || !(isDue || isEager || isEnough(rows, log.seriesCount, sizes))) return undefined;
  return { ...progress, roundCommit: endOfRound(rows, sizes), roundKey: 0, roundMs: null };
}

/** Damaged rows stay in the log, where reads report them, until what they may have touched was deleted. */
async function rowsBeforeDamage(log: PendingLog, rows: readonly LogRow[], afterCommit: number) {
  for (const row of rows) {
    const { commit, damage } = row;
    if (damage === undefined || !(await isDamageLeft(log, row, afterCommit))) continue;
    const before = rows.filter((other) => other.commit < commit);
    if (before.length === 0) throw damage.error;
    return before;
  }
  return rows;
}

/** Ends at the first series with damage: it is asked again at each retry, and reads the whole log of each series. */
async function isDamageLeft(log: PendingLog, { organisation, heads }: LogRow, afterCommit: number): Promise<boolean> {
  if (heads === ALL_SERIES) return true;
  for (const key of heads.keys) {
    const { damaged = [] } = await log.patchWithin({ organisation, key }, afterCommit, Infinity);
    if (damaged.length > 0) return true;
  }
  return false;
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

/** A call of compaction: moves series of a round, in the order of their keys, until its budget is spent. */
class RoundMove {
  readonly #tx: Reader;
  readonly #log: PendingLog;
  readonly #round: Round;
  readonly #sizes: Sizes;
  readonly #budget: Budget;
  readonly #moves: SeriesMove[] = [];
  /** Samples to append: those of many series are written together. */
  #tails: Tail[] = [];
  #tailCost = 0;
  #progress: Progress;

  constructor(tx: Reader, log: PendingLog, round: Round, begun: Progress, sizes: Sizes) {
    this.#tx = tx;
    this.#log = log;
    this.#round = round;
    this.#progress = begun;
    this.#sizes = sizes;
    this.#budget = new Budget(sizes.callCost);
  }

  async run(): Promise<{ readonly progress: Progress; readonly series: readonly SeriesMove[] }> {
    const { roundKey } = this.#progress;
    const rest = this.#round.keys.filter((key) => key > roundKey);
    for (let from = 0, isLast = false; from < rest.length && !isLast; from += SERIES_READ) {
      isLast = await this.#moveSome(rest.subarray(from, from + SERIES_READ));
      this.#moves.push(...(await appendTails(this.#tx, this.#tails, this.#budget, this.#sizes)));
      this.#tails = [];
      this.#tailCost = 0;
    }
    return { progress: this.#progress, series: this.#moves };
  }

  /** @returns whether the budget was spent before the end. */
  async #moveSome(keys: Float64Array): Promise<boolean> {
    const rows = await findSeries(this.#tx, [...keys]);
    for (const key of keys) {
      if (this.#budget.isSpent(this.#tailCost)) return true;
      this.#budget.spend(SERIES_COST);
      const row = rows.get(key);
      // A missing series was dropped, together with its segments.
      const roundMs = row === undefined ? undefined : await this.#moveOne(row);
      if (roundMs !== undefined) {
        this.#progress = { ...this.#progress, roundMs };
        return true;
      }
      this.#progress = { ...this.#progress, roundKey: key, roundMs: null };
    }
    return this.#budget.isSpent(this.#tailCost);
  }

  /** @returns where the next call goes on with this series; undefined if all of it was moved. */
  async #moveOne(row: SeriesRow): Promise<number | undefined> {
    const patch = await patchOf(this.#log, this.#round, row);
    const fromMs = this.#progress.roundMs ?? -Infinity;
    // The next calls move what exceeds this.
    const untilMs = patch.timeMs[indexAt(patch.timeMs, fromMs) + this.#sizes.callSamples];
    const isWhole = fromMs === -Infinity && untilMs === undefined;
    const tail = { row, patch: isWhole ? patch : patchBetween(patch, fromMs, untilMs ?? Infinity) };
    if (!isTail(tail)) {
      const { move, resumeMs } = await rewriteSegments(this.#tx, row, tail.patch, this.#budget, this.#sizes);
      this.#moves.push(move);
      // An area may end after the part of the patch that was moved.
      return untilMs === undefined ? resumeMs : Math.min(resumeMs ?? untilMs, untilMs);
    }
    this.#tails.push(tail);
    this.#tailCost += costOf(tail);
    return untilMs;
  }
}

async function patchOf(log: PendingLog, round: Round, { organisation, seriesKey: key }: SeriesRow): Promise<Patch> {
  if (round.current?.key === key) return round.current.patch;
  const { damaged, ...patch } = await log.patchWithin({ organisation, key }, round.afterCommit, round.untilCommit);
  // Damage that a later change deletes does not matter.
  if (damaged !== undefined) {
    patchBetween(await log.patchWithin({ organisation, key }, round.afterCommit, Infinity), -Infinity, Infinity);
  }
  round.current = { key, patch };
  return patch;
}
