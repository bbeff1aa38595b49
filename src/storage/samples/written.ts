import type { SeriesReference } from '../../core/series.js';
import type { Transaction } from '../storage.js';

/** Series of one organisation. */
export interface WrittenSeries {
  readonly organisation: string;
  readonly series: readonly SeriesReference[];
}

/** More than one group of commits has, so that whoever is told of a commit finds it. */
const COMMITS_KEPT = 2000;
/** To name more series costs as much as to look into the log. */
const SERIES_NAMED_MAX = 100;

/**
 * Which series the latest transactions of this process wrote to: whoever follows others need not read the log for them.
 * Only what is here is known: a commit of another process, one of long ago, or one of very many series is not.
 */
export class WrittenCommits {
  readonly #byShard = new Map<number, Map<number, WrittenSeries[]>>();

  /** Of a transaction that may yet be undone, and its number be another's: that one's series are then added. */
  note({ shard, commit }: Transaction, organisation: string, series: readonly SeriesReference[]): void {
    const commits = this.#byShard.get(shard) ?? new Map<number, WrittenSeries[]>();
    this.#byShard.set(shard, commits);
    const written = commits.get(commit) ?? [];
    const isNamed = series.length <= SERIES_NAMED_MAX;
    // The names alone: the samples are not held.
    const named = isNamed ? series.map(({ timeseriesId, metric }) => ({ timeseriesId, metric })) : ALL;
    commits.set(commit, [...written, { organisation, series: named }]);
    if (commits.size > COMMITS_KEPT) commits.delete(commits.keys().next().value!);
  }

  /** Whether it is known that the commit changed none of the series that are wanted. */
  isOfOthers(shard: number, commit: number, isWanted: (organisation: string, of: SeriesReference) => boolean): boolean {
    const written = this.#byShard.get(shard)?.get(commit);
    if (written === undefined) return false;
    return written.every(
      ({ organisation, series }) => series !== ALL && !series.some((one) => isWanted(organisation, one)),
    );
  }
}

const ALL: readonly SeriesReference[] = [];
