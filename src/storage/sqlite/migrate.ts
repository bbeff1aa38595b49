import { StorageError } from '../errors.js';
import { SHARD_COUNT } from '../shard.js';
import type { Table } from '../table.js';
import { tables as ownTables } from '../tables/index.js';
import type { Database } from './database.js';
import { createTable, type Migration, migrations } from './migrations.js';

/** What tells a file of windrow from other SQLite files: 'wndr'. */
const APPLICATION_ID = 0x776e6472;

interface Schema {
  readonly tables: readonly Table<never>[];
  readonly migrations: readonly Migration[];
}

/**
 * Makes the tables of a new store, or brings an older one to this version, all at once or not at all.
 * Version 1 is what the first release made; each migration adds one.
 *
 * @param path for messages.
 * @param recover brings in what stands beside the file, once that is known to be a store, or to become a new one.
 * @throws StorageError for a store that is newer, has another count of shards, or is none.
 */
export function migrate(
  database: Database,
  path: string,
  schema: Partial<Schema> = {},
  recover: (isNew: boolean) => void = () => {},
): void {
  const { tables = ownTables, migrations: steps = migrations } = schema;
  const version = versionOf(database, path);
  const target = 1 + steps.length;
  if (version > target) {
    throw new StorageError(
      'storage.newer',
      `${path}: the store has version ${version}, and this windrow knows versions up to ${target}; ` +
        'start the windrow that wrote it, or a newer one',
    );
  }
  recover(version === 0);
  if (version < target) inTransaction(database, () => bring(database, version, { tables, migrations: steps }));
  checkShardCount(database, path);
}

function bring(database: Database, version: number, { tables, migrations: steps }: Schema): void {
  if (version === 0) createStore(database, tables);
  else for (const step of steps.slice(version - 1)) step(database);
  database.exec(`PRAGMA user_version = ${1 + steps.length}`);
}

function createStore(database: Database, tables: readonly Table<never>[]): void {
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  database.exec('CREATE TABLE "windrow_meta" ("name" TEXT PRIMARY KEY, "value" TEXT NOT NULL) WITHOUT ROWID');
  database.run('INSERT INTO "windrow_meta" VALUES (?, ?)', ['shardCount', String(SHARD_COUNT)]);
  database.exec(
    'CREATE TABLE "windrow_shard" ("shard" INTEGER PRIMARY KEY, "commit" INTEGER NOT NULL, "owner" TEXT, ' +
      '"sequence" INTEGER NOT NULL, "leaseUntilMs" REAL NOT NULL)',
  );
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    database.run('INSERT INTO "windrow_shard" VALUES (?, 0, NULL, 0, 0)', [shard]);
  }
  for (const statement of tables.flatMap((table) => createTable(table))) database.exec(statement);
}

function versionOf(database: Database, path: string): number {
  const version = numberOf(database, 'user_version');
  const isOurs = numberOf(database, 'application_id') === APPLICATION_ID;
  const isEmpty = database.all('SELECT 1 FROM "sqlite_master" LIMIT 1').length === 0;
  if (isEmpty || (isOurs && version > 0)) return isEmpty ? 0 : version;
  throw new StorageError('storage.damaged', `${path}: this SQLite file is no store of windrow; use another directory`);
}

function checkShardCount(database: Database, path: string): void {
  const [row] = database.all('SELECT "value" FROM "windrow_meta" WHERE "name" = ?', ['shardCount']);
  if (row?.value === String(SHARD_COUNT)) return;
  throw new StorageError(
    'storage.newer',
    `${path}: the store has ${row?.value ?? 'no'} shards, and this windrow works with ${SHARD_COUNT}: ` +
      'its keys would not be found; start the windrow that wrote it',
  );
}

function numberOf(database: Database, pragma: 'user_version' | 'application_id'): number {
  return Number(database.all(`PRAGMA ${pragma}`)[0]![pragma]);
}

function inTransaction(database: Database, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // SQLite has undone it already; what is thrown says why.
    }
    throw error;
  }
}
