import { groupBy } from '../../../core/group.js';
import { nextDouble } from '../../../core/next-double.js';
import { type SeriesReference, seriesKey, TIME_MS_END, TIME_MS_MIN } from '../../../core/series.js';
import { DamagedSamplesError } from '../../../storage/errors.js';
import { readProgress } from '../../../storage/samples/progress.js';
import {
  type Columns,
  ForgottenChangesError,
  type LoggedChange,
  type Preview,
} from '../../../storage/samples/samples.js';
import { equal, type Reader } from '../../../storage/storage.js';
import {
  AFTER_REPLICATION_MS,
  itemCatalog,
  itemSources,
  itemWork,
  type ReplicaRow,
  replicas,
  replicationProgress,
} from '../../../storage/tables/operations.js';
import type { ServiceContext } from '../../context.js';
import { noteChange } from '../catalog.js';
import type { Session } from './session.js';
import type { WorkerSizes } from './sizes.js';

const CHANGES_READ = 1000;
/** A position without changes is written only when it is more commits behind than this, or behind compaction. */
const COMMITS_BEHIND_MAX = 255;

/** Runs a job in a transaction of the shard, under its claim. */
type InSession = <Result>(work: (session: Session) => Promise<Result>) => Promise<Result | undefined>;

type OwnedPreview = Preview & { readonly organisation: string };

/** The changes in another shard for the replicas of its series. */
interface News {
  /** The commit up to which this is complete. */
  readonly lastCommit: number;
  /** The commit up to which changes may be in segments, from where retention deletes what all shards have copied. */
  readonly roundCommit: number;
  readonly isAll: boolean;
  /** Whether the log no longer reaches back to the start of the changes. */
  readonly isForgotten: boolean;
  readonly changes: readonly LoggedChange[];
  readonly previews: readonly OwnedPreview[];
  /** Series that have become the result of another item, or of none. */
  readonly moved: readonly { readonly row: ReplicaRow; readonly itemId: string | null }[];
}

/**
 * Keeps the replicas of a shard up to date: fills new ones from their source shards, and follows the logs of these by
 * position. Each read sees the state of one commit there, and each change sets or deletes samples of an instant. So a
 * change that is applied twice, or that is older than the filled samples, does no harm once all later ones are
 * applied.
 */
export class Replication {
  readonly #context: ServiceContext;
  readonly #shard: number;
  readonly #sizes: WorkerSizes;
  readonly #inSession: InSession;
  #catalogCommit = -1;
  /** By shard and name, as of that commit of the catalogue. */
  #replicas = new Map<number, Map<string, ReplicaRow>>();
  /** By shard: how far its log has been read, which may be further than is stored. */
  readonly #readCommits = new Map<number, number>();
  /** By name: the commit that wrote the provisional samples of a replica. */
  readonly #previewCommits = new Map<string, number>();
  #hasWritten = false;

  constructor(context: ServiceContext, shard: number, sizes: WorkerSizes, inSession: InSession) {
    this.#context = context;
    this.#shard = shard;
    this.#sizes = sizes;
    this.#inSession = inSession;
  }

  /** Whether there are replicas of series of that shard. */
  isOf(sourceShard: number): boolean {
    return this.#replicas.has(sourceShard);
  }

