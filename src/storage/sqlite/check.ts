import { join } from 'node:path';
import type { SeriesReference } from '../../core/series.js';
import { StorageError } from '../errors.js';
import { nextTurn } from '../next-turn.js';
import { quotedName } from '../samples/damage.js';
import { inspectRow, nameOfRow } from '../samples/log-row.js';
import { compactedOf, type Progress, START } from '../samples/progress.js';
import { unpackProvisional, unpackSegments } from '../samples/segments.js';
import { columnNames, quote } from '../sql/statements.js';
import type { Table } from '../table.js';
import { checkpointChecksum, itemCheckpoints } from '../tables/operations.js';
import {
  provisionalSamples,
  type SampleLogRow,
  type SeriesRow,
  sampleLog,
  sampleProgress,
  segments,
  series,
} from '../tables/samples.js';
import { type Database, loadSqlite, type OpenDatabase, SqliteFailure, type SqlRow } from './database.js';
import { decodeRows } from './dialect.js';
import { explained, FILE_NAME, faultsOf, hasStore, ON_ANOTHER_DISK } from './open.js';
import { newestVersion, readVersion } from './schema.js';
import { findUnreadable, unlessUnreadable } from './unreadable.js';

/** The findings of `windrow check`. */
export interface StoreReport {
  readonly version: number;
  /** Whether an older version wrote it: then only the structure of its file was checked, and nothing was counted. */
  readonly isOlder: boolean;
  readonly seriesCount: number;
  readonly sampleCount: number;
  readonly segmentCount: number;
  /** Log rows that are not in segments yet. */
  readonly logRowCount: number;
  readonly checkpointCount: number;
  /** One sentence for each fault; empty if the store is whole. */
  readonly faults: readonly string[];
}

/** Reads all of a store, at one moment, while servers may use it. */
export async function checkStore(directory: string): Promise<StoreReport> {
  const path = join(directory, FILE_NAME);
  if (!hasStore(directory)) {
    throw new StorageError('file.missing', `${directory}: there is no store of windrow; check the directory`);
  }
  const open = await loadSqlite();
  try {
    const report = await readStore(open, path);
    const unreadable = report.faults.length === 0 ? undefined : findUnreadable(path, ON_ANOTHER_DISK);
    if (unreadable !== undefined) throw unreadable;
    return report;
  } catch (error) {
    const failure = unlessUnreadable(error, path, ON_ANOTHER_DISK);
    const isDamaged = failure instanceof SqliteFailure && failure.kind === 'damaged';
    if (!isDamaged) throw explained(failure, directory);
    const message = `${path}: this file is damaged, or not an SQLite file (${failure.message}); restore a backup`;
    throw new StorageError('storage.damaged', message, { cause: failure });
  }
}

async function readStore(open: OpenDatabase, path: string): Promise<StoreReport> {
  let database: Database | undefined;
  try {
    database = open(path);
    database.exec('PRAGMA busy_timeout = 5000; BEGIN');
    const version = readVersion(database, path, {});
    const faults: string[] = faultsOf(database).map((fault) => `${FILE_NAME}: ${fault}`);
    if (version === 0) faults.push(`${FILE_NAME}: the file is empty; restore a backup`);
    const isOlder = version > 0 && version < newestVersion();
    const counts = isOlder || version === 0 ? NOTHING : await readAll(database, faults);
    return { version, isOlder, faults, ...counts };
  } finally {
    if (database?.isInTransaction) database.exec('ROLLBACK');
    database?.close();
  }
}

/**
 * The faults of what a store of this version holds, a sentence each; those of the file itself are not looked for.
 *
 * @param check throws to stop it; asked again and again.
 */
export async function faultsOfContent(database: Database, check: () => void): Promise<readonly string[]> {
  const faults: string[] = [];
  await readAll(database, faults, check);
  return faults;
}

const NOTHING = {
  seriesCount: 0,
  sampleCount: 0,
  segmentCount: 0,
  logRowCount: 0,
  checkpointCount: 0,
};

