import { DamagedSamplesError } from '../../errors.js';
import type { Transaction } from '../../storage.js';
import { type SeriesRow, sampleLog, series } from '../../tables/samples.js';
import type { LogRow } from '../log-index.js';
import { ALL_SERIES } from '../log-row.js';
import { indexAt, type Patch, patchBetween } from '../patch.js';
import type { PendingLog, PendingLogs } from '../pending.js';
import { type Progress, readProgress, writeProgress } from '../progress.js';
import type { Sizes } from './rewrite.js';
import { appendTails, type Budget, costOf, isTail, rewriteSegments, type Tail } from './rewrite.js';

const SERIES_COST = 512;
const SERIES_READ = 64;

/** The rows of a round, and the series in them in the order of their keys. */
interface Round {
  readonly afterCommit: number;
  readonly untilCommit: number;
  readonly keys: Float64Array;
  /** What the rows come to for the series that the last call ended in. */
  current: { readonly key: number; readonly patch: Patch } | undefined;
}

/** Moves the log into segments, round by round, each some series at a time. */
export class Compaction {
  readonly #logs: PendingLogs;
  readonly #sizes: Sizes;
  /** Of each shard; the rows of a round are on the disk, and do not change. */
  readonly #rounds = new Map<number, Round>();

  constructor(logs: PendingLogs, sizes: Sizes) {
    this.#logs = logs;
    this.#sizes = sizes;
  }