  /**
   * Applies the latest changes of the other shards.
   *
   * @param behindMax how many commits a stored position may be behind.
   * @returns whether anything has changed.
   */
  async run(behindMax = COMMITS_BEHIND_MAX): Promise<boolean> {
    this.#hasWritten = false;
    try {
      // If the catalogue changes in between, start again.
      while (!(await this.#runOnce(behindMax)));
    } catch (error) {
      this.#catalogCommit = -1;
      this.#previewCommits.clear();
      throw error;
    }
    return this.#hasWritten;
  }

  async #runOnce(behindMax: number): Promise<boolean> {
    const found = await this.#context.storage.read(this.#shard, (tx) => this.#readState(tx));
    for (const { sourceShard, readCommit } of found.progress) {
      if (!(await this.#follow(sourceShard, readCommit, behindMax))) return false;
      for (const row of this.#replicas.get(sourceShard)?.values() ?? []) {
        if (!row.isFilled && !(await this.#fill(row))) return false;
      }
    }
    // All that was stored when they were registered is copied now.
    if (found.waiting.length > 0) await this.#release(found.waiting);
    return true;
  }

  async #readState(tx: Reader) {
    const progress = await tx.find(replicationProgress);
    if (progress.length === 0) return { progress, waiting: [] };
    const catalogCommit = (await tx.get(itemCatalog, { name: 'items' }))?.commit ?? 0;
    if (this.#catalogCommit !== catalogCommit) {
      this.#replicas = new Map();
      for (const row of await tx.find(replicas)) this.#keep(row);
      this.#catalogCommit = catalogCommit;
    }
    const waiting = await tx.find(itemWork, { where: equal({ dueMs: AFTER_REPLICATION_MS }) });
    return { progress, waiting };
  }

  #keep(row: ReplicaRow): void {
    const ofShard = this.#replicas.get(row.sourceShard) ?? new Map<string, ReplicaRow>();
    this.#replicas.set(row.sourceShard, ofShard.set(keyOf(row), row));
  }

  /** Applies the changes of a shard up to its last commit. @returns false if the catalogue has changed meanwhile. */
  async #follow(sourceShard: number, writtenCommit: number | null, behindMax: number): Promise<boolean> {
    const known = this.#replicas.get(sourceShard) ?? new Map<string, ReplicaRow>();
    for (let written = writtenCommit; ; ) {
      const from = written === null ? null : Math.max(written, this.#readCommits.get(sourceShard) ?? 0);
      const found = await this.#context.storage.read(sourceShard, (tx) => readNews(this.#context, tx, known, from));
      const previews = found.previews.filter((one) => this.#previewCommits.get(keyOf(one)) !== one.commit);
      const news = { ...found, previews };
      const { lastCommit, roundCommit, isAll, isForgotten, changes, moved } = news;
      const isNews = isForgotten || changes.length + previews.length + moved.length > 0;
      if (isNews || written === null || lastCommit - written > behindMax || written < roundCommit) {
        const isDone = await this.#write(async (session) => {
          const now = await session.tx.get(replicationProgress, { sourceShard });
          if (session.catalogCommit !== this.#catalogCommit || now?.readCommit !== written) return false;
          await this.#take(session, known, news);
          await session.writer.put(replicationProgress, { sourceShard, readCommit: lastCommit });
          return true;
        });
        if (!isDone) return false;
        for (const one of previews) this.#previewCommits.set(keyOf(one), one.commit);
        written = lastCommit;
      }
      this.#readCommits.set(sourceShard, lastCommit);
      // Other items read them now, so the catalogue must be read again.
      if (moved.length > 0) return false;
      if (isAll) return true;
    }
  }

  async #take(session: Session, known: Map<string, ReplicaRow>, news: News): Promise<void> {
    const { samples } = this.#context;
    const { moved, isForgotten, changes, previews } = news;
    for (const [, row] of isForgotten ? known : []) {
      await this.#put(session, { ...row, isFilled: false, filledMs: null });
    }
    for (const { row, itemId } of moved) {
      await samples.mark(session.writer, row.organisation, row, itemId);
      await this.#put(session, { ...row, itemId, isFilled: false, filledMs: null });
    }
    if (moved.length > 0) await noteChange(session.writer);
    const damaged = new Set(changes.filter(({ damage }) => damage !== undefined).map(keyOf));
    for (const key of damaged) await this.#put(session, { ...known.get(key)!, isFilled: false, filledMs: null });
    // These are filled again, with what is stored by then.
    const gone = new Set([...damaged, ...moved.map(({ row }) => keyOf(row))]);
    const ownerOf = (change: LoggedChange) =>
      JSON.stringify([change.organisation, known.get(keyOf(change))?.itemId ?? null]);
    for (const [owner, own] of groupBy(changes, ownerOf)) {
      // `as`: written by `ownerOf`.
      const [organisation, itemId] = JSON.parse(owner) as [string, string | null];
      const kept = own.filter((change) => !gone.has(keyOf(change)));
      await session.takeReplicated(organisation, itemId, kept);
    }
    for (const { organisation, commit: _, ...result } of previews) {
      if (!gone.has(keyOf({ organisation, ...result }))) await session.takePreview(organisation, result);
    }
  }

  /** Copies a series, some samples at a time. @returns false if its replica has changed. */
  async #fill(unfilled: ReplicaRow): Promise<boolean> {
    const { storage, log, samples } = this.#context;
    if (!unfilled.isFilled) await samples.log.load(storage, unfilled.sourceShard);
    const isNew = unfilled.filledMs === null && (await this.#isEmpty(unfilled));
    for (let row = unfilled; !row.isFilled; ) {
      const begun = row;
      try {
        const slice = await storage.read(row.sourceShard, (tx) =>
          readSlice(this.#context, tx, begun, isNew, this.#sizes),
        );
        const next = await this.#write((session) => this.#takeSlice(session, begun, slice));
        if (next === undefined) return false;
        row = next;
      } catch (err) {
        if (!(err instanceof DamagedSamplesError)) throw err;
        const { organisation, timeseriesId, metric } = row;
        log.warn({ err, organisation, timeseriesId, metric }, 'a series was not copied for the items that read it');
        return true;
      }
    }
    return true;
  }

  async #isEmpty({ organisation, timeseriesId, metric }: ReplicaRow): Promise<boolean> {
    const { storage, samples } = this.#context;
    return storage.read(this.#shard, (tx) => samples.isEmpty(tx, organisation, { timeseriesId, metric }));
  }

  async #takeSlice(
    session: Session,
    begun: ReplicaRow,
    { itemId, fromMs, columns, isLast, preview }: ReplicaSlice,
  ): Promise<ReplicaRow | undefined> {
    const { organisation, timeseriesId, metric } = begun;
    const series = { timeseriesId, metric };
    const now = await session.tx.get(replicas, { organisation, ...series });
    if (now === undefined || now.isFilled || now.filledMs !== begun.filledMs) return undefined;
    // It belongs to another item since the copy began: start again.
    const isMoved = begun.filledMs !== null && begun.itemId !== itemId;
    if (isMoved) return this.#put(session, { ...begun, itemId, filledMs: null });
    await this.#context.samples.mark(session.writer, organisation, series, itemId);
    const lastMs = columns.timeMs.at(-1);
    const untilMs = isLast || lastMs === undefined ? TIME_MS_END : nextDouble(lastMs);
    const change = { organisation, commit: session.tx.commit, ...series, ...columns, deleted: { fromMs, untilMs } };
    await session.takeReplicated(organisation, itemId, [change]);
    if (preview !== undefined) await session.takePreview(organisation, preview);
    return this.#put(session, { ...begun, itemId, isFilled: isLast, filledMs: lastMs ?? begun.filledMs });
  }

  async #put(session: Session, row: ReplicaRow): Promise<ReplicaRow> {
    await session.writer.put(replicas, row);
    this.#keep(row);
    return row;
  }

  /** Starts items whose replicas are complete. */
  async #release(waiting: readonly { readonly organisation: string; readonly itemId: string }[]): Promise<void> {
    await this.#write(async (session) => {
      const unfilled = await session.tx.find(replicas, { where: equal({ isFilled: false }) });
      const missing = new Set(unfilled.map(keyOf));
      for (const { organisation, itemId } of waiting) {
        const work = await session.tx.get(itemWork, { organisation, itemId });
        if (work?.dueMs !== AFTER_REPLICATION_MS) continue;
        const sources = await session.tx.find(itemSources, { where: equal({ organisation, itemId }) });
        if (!sources.some((source) => missing.has(keyOf(source)))) await session.release(organisation, itemId);
        await session.countWork();
      }
    });
  }

  async #write<Result>(work: (session: Session) => Promise<Result>): Promise<Result | undefined> {
    this.#hasWritten = true;
    return this.#inSession(work);
  }
}

