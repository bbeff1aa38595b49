import type { SeriesReference } from '../../../core/series.js';
import type { Plan, Stream } from '../../../index.js';
import type { Columns } from '../../../storage/samples/samples.js';
import type { ItemRow } from '../../../storage/tables/operations.js';
import type { Mark, Positions } from './checkpoints.js';
import type { WorkerSizes } from './sizes.js';

/** An item at work. All of it follows from the store, and may be forgotten at any time. */
export interface Entry {
  row: ItemRow;
  readonly plan: Plan;
  readonly output: SeriesReference;
  readonly sourceIndex: ReadonlyMap<string, number>;
  /** The commit of the catalogue at which the next two, and that it is there, were looked up. */
  checkedCommit: number;
  /** Sources that are themselves results: they may end with samples that the next input changes. */
  resultSources: readonly number[];
  /** 0, or one more than the greatest of the items whose results it reads: they are worked on before it. */
  rank: number;
  /** The item's checkpoints, in order. */
  marks: readonly Mark[];
  /** When its work is due; null when there is none. */
  dueMs: number | null;
  attemptCount: number;
  /** Its samples make more results than are to be made while others wait. */
  needsThread: boolean;
  live: Live | undefined;
  running: RunningStep | undefined;
  /** What is stored behind its final results; undefined where that is not known. */
  provisional: Columns | undefined;
}

/** The stream of an item that has taken all that is stored. */
export interface Live {
  readonly stream: Stream;
  readonly positions: number[];
  emittedMs: number | null;
  sampleCount: number;
}

/** A step that is being computed outside of any transaction. */
export interface RunningStep {
  /** Where the sources stand after it. */
  readonly positions: Positions;
  /** Whether samples before that have changed since they were read. */
  isSpoiled: boolean;
}

const READERS_MAX = 200_000;
/** Of the entries that may be kept, those that are left when there are too many. */
const KEPT_SHARE = 0.9;

/** What the worker knows of a shard between its transactions. */
export class ShardMemory {
  readonly shard: number;
  /** The claim, and the worker's last commit, for which all of this holds. */
  claimSequence = -1;
  absorbedCommit = -1;
  catalogCommit = -1;
  readonly entries = new Map<string, Entry>();
  /** Ids of the items that read a series, by organisation and series; as of `catalogCommit`. */
  readonly readers = new Map<string, readonly string[]>();

  constructor(shard: number) {
    this.shard = shard;
  }

  clear(): void {
    this.claimSequence = -1;
    this.absorbedCommit = -1;
    this.catalogCommit = -1;
    this.entries.clear();
    this.readers.clear();
  }

  /** Between transactions: keeps within bounds. The items that were not used for longest go first. */
  trim({ entriesMax }: Pick<WorkerSizes, 'entriesMax'>): void {
    if (this.readers.size > READERS_MAX) this.readers.clear();
    if (this.entries.size <= entriesMax) return;
    for (const [itemId, { running }] of this.entries) {
      if (running === undefined) this.entries.delete(itemId);
      if (this.entries.size <= KEPT_SHARE * entriesMax) return;
    }
  }

  /** Marks an entry as used last. */
  touch(entry: Entry): void {
    this.entries.delete(entry.row.itemId);
    this.entries.set(entry.row.itemId, entry);
  }
}

/** Whether samples that come now are of concern to an item. */
export function isAtWork({ row }: Entry): boolean {
  return row.state === 'Created' || row.state === 'Running' || row.state === 'Active';
}