  async compact(tx: Transaction, untilCommit: number, isEager: boolean): Promise<boolean> {
    const stored = await readProgress(tx);
    const log = await this.#logs.open(tx, stored);
    const begin = (progress: Progress): Promise<Progress | undefined> =>
      beginRound(log, progress, Math.min(untilCommit, tx.durableCommit), isEager, this.#sizes);
    const begun = await begin(stored);
    if (begun === undefined) return false;
    const budget: Budget = { left: this.#sizes.callCost };
    const round = this.#roundOf(tx.shard, begun, log);
    const moved = await moveSeries(tx, log, round, begun, budget, this.#sizes);
    if (moved.roundKey < (round.keys.at(-1) ?? 0)) {
      await writeProgress(tx, moved);
      return true;
    }
    this.#rounds.delete(tx.shard);
    const ended = await writeProgress(tx, await endRound(tx, moved, isEager));
    return begin(ended).then(
      (next) => next !== undefined,
      // The next call tells of it: this one has moved what could be moved.
      (error) => error instanceof DamagedSamplesError,
    );
  }

  #roundOf(shard: number, progress: Progress, log: PendingLog): Round {
    const { compactedCommit: afterCommit, roundCommit: untilCommit } = progress;
    const known = this.#rounds.get(shard);
    if (known?.afterCommit === afterCommit && known.untilCommit === untilCommit) return known;
    const keys = new Set<number>();
    for (const { heads, damage } of log.rowsWithin(afterCommit, untilCommit)) {
      // It would be forgotten with the round.
      if (heads === ALL_SERIES && damage !== undefined) throw damage.error;
      for (const key of heads.keys) keys.add(key);
    }
    const round = { afterCommit, untilCommit, keys: Float64Array.from(keys).sort(), current: undefined };
    this.#rounds.set(shard, round);
    return round;
  }
}

/** The round that runs, or a new one if there is enough for it. */
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

/** Damage stays in the log, where it is told, until what it may have touched was deleted. */
async function rowsBeforeDamage(log: PendingLog, rows: readonly LogRow[], afterCommit: number) {
  for (const { commit, organisation, heads, damage } of rows) {
    if (damage === undefined) continue;
    let isMadeGood = heads !== ALL_SERIES;
    for (const key of heads.keys) {
      const { damaged = [] } = await log.patchWithin({ organisation, key }, afterCommit, Infinity);
      isMadeGood &&= damaged.length === 0;
    }
    if (isMadeGood) continue;
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
    // Until a deletion is done, all who read there read what it deletes.
    sampleCount += row.sampleCount + row.heads.extras.size * sizes.samplesMin;
    if (sampleCount >= sizes.samplesEnough || changeCount >= sizes.changesEnough) return true;
  }
  return sampleCount >= Math.max(sizes.samplesMin, sizes.seriesSamplesMin * seriesCount);
}

/** Whole commits, as many as fit, at least one. */
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

async function moveSeries(
  tx: Transaction,
  log: PendingLog,
  round: Round,
  begun: Progress,
  budget: Budget,
  sizes: Sizes,
): Promise<Progress> {
  const { keys, afterCommit, untilCommit } = round;
  let progress = begun;
  let tails: Tail[] = [];
  let tailCost = 0;
  const rest = keys.filter((key) => key > begun.roundKey);
  for (let from = 0; from < rest.length; from += SERIES_READ) {
    const some = rest.subarray(from, from + SERIES_READ);
    const rows = await findSeries(tx, some);
    const isLast = await moveSome(some, rows);
    await appendTails(tx, tails, budget, sizes);
    if (isLast) break;
    tails = [];
    tailCost = 0;
  }
  return progress;

  /** @returns whether the budget has ended before them. */
  async function moveSome(some: Float64Array, rows: ReadonlyMap<number, SeriesRow>): Promise<boolean> {
    for (const key of some) {
      if (budget.left <= tailCost) return true;
      budget.left -= SERIES_COST;
      const row = rows.get(key);
      // A series that is not there was dropped, and its segments with it.
      const roundMs = row === undefined ? undefined : await moveOne(row);
      if (roundMs !== undefined) {
        progress = { ...progress, roundMs };
        return true;
      }
      progress = { ...progress, roundKey: key, roundMs: null };
    }
    return budget.left <= tailCost;
  }

  async function moveOne(row: SeriesRow): Promise<number | undefined> {
    const patch = await patchOf(row);
    const fromMs = progress.roundMs ?? -Infinity;
    // What a series has more of than this is for the next calls.
    const untilMs = patch.timeMs[indexAt(patch.timeMs, fromMs) + sizes.callSamples];
    const isWhole = fromMs === -Infinity && untilMs === undefined;
    const tail = { row, patch: isWhole ? patch : patchBetween(patch, fromMs, untilMs ?? Infinity) };
    if (!isTail(tail)) {
      const resumeMs = await rewriteSegments(tx, row, tail.patch, budget, sizes);
      // The end of an area may lie behind what was taken of the patch.
      return untilMs === undefined ? resumeMs : Math.min(resumeMs ?? untilMs, untilMs);
    }
    tails.push(tail);
    tailCost += costOf(tail);
    return untilMs;
  }

  async function patchOf({ organisation, seriesKey: key }: SeriesRow): Promise<Patch> {
    if (round.current?.key === key) return round.current.patch;
    const { damaged, ...patch } = await log.patchWithin({ organisation, key }, afterCommit, untilCommit);
    // What is deleted later need not be known.
    if (damaged !== undefined) {
      patchBetween(await log.patchWithin({ organisation, key }, afterCommit, Infinity), -Infinity, Infinity);
    }
    round.current = { key, patch };
    return patch;
  }
}

async function findSeries(tx: Transaction, keys: Float64Array): Promise<Map<number, SeriesRow>> {
  const rows = await tx.find(series, { where: [['seriesKey', 'in', [...keys]]], orderBy: [{ column: 'seriesKey' }] });
  return new Map(rows.map((row) => [row.seriesKey, row]));
}

/**
 * The rows of the last round stay until the next one has ended, for those who follow the log and are a little late.
 */
async function endRound(tx: Transaction, progress: Progress, isEager: boolean): Promise<Progress> {
  const { compactedCommit, roundCommit } = progress;
  const forgottenCommit = isEager ? roundCommit : compactedCommit;
  await tx.delete(sampleLog, [['commit', '<=', forgottenCommit]]);
  return { ...progress, compactedCommit: roundCommit, roundKey: 0, roundMs: null, forgottenCommit };
}