async function readNews(
  { samples }: ServiceContext,
  tx: Reader,
  known: ReadonlyMap<string, ReplicaRow>,
  from: number | null,
): Promise<News> {
  const { lastCommit } = tx;
  const progress = await readProgress(tx);
  const { roundCommit } = progress;
  const nothing = { lastCommit, roundCommit, isAll: true, isForgotten: false, changes: [], previews: [], moved: [] };
  if (from === null || from >= lastCommit) return nothing;
  const begun = [...known.values()].filter(({ isFilled, filledMs }) => isFilled || filledMs !== null);
  const moved = await findMoved(samples, tx, begun, from, progress.droppedCommit);
  const names = new Set(begun.map(keyOf));
  const isWanted = (organisation: string, series: SeriesReference) => names.has(keyOf({ organisation, ...series }));
  try {
    const read = await samples.changesAfter(tx, from, CHANGES_READ, isWanted);
    if (!read.isAll) return { ...nothing, ...read, moved };
    const { changes } = read;
    const previews = [];
    for (const [organisation, own] of groupBy(begun, (row) => row.organisation)) {
      const results = own.filter(({ itemId, isFilled }) => isFilled && itemId !== null);
      for (const one of await samples.provisionalOf(tx, organisation, results)) previews.push({ organisation, ...one });
    }
    return { ...nothing, changes, previews, moved };
  } catch (error) {
    if (error instanceof ForgottenChangesError) return { ...nothing, isForgotten: true };
    throw error;
  }
}

