import { StorageError } from '../errors.js';
import { SHARD_COUNT } from '../shard.js';
import { columnNames, quote } from '../sql/statements.js';
import type { Column, ColumnType, Table } from '../table.js';
import { tables as ownTables } from '../tables/index.js';
import type { Connection } from './connection.js';

/** Brings a store from one version to the next. */
export interface Migration {
  readonly sql: string;
  /** Whether processes of the version before cannot work with what it makes: all of them are stopped first. */
  readonly isBreaking?: boolean;
}

/**
 * From version 1 to 2, from 2 to 3, … A new store is made from the tables as they are now, so what changes a table
 * after a release also adds a step here. During a rolling upgrade processes of the version before go on with the new
 * tables: a step adds tables, indexes and columns that may be null or have a default, and anything else is breaking.
 */
const migrations: readonly Migration[] = [
  {
    // Organisations whose series lie in several shards.
    sql: `CREATE TABLE "organisations" ("shard" int NOT NULL, "organisation" text COLLATE "C" NOT NULL,
        "groupCount" int8 NOT NULL, "createdMs" int8 NOT NULL, PRIMARY KEY ("shard", "organisation"))
        WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
      CREATE TABLE "replicas" ("shard" int NOT NULL, "organisation" text COLLATE "C" NOT NULL,
        "timeseriesId" text COLLATE "C" NOT NULL, "metric" text COLLATE "C" NOT NULL, "sourceShard" int8 NOT NULL,
        "itemId" text COLLATE "C", "isFilled" boolean NOT NULL, "filledMs" float8,
        PRIMARY KEY ("shard", "organisation", "timeseriesId", "metric"))
        WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
      CREATE TABLE "replication_progress" ("shard" int NOT NULL, "sourceShard" int8 NOT NULL, "readCommit" int8,
        PRIMARY KEY ("shard", "sourceShard"))
        WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  },
  // Rows of the log in a form that processes of before do not read (`samples/log-row.ts`); no table changes.
  { sql: 'SELECT 1', isBreaking: true },
];

export interface Schema {
  readonly tables?: readonly Table<never>[];
  /** The steps from version 1 on. */
  readonly migrations?: readonly Migration[];
}

/** Of locks that windrow takes in a database: 'wndr'. */
export const LOCK_CLASS = 0x776e6472;
const SCHEMA_LOCK = 0;

/**
 * Makes the tables of a new store, or brings an older one to this version, all at once or not at all.
 *
 * @throws StorageError for a store that is newer than this can work with, or has another count of shards.
 */
export async function migrate(connection: Connection, address: string, schema: Schema): Promise<void> {
  const { tables = ownTables, migrations: steps = migrations } = schema;
  const newest = 1 + steps.length;
  if ((await readVersion(connection, address, newest)) >= newest) return;
  try {
    await connection.exec(`BEGIN; SELECT pg_advisory_xact_lock(${LOCK_CLASS}, ${SCHEMA_LOCK})`);
    // Asked again now that nobody else makes tables: another process may have done it meanwhile.
    const version = await readVersion(connection, address, newest);
    const sql = version === 0 ? createStore(tables, newest) : upgrade(steps, version);
    await connection.exec(`${sql}; COMMIT`);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The version of the store, 0 where there is none. */
async function readVersion(connection: Connection, address: string, newest: number): Promise<number> {
  // By the catalogue's rows: a name that was looked up before is remembered as not there, in the same transaction.
  const [found = []] = await connection.exec(
    `SELECT FROM pg_class WHERE "relname" = 'windrow_meta' AND "relnamespace" = current_schema()::regnamespace`,
  );
  if (found.length === 0) return 0;
  const [rows = []] = await connection.exec('SELECT "name", "value" FROM "windrow_meta"');
  const meta = new Map(rows.map(({ name, value }) => [String(name), Number(value)]));
  const [version = 0, oldest = 0, shardCount] = ['version', 'oldestVersion', 'shardCount'].map((name) =>
    meta.get(name),
  );
  if (newest < oldest) {
    throw new StorageError(
      'storage.newer',
      `the store at ${address} has version ${version}, which processes from version ${oldest} on can work with; this ` +
        `windrow has version ${newest}: start a newer one`,
    );
  }
  if (shardCount !== SHARD_COUNT) {
    throw new StorageError(
      'storage.newer',
      `the store at ${address} has ${shardCount ?? 'no'} shards, and this windrow works with ${SHARD_COUNT}: its ` +
        'keys would not be found; start the windrow that made it',
    );
  }
  return version;
}

function upgrade(steps: readonly Migration[], version: number): string {
  const due = steps.slice(version - 1);
  const breaking = due.flatMap(({ isBreaking }, i) => (isBreaking === true ? [version + 1 + i] : []));
  return [
    ...due.map(({ sql }) => sql),
    setMeta('version', 1 + steps.length),
    ...breaking.map((oldest) => setMeta('oldestVersion', oldest)),
  ].join('; ');
}

function setMeta(name: string, value: number): string {
  return `INSERT INTO "windrow_meta" VALUES ('${name}', '${value}')
    ON CONFLICT ("name") DO UPDATE SET "value" = excluded."value"`;
}

function createStore(tables: readonly Table<never>[], version: number): string {
  return [
    'CREATE TABLE "windrow_meta" ("name" text PRIMARY KEY, "value" text NOT NULL)',
    setMeta('version', version),
    setMeta('oldestVersion', version),
    setMeta('shardCount', SHARD_COUNT),
    // A row for each shard, changed by each commit: room in its page, so that no index changes with it.
    `CREATE TABLE "windrow_shard" ("shard" int PRIMARY KEY, "commit" int8 NOT NULL, "owner" text, "session" int,
      "sequence" int8 NOT NULL, "leaseUntil" timestamptz NOT NULL)
      WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
    `INSERT INTO "windrow_shard" SELECT "i", 0, NULL, NULL, 0, 'epoch' FROM generate_series(0, ${SHARD_COUNT - 1}) "i"`,
    // The last group of commits of each process, by which it asks whether one took effect.
    `CREATE TABLE "windrow_writer" ("shard" int, "writer" text, "group" int8 NOT NULL, "atTime" timestamptz NOT NULL,
      PRIMARY KEY ("shard", "writer"))
      WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
    ...tables.flatMap((table) => createTable(table)),
  ].join('; ');
}

// Text is compared by its bytes, whatever the language of the database.
const TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'text COLLATE "C"',
  integer: 'int8',
  real: 'float8',
  boolean: 'boolean',
  bytes: 'bytea',
};

/** The statements that make a table and its indexes. The shard leads each key and each index. */
function createTable<Row>(table: Table<Row>): string[] {
  const name = quote(table.name);
  const names = columnNames(table);
  const columns = names.map((column) => {
    const { type, isNullable }: Column = table.columns[column];
    return `${quote(column)} ${TYPES[type]}${isNullable ? '' : ' NOT NULL'}`;
  });
  const key = `PRIMARY KEY ("shard", ${table.key.map(quote).join(', ')})`;
  // What is packed already is not to be packed again.
  const packed = names.filter((column) => table.columns[column].type === 'bytes');
  return [
    // Rows come and go: what is dead is cleared away after some thousand, however large the table has grown.
    `CREATE TABLE ${name} ("shard" int NOT NULL, ${columns.join(', ')}, ${key})
      WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
    ...packed.map((column) => `ALTER TABLE ${name} ALTER COLUMN ${quote(column)} SET STORAGE EXTERNAL`),
    ...table.indexes.map((index, i) => createIndex(table, index, i)),
  ];
}

function createIndex<Row>(table: Table<Row>, index: readonly (keyof Row & string)[], ordinal: number): string {
  const columns = index.map((name) => `${quote(name)}${table.columns[name].isNullable ? ' NULLS FIRST' : ''}`);
  const name = quote(`${table.name}_index_${ordinal + 1}`);
  return `CREATE INDEX ${name} ON ${quote(table.name)} ("shard", ${columns.join(', ')})`;
}
