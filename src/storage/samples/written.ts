import type { SeriesReference } from '../../core/series.js';
import type { Transaction } from '../storage.js';

/** Series of one organisation. */
interface WrittenSeries {
  readonly organisation: string;
  readonly series: readonly SeriesReference[];
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
  readonly #byShard = new Map<number, Map<number, WrittenSeries[]>>();

  /** The transaction may yet be rolled back and its number reused; then both sets of series count. */
  note({ shard, commit }: Transaction, organisation: string, series: readonly SeriesReference[]): void {
    const commits = this.#byShard.get(shard) ?? new Map<number, WrittenSeries[]>();
    this.#byShard.set(shard, commits);
    const written = commits.get(commit) ?? [];
    commits.set(commit, written);
    const isNamed = series.length <= SERIES_NAMED_MAX;
    // Only the names, so that the samples can be freed.
    const named = isNamed ? series.map(({ timeseriesId, metric }) => ({ timeseriesId, metric })) : ALL;
    written.push({ organisation, series: named });
    if (commits.size > COMMITS_KEPT) commits.delete(commits.keys().next().value!);
  }

  /** Whether the commit is known to change none of the wanted series. */
  isOfOthers(shard: number, commit: number, isWanted: (organisation: string, of: SeriesReference) => boolean): boolean {
    const written = this.#byShard.get(shard)?.get(commit);
    if (written === undefined) return false;
    return written.every(
      ({ organisation, series }) => series !== ALL && !series.some((one) => isWanted(organisation, one)),
    );
  }
}

const ALL: readonly SeriesReference[] = [];
