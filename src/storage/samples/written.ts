import type { SeriesReference } from '../../core/series.js';
import type { Transaction } from '../storage.js';

/** Series of one organisation. */
interface WrittenSeries {
  readonly organisation: string;
  readonly series: readonly SeriesReference[];
}

/** What a commit wrote. */
interface WrittenCommit {
  readonly commit: number;
  readonly parts: WrittenSeries[];
}

/** More than a group of commits has, so that each announced commit is found. */
const COMMITS_KEPT = 2000;
/** Naming more series costs as much as reading the log. */
const SERIES_NAMED_MAX = 100;

/**
 * Which series the latest transactions of this process wrote: followers of other series need not read the log for them.
 * Commits of other processes, old ones, and those of very many series are unknown.
 */
export class WrittenCommits {
  /** By shard: each commit has its place, modulo their number, where a later one replaces it. */
  readonly #byShard = new Map<number, (WrittenCommit | undefined)[]>();
  /** The names that were noted last: most requests write the same series as the one before. */
  #names: readonly SeriesReference[] = [];

  /** The transaction may yet be rolled back and its number reused; then both sets of series count. */
  note({ shard, commit }: Transaction, organisation: string, series: readonly SeriesReference[]): void {
    const commits = this.#byShard.get(shard) ?? new Array<WrittenCommit | undefined>(COMMITS_KEPT);
    this.#byShard.set(shard, commits);
    const place = commit % COMMITS_KEPT;
    const part = { organisation, series: series.length <= SERIES_NAMED_MAX ? this.#namesOf(series) : ALL };
    const known = commits[place];
    if (known?.commit === commit) known.parts.push(part);
    else commits[place] = { commit, parts: [part] };
  }

  /** Only the names, so that the samples can be freed. */
  #namesOf(series: readonly SeriesReference[]): readonly SeriesReference[] {
    const last = this.#names;
    const areLast = last.length === series.length && series.every((one, i) => isSame(one, last[i]!));
    if (!areLast) this.#names = series.map(({ timeseriesId, metric }) => ({ timeseriesId, metric }));
    return this.#names;
  }

  /** Whether the commit is known to change none of the wanted series. */
  isOfOthers(shard: number, commit: number, isWanted: (organisation: string, of: SeriesReference) => boolean): boolean {
    const written = this.#byShard.get(shard)?.[commit % COMMITS_KEPT];
    if (written?.commit !== commit) return false;
    return written.parts.every(
      ({ organisation, series }) => series !== ALL && !series.some((one) => isWanted(organisation, one)),
    );
  }
}

const ALL: readonly SeriesReference[] = [];

function isSame(one: SeriesReference, other: SeriesReference): boolean {
  return one.timeseriesId === other.timeseriesId && one.metric === other.metric;
}