async function readAll(
  database: Database,
  faults: string[],
  check = () => {},
): Promise<Omit<StoreReport, 'version' | 'isOlder' | 'faults'>> {
  const count = { ...NOTHING };
  const countOf = new Map<string, number>();
  const attempt = (work: () => void, name = () => ''): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      faults.push(`${name()}${error.message}`);
    }
  };
  const nameOf = (shard: number, seriesKey: number) => () => nameOfSeries(database, shard, seriesKey);
  const eachRow = <Row>(table: Table<Row>, work: (row: Row, shard: number) => void) =>
    readRows(database, table, faults, work, check);
  await eachRow(segments, (row, shard) => {
    count.segmentCount++;
    count.sampleCount += row.sampleCount;
    const key = `${shard} ${row.seriesKey}`;
    countOf.set(key, (countOf.get(key) ?? 0) + row.sampleCount);
    attempt(() => unpackSegments([row]), nameOf(shard, row.seriesKey));
  });
  const progressOf = new Map<number, Progress>();
  await eachRow(sampleProgress, (row, shard) => void progressOf.set(shard, row));
  await eachRow(sampleLog, (row, shard) => {
    attempt(() => {
      const { heads, damage } = inspectRow(row);
      const isCompacted = isInSegments(row, heads.keys, progressOf.get(shard) ?? START);
      if (!isCompacted) count.logRowCount++;
      if (damage === undefined) return;
      // It stays for those who follow the series.
      const fault = isCompacted ? `${nameOfRow(row)}, ${COMPACTED}` : damage.error.message;
      faults.push(`${fault}${namesOf(database, shard, heads.keys)}`);
    });
  });
  await eachRow(itemCheckpoints, (row) => {
    const { itemId, ordinal, checksum } = row;
    count.checkpointCount++;
    if (checksum !== checkpointChecksum(row)) {
      faults.push(`checkpoint ${ordinal} of item ${itemId} is damaged; the service recomputes it`);
    }
  });
  await eachRow(provisionalSamples, (row, shard) => {
    attempt(() => unpackProvisional(row), nameOf(shard, row.seriesKey));
  });
  await eachRow(series, (row, shard) => {
    count.seriesCount++;
    const found = countOf.get(`${shard} ${row.seriesKey}`) ?? 0;
    if (found === row.sampleCount) return;
    faults.push(`${named(row)}its segments hold ${found} samples instead of ${row.sampleCount}`);
  });
  return count;
}

const COMPACTED =
  'are damaged on the disk in the log alone: they are in segments, all of them can be read, and compaction deletes ' +
  'the row later';

function isInSegments({ commit }: SampleLogRow, keys: readonly number[], progress: Progress): boolean {
  // Without keys, it may be of any series.
  return (
    commit <= progress.compactedCommit || (keys.length > 0 && keys.every((key) => commit <= compactedOf(progress, key)))
  );
}

type NamedSeries = Pick<SeriesRow, 'organisation' | keyof SeriesReference>;

/** A series, for the beginning of a message. */
function named(of: NamedSeries): string {
  return `${of.organisation}: ${quotedName(of)}: `;
}

/** The same of a key; empty if its series is not there, or cannot be read. */
function nameOfSeries(database: Database, shard: number, seriesKey: number): string {
  try {
    const row = seriesOf(database, shard, seriesKey);
    return row === undefined ? '' : named(row);
  } catch (error) {
    if (error instanceof SqliteFailure) return '';
    throw error;
  }
}

function seriesOf(database: Database, shard: number, seriesKey: number): NamedSeries | undefined {
  const sql = 'SELECT "organisation", "timeseriesId", "metric" FROM "series" WHERE "shard" = ? AND "seriesKey" = ?';
  // `as`: the columns of the table.
  return database.all(sql, [shard, seriesKey])[0] as unknown as NamedSeries | undefined;
}

const NAMES_MAX = 10;

/** Some of the series that a damaged row is about, for a message. */
function namesOf(database: Database, shard: number, keys: readonly number[]): string {
  const names = keys.slice(0, NAMES_MAX).map((key) => {
    const row = seriesOf(database, shard, key);
    return row === undefined ? `(key ${key}, deleted)` : `${JSON.stringify(row.timeseriesId)} ${row.metric}`;
  });
  if (names.length === 0) return '';
  return ` (${names.join(', ')}${keys.length > NAMES_MAX ? ', …' : ''})`;
}

const ROWS_READ = 64;

/**
 * Reads all rows of a table in the order of its key, some in each turn of the event loop. A page that cannot be read is
 * a fault and ends the table.
 *
 * @param check throws to stop it.
 */
async function readRows<Row>(
  database: Database,
  table: Table<Row>,
  faults: string[],
  work: (row: Row, shard: number) => void,
  check: () => void,
): Promise<void> {
  const key = ['shard', ...table.key].map(quote).join(', ');
  const names = ['shard', ...columnNames(table)].map(quote).join(', ');
  const places = ['shard', ...table.key].map(() => '?').join(', ');
  let after: readonly SqlRow[string][] | undefined;
  try {
    for (;;) {
      const where = after === undefined ? '' : `WHERE (${key}) > (${places})`;
      const sql = `SELECT ${names} FROM ${quote(table.name)} ${where} ORDER BY ${key} LIMIT ${ROWS_READ}`;
      await nextTurn();
      check();
      const rows = database.all(sql, after);
      const last = rows.at(-1);
      after = last === undefined ? undefined : ['shard', ...table.key].map((name) => last[name] ?? null);
      const shards = rows.map(({ shard }) => Number(shard));
      for (const [i, row] of decodeRows(table, rows).entries()) work(row, shards[i]!);
      if (rows.length < ROWS_READ) return;
    }
  } catch (error) {
    if (!(error instanceof SqliteFailure)) throw error;
    faults.push(`the table ${table.name} cannot be read to its end: ${error.message}`);
  }
}