/** The series that have become the result of another item, or of none, since a commit. */
async function findMoved(
  samples: ServiceContext['samples'],
  tx: Reader,
  rows: readonly ReplicaRow[],
  from: number,
  droppedCommit: number,
) {
  const catalog = await tx.get(itemCatalog, { name: 'items' });
  const moved: { row: ReplicaRow; itemId: string | null }[] = [];
  if (Math.max(droppedCommit, catalog?.commit ?? 0) <= from) return moved;
  for (const [organisation, own] of groupBy(rows, (row) => row.organisation)) {
    const itemIds = await samples.itemIdsOf(tx, organisation, own);
    for (const [index, row] of own.entries()) {
      const itemId = itemIds[index] ?? null;
      if (itemId !== row.itemId) moved.push({ row, itemId });
    }
  }
  return moved;
}

/** The next samples of a series after those that its replica has. */
interface ReplicaSlice {
  readonly itemId: string | null;
  readonly fromMs: number;
  readonly columns: Columns;
  readonly isLast: boolean;
  readonly preview: Preview | undefined;
}

async function readSlice(
  { samples }: ServiceContext,
  tx: Reader,
  { organisation, filledMs, ...series }: ReplicaRow,
  isNew: boolean,
  { sliceSamples: limit }: WorkerSizes,
): Promise<ReplicaSlice> {
  const [itemId = null] = await samples.itemIdsOf(tx, organisation, [series]);
  // Samples that retention deleted are no change for items: their results stay. Some may have been sent again.
  const forgottenMs = isNew ? undefined : await samples.forgottenMs(tx, organisation, [series]);
  const afterMs = filledMs ?? forgottenMs;
  const fromMs = afterMs === undefined ? TIME_MS_MIN : nextDouble(afterMs);
  const columns = await samples.read(tx, organisation, series, { fromMs, limit, isFinalOnly: true });
  const isLast = columns.timeMs.length < limit;
  const isPreviewed = isLast && itemId !== null;
  const previews = isPreviewed ? await samples.provisionalOf(tx, organisation, [series]) : [];
  return { itemId, fromMs, columns, isLast, preview: previews[0] };
}

function keyOf({ organisation, ...series }: SeriesReference & { readonly organisation: string }): string {
  return JSON.stringify([organisation, seriesKey(series)]);
}
