import type { SampleChange } from '../../../storage/samples/samples.js';
import { shardOf } from '../../../storage/shard.js';
import type { ServiceContext } from '../../context.js';
import { type BatchCounts, createSampleBatch, isSound, type SampleBatch, takeRows } from './batch.js';
import type { SampleDefaults } from './json.js';
import { createScan, type Scan, scanJsonSamples } from './scan-json.js';
import type { Ingest } from './sink.js';

/** What became of a body that was gathered. */
export interface Gathered {
  readonly counts: BatchCounts;
  /** Resolves once the samples are on the disk. What it rejects with may be the fault of another body. */
  readonly stored: Promise<void>;
}

/** Gathers bodies that come together, so that they are one row of the log, one transaction and one change a series. */
export interface Gatherer {
  /**
   * Takes a body of JSON, with `SCAN_PADDING` line feeds behind it; undefined, and nothing taken, where it is not of
   * the usual form, or is a small one that lacks values, or goes back in time.
   */
  take(job: Ingest, bytes: Uint8Array): Gathered | undefined;
}

/** Bodies that will be stored together. */
interface Gathering {
  /** Takes no more bodies; gives what came. */
  close(): readonly SampleChange[];
  readonly stored: Promise<void>;
}

/** The samples of an organisation that wait, and the names that its bodies have had. */
interface Table {
  readonly batch: SampleBatch;
  /** Of one large body at a time; its series are those of the other. */
  readonly largeBatch: SampleBatch;
  readonly scan: Scan;
  open: Gathering | undefined;
}

/** Bodies of more bytes gain nothing by company, and would have to be brought into one order with it. */
const GATHERED_BYTES_MAX = 64 * 1024;
/** So many samples are a row of the log that is worth its commit; those that come after them get the next one. */
const SAMPLES_ENOUGH = 50_000;
/** Names are kept from body to body, but not for ever. */
const SERIES_KEPT_MAX = 50_000;
const WORDS_KEPT_MAX = 2 ** 20;
const TABLES_KEPT_MAX = 100;

const NO_DEFAULTS: SampleDefaults = {};

export function createGatherer(context: ServiceContext): Gatherer {
  const tables = new Map<string, Table>();
  return {
    take: (job, bytes) => {
      const table = openTable(tables, job.organisation);
      const isLarge = bytes.length > GATHERED_BYTES_MAX;
      return isLarge ? takeLarge(context, job, table, bytes) : takeSmall(context, job, table, bytes);
    },
  };
}

function takeLarge(context: ServiceContext, job: Ingest, table: Table, bytes: Uint8Array): Gathered | undefined {
  const { largeBatch: batch, scan } = table;
  if (!scanJsonSamples(bytes, batch, job.defaults, scan)) return undefined;
  const { changes, counts } = takeRows(batch);
  return { counts, stored: changes.length === 0 ? Promise.resolve() : store(context, job, () => changes) };
}

function takeSmall(context: ServiceContext, job: Ingest, table: Table, bytes: Uint8Array): Gathered | undefined {
  const { batch, scan } = table;
  const { rowCount } = batch;
  if (!scanJsonSamples(bytes, batch, job.defaults, scan) || !isSound(batch, rowCount)) {
    batch.rowCount = rowCount;
    return undefined;
  }
  const counts = { samples: batch.rowCount - rowCount, missing: 0, duplicate: 0 };
  if (counts.samples === 0) return { counts, stored: Promise.resolve() };
  table.open ??= begin(context, job, table);
  const { stored, close } = table.open;
  if (batch.rowCount >= SAMPLES_ENOUGH) close();
  return { counts, stored };
}

function openTable(tables: Map<string, Table>, organisation: string): Table {
  let table = tables.get(organisation);
  // What is open goes on with the table that it has.
  if (table !== undefined && !isTooLarge(table)) return table;
  if (tables.size >= TABLES_KEPT_MAX) tables.clear();
  const batch = createSampleBatch();
  const { series, indexes } = batch;
  const largeBatch = { ...createSampleBatch(), series, indexes };
  table = { batch, largeBatch, scan: createScan(NO_DEFAULTS), open: undefined };
  tables.set(organisation, table);
  return table;
}

function isTooLarge({ batch, scan }: Table): boolean {
  return (
    batch.series.length > SERIES_KEPT_MAX ||
    scan.ids.count + scan.metrics.count > 2 * SERIES_KEPT_MAX ||
    scan.moulds.wordCount > WORDS_KEPT_MAX
  );
}

/** Has what comes into the batch until it is closed stored. */
function begin(context: ServiceContext, job: Ingest, table: Table): Gathering {
  let changes: readonly SampleChange[] | undefined;
  const close = (): readonly SampleChange[] => {
    if (changes === undefined) {
      changes = takeRows(table.batch).changes;
      table.open = undefined;
    }
    return changes;
  };
  return { close, stored: store(context, job, close) };
}

/** @param close gives what is to be stored: called when it is its turn, or cannot be. */
async function store(
  { storage, samples }: ServiceContext,
  { organisation, onStored }: Ingest,
  close: () => readonly SampleChange[],
): Promise<void> {
  const shard = shardOf(organisation);
  try {
    await storage.transaction(shard, async (tx) => {
      // What comes until this work has its turn is of it; work that is run again finds the same.
      await samples.append(tx, organisation, close());
      onStored(shard);
    });
  } finally {
    close();
  }
}
