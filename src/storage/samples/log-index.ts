import { finish, type InTurns } from '../../core/turns.js';
import type { SampleLogRow } from '../tables/samples.js';
import type { LogHeads } from './log-bytes.js';
import { ALL_SERIES, inspectRow } from './log-row.js';
import type { DamagedRange, TimeRange } from './samples.js';

/** A row of the log in memory. Its bytes may be dropped and are then read again. */
export interface LogRow {
  readonly commit: number;
  readonly part: number;
  readonly organisation: string;
  readonly sampleCount: number;
  readonly heads: LogHeads;
  readonly byteCount: number;
  bytes: Uint8Array | undefined;
  damage: DamagedRange | undefined;
}

/** Where the changes of a series are: the rows in order, and the index of the change in each. */
export interface Places {
  readonly rows: LogRow[];
  readonly indexes: number[];
  /** The times of the series in each row, where a reader has found them: those of the row are of all its series. */
  readonly ranges: (TimeRange | undefined)[];
}

/** Changes of series to index before yielding. */
const CHANGES_PER_TURN = 20_000;

export function logRowOf(row: SampleLogRow): LogRow {
  const { commit, part, organisation, sampleCount, changes } = row;
  const { heads, damage } = inspectRow(row);
  return { commit, part, organisation, sampleCount, heads, byteCount: changes.length, bytes: changes, damage };
}

/**
 * An index from series to the rows of a span of the log. Rows are added at the end; to drop old ones, `after` makes
 * another index.
 */
export class LogIndex {
  readonly #rows: LogRow[] = [];
  readonly #bySeries = new Map<number, Places>();
  /** Damaged rows whose series are unknown. */
  readonly #unknown: LogRow[] = [];
  readonly #fromCommit: number;
  #untilCommit: number;

  /** An empty index for the commits after `fromCommit`. */
  constructor(fromCommit: number) {
    this.#fromCommit = fromCommit;
    this.#untilCommit = fromCommit;
  }

  /** The index covers the commits (fromCommit, untilCommit]. */
  get fromCommit(): number {
    return this.#fromCommit;
  }

  get untilCommit(): number {
    return this.#untilCommit;
  }

  get rows(): readonly LogRow[] {
    return this.#rows;
  }

  get seriesCount(): number {
    return this.#bySeries.size;
  }

  /** Whether this very row is in it. */
  has(row: LogRow): boolean {
    // The parts of a commit are numbered from 0.
    return this.#rows[firstAfter(this.#rows, row.commit - 1) + row.part] === row;
  }

  /** Where the changes of a series are, including damaged rows of its organisation that may have some. */
  placesOf(organisation: string, key: number): Places | undefined {
    const places = this.#bySeries.get(key);
    const unknown = this.#unknown.filter((row) => row.organisation === organisation);
    if (unknown.length === 0) return places;
    const known = places?.rows.map((row, i) => ({ row, index: places.indexes[i]!, range: places.ranges[i] })) ?? [];
    const all = [...known, ...unknown.map((row) => ({ row, index: 0, range: undefined }))];
    all.sort((a, b) => a.row.commit - b.row.commit || a.row.part - b.row.part);
    return {
      rows: all.map(({ row }) => row),
      indexes: all.map(({ index }) => index),
      ranges: all.map(({ range }) => range),
    };
  }

  /** Its last place in the log: it has all rows up to there, perhaps some of a commit after `untilCommit`. */
  get end(): readonly [commit: number, part: number] {
    const last = this.#rows.at(-1);
    const isWithin = last !== undefined && last.commit > this.#untilCommit;
    return isWithin ? [last.commit, last.part] : [this.#untilCommit, Number.MAX_SAFE_INTEGER];
  }

  /** Adds the next row, unless it has it already; returns whether it was added. */
  addNext(row: LogRow): boolean {
    const [commit, part] = this.end;
    if (row.commit < commit || (row.commit === commit && row.part <= part)) return false;
    this.addRow(row);
    return true;
  }

  /** To be called once it has all rows of the commits up to this one. */
  reach(commit: number): void {
    this.#untilCommit = Math.max(this.#untilCommit, commit);
  }

  addRow(row: LogRow): void {
    this.#rows.push(row);
    if (row.heads === ALL_SERIES) this.#unknown.push(row);
    row.heads.keys.forEach((key, index) => {
      const places = this.#bySeries.get(key);
      if (places === undefined) this.#bySeries.set(key, { rows: [row], indexes: [index], ranges: [undefined] });
      else {
        places.rows.push(row);
        places.indexes.push(index);
        places.ranges.push(undefined);
      }
    });
  }

  /** An index of the commits after this one. This index stays as it is for readers of an older state. */
  after(commit: number): LogIndex {
    const index = new LogIndex(commit);
    finish(index.takeRest(this));
    return index;
  }

  /**
   * Adds the rows of another index that begins earlier, also those that it gets meanwhile. Yields after some
   * milliseconds of work; this index is incomplete until the end.
   */
  *takeRest(earlier: LogIndex): InTurns<void> {
    let changeCount = 0;
    for (let i = firstAfter(earlier.#rows, this.#fromCommit); i < earlier.#rows.length; i++) {
      const row = earlier.#rows[i]!;
      this.addRow(row);
      changeCount += 1 + row.heads.keys.length;
      if (changeCount < CHANGES_PER_TURN) continue;
      changeCount = 0;
      yield;
    }
    this.reach(earlier.#untilCommit);
  }
}

/** The index of the first row after a commit. */
export function firstAfter(rows: readonly LogRow[], commit: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.commit <= commit) low = middle + 1;
    else high = middle;
  }
  return low;
}
