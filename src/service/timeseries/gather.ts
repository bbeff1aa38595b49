import type { SampleChange } from '../../storage/samples/samples.js';
import { shardOf } from '../../storage/shard.js';
import type { ServiceContext } from '../context.js';
import type { SampleDefaults } from './read-json.js';
import { createSampleBatch, isSound, type SampleBatch, takeRows } from './sample-batch.js';
import { createScan, type Scan } from './scan.js';
import { scanJsonSamples } from './scan-json.js';
import type { Ingest } from './sink.js';

/** What became of a body that was gathered. */
export interface Gathered {
  readonly sampleCount: number;
  /** Resolves once the samples are on the disk. What it rejects with may be the fault of another body. */
  readonly stored: Promise<void>;
}

/** Gathers bodies that come together, so that they are one row of the log, one transaction and one change a series. */
export interface Gatherer {
  /**
   * Takes a body of JSON, with `SCAN_PADDING` line feeds behind it; undefined, and nothing taken, where it is not of
   * the usual form, lacks values, or has two samples of one time.
   */
  take(job: Ingest, bytes: Uint8Array): Gathered | undefined;
}

/** Bodies that will be stored together. */
interface Gathering {
  /** Undefined while more bodies may come. */
  changes: readonly SampleChange[] | undefined;
  readonly stored: Promise<void>;
}

/** The samples of an organisation that wait, and the names that its bodies have had. */
interface Table {
  readonly batch: SampleBatch;
  readonly scan: Scan;
  open: Gathering | undefined;
}

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
      const { batch, scan } = table;
      const { rowCount } = batch;
      if (!scanJsonSamples(bytes, batch, job.defaults, scan) || !isSound(batch, rowCount)) {
        batch.rowCount = rowCount;
        return undefined;
      }
      const sampleCount = batch.rowCount - rowCount;
      if (sampleCount === 0) return { sampleCount, stored: Promise.resolve() };
      table.open ??= begin(context, job, table);
      const { stored } = table.open;
      if (batch.rowCount >= SAMPLES_ENOUGH) close(table, table.open);
      return { sampleCount, stored };
    },
  };
}

function openTable(tables: Map<string, Table>, organisation: string): Table {
  let table = tables.get(organisation);
  // What is open goes on with the table that it has.
  if (table !== undefined && !isTooLarge(table)) return table;
  if (tables.size >= TABLES_KEPT_MAX) tables.clear();
  table = { batch: createSampleBatch(), scan: createScan(NO_DEFAULTS), open: undefined };
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

function begin({ storage, samples }: ServiceContext, { organisation, onStored }: Ingest, table: Table): Gathering {
  const shard = shardOf(organisation);
  const store = async (): Promise<void> => {
    try {
      await storage.transaction(shard, async (tx) => {
        // What comes until this work has its turn is of it; work that is run again finds the same.
        await samples.append(tx, organisation, close(table, gathering));
        onStored(shard);
      });
    } finally {
      close(table, gathering);
    }
  };
  const gathering: Gathering = { changes: undefined, stored: Promise.resolve().then(store) };
  return gathering;
}

function close(table: Table, gathering: Gathering): readonly SampleChange[] {
  if (gathering.changes === undefined) {
    gathering.changes = takeRows(table.batch).changes;
    table.open = undefined;
  }
  return gathering.changes;
}
