import { StorageError } from '../errors.js';
import { SHARD_COUNT } from '../shard.js';
import { columnNames, quote } from '../sql/statements.js';
import type { Column, ColumnType, Table } from '../table.js';
import { tables as ownTables } from '../tables/index.js';
import type { Connection } from './connection.js';
import { PostgresFailure } from './failure.js';

/** Brings a store from one version to the next. */
export interface Migration {
  readonly sql: string;
  /** Whether processes of the previous version cannot work with the result: they must all be stopped first. */
  readonly isBreaking?: boolean;
}

/**
 * Steps from version 1 to 2, from 2 to 3, and so on. A new store is created from the current tables, so a change of a
 * table after a release must also add a step here. During a rolling upgrade, processes of the previous version work
 * with the new tables: a step may add tables, indexes, and columns that are nullable or have a default; anything else
 * is breaking.
 */
const migrations: readonly Migration[] = [
  {
    // Organisations spread over several shards.
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
  // Log rows in a form that older processes cannot read (`samples/log-row.ts`); no table changes.
  { sql: 'SELECT 1', isBreaking: true },
  {
    // Patterns that were ended while members are left.
    sql: `CREATE TABLE "ended_patterns" ("shard" int NOT NULL, "organisation" text COLLATE "C" NOT NULL,
        "itemId" text COLLATE "C" NOT NULL, "transactionId" text COLLATE "C" NOT NULL,
        "clientId" text COLLATE "C" NOT NULL, "areResultsKept" boolean NOT NULL, "passedCommit" int8,
        "passedId" text COLLATE "C", PRIMARY KEY ("shard", "organisation", "itemId"))
        WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  },
  // Checkpoints that were made without samples which retention had deleted.
  { sql: 'ALTER TABLE "item_checkpoints" ADD COLUMN "lacksUntilMs" float8' },
];

export interface Schema {
  readonly tables?: readonly Table<never>[];
  /** The steps from version 1 upwards. */
  readonly migrations?: readonly Migration[];
}

/** The version of the stores that a windrow with this schema creates. */
export function newestVersion({ migrations: steps = migrations }: Schema): number {
  return 1 + steps.length;
}

/**
 * A column for the first statement of each transaction, which reads `windrow_shard`: the oldest version that can work
 * with the store. A breaking step locks that table, so it runs between transactions, never beside one.
 */
export const OLDEST_VERSION = `(SELECT "value"::int FROM "windrow_meta" WHERE "name" = 'oldestVersion')
  AS "oldestVersion"`;

/** @throws PostgresFailure 'newer' if the store needs a later version than this process has. */
export function checkVersion(oldestVersion: unknown, version: number): void {
  if (Number(oldestVersion) <= version) return;
  throw new PostgresFailure(
    'newer',
    `a newer windrow has upgraded it, and it needs version ${oldestVersion}, but this one knows versions up to ` +
      `${version}; start the newer one`,
  );
}

/** The class of windrow's locks in a database: 'wndr'. */
export const LOCK_CLASS = 0x776e6472;
const SCHEMA_LOCK = 0;

/**
 * How long a migration may take. One that takes longer, or whose connection breaks, is not undone by that: all of its
 * statements went to the server as one, which does them to the end, and holds the lock until then.
 */
const MIGRATION_MS_MAX = 3_600_000;

/**
 * Creates the tables of a new store, or upgrades an older one to this version, in one transaction.
 *
 * @throws PostgresFailure 'upgrading' if another process is about it, 'newer' for a store that is too new for this
 * version, StorageError if it has another number of shards, or if there is none and none is to be created.
 */
export async function migrate(
  connection: Connection,
  address: string,
  schema: Schema,
  isMaking: boolean,
): Promise<void> {
  const { tables = ownTables, migrations: steps = migrations } = schema;
  const newest = newestVersion(schema);
  const found = await readVersion(connection, address, newest);
  if (found >= newest) return;
  if (found === 0 && !isMaking) throw new StorageError('file.missing', `${address}: there is no store of windrow`);
  try {
    const [, [row] = []] = await connection.exec(
      `BEGIN; SELECT pg_try_advisory_xact_lock(${LOCK_CLASS}, ${SCHEMA_LOCK}) AS "isTaken"`,
    );
    if (row?.isTaken !== true) {
      const message = 'another windrow process creates or upgrades its tables; this one goes on once that is done';
      throw new PostgresFailure('upgrading', message);
    }
    // Read again under the lock: another process may have done it meanwhile.
    const version = await readVersion(connection, address, newest);
    if (version === 0) await refuseOthers(connection, address, tables);
    const sql = version === 0 ? createStore(tables, newest) : upgrade(steps, version);
    await connection.exec(`${sql}; COMMIT`, MIGRATION_MS_MAX);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The schema of the tables; a cast takes its name for one in lower case, unless it is quoted. */
const OWN_SCHEMA = 'quote_ident(current_schema())::regnamespace';

/**
 * Has PostgreSQL look at tables of which it knows nothing yet: until it does so by itself, within a minute of their
 * first rows, it may look for one item by an index that finds all of its organisation.
 */
export async function analyzeNew(connection: Connection, { tables = ownTables }: Schema): Promise<void> {
  const names = tables.map(({ name }) => `'${name}'`).join(', ');
  const [found = []] = await connection.exec(
    `SELECT "relname" AS "name" FROM pg_class WHERE "relnamespace" = ${OWN_SCHEMA}
      AND "relkind" = 'r' AND "relname" IN (${names}) AND "reltuples" <= 0 AND pg_relation_size("oid") > 0`,
  );
  if (found.length === 0) return;
  // One that another session is about may wait for longer than a start should.
  await connection.exec(`ANALYZE ${found.map(({ name }) => `"${name}"`).join(', ')}`).catch(() => undefined);
}

/** The version of the store; 0 if there is none. */
async function readVersion(connection: Connection, address: string, newest: number): Promise<number> {
  // From the catalogue: within a transaction, PostgreSQL caches that a name was not found.
  const [found = []] = await connection.exec(
    `SELECT FROM pg_class WHERE "relname" = 'windrow_meta' AND "relnamespace" = ${OWN_SCHEMA}`,
  );
  if (found.length === 0) return 0;
  // As JSON, since another program's table of this name has other columns.
  const [rows = []] = await connection.exec(
    `SELECT "row" ->> 'name' AS "name", "row" ->> 'value' AS "value"
      FROM (SELECT to_jsonb("windrow_meta") AS "row" FROM "windrow_meta") AS "rows"`,
  );
  const meta = new Map(rows.map(({ name, value }) => [String(name), Number(value)]));
  const [version = 0, oldest = 0, shardCount] = ['version', 'oldestVersion', 'shardCount'].map((name) =>
    meta.get(name),
  );
  if (!(version >= 1)) throw ofOthers(address, ['windrow_meta']);
  checkVersion(oldest, newest);
  if (shardCount !== SHARD_COUNT) {
    throw new StorageError(
      'storage.newer',
      `the store at ${address} has ${shardCount ?? 'no'} shards, but this windrow uses ${SHARD_COUNT} and would not ` +
        'find its keys; start the windrow that created it',
    );
  }
  return version;
}

/** @throws StorageError if a table of windrow cannot be created, as something else has its name. */
async function refuseOthers(connection: Connection, address: string, tables: readonly Table<never>[]): Promise<void> {
  const names = ['windrow_meta', 'windrow_shard', 'windrow_writer', ...tables.map(({ name }) => name)];
  // A table takes a name among the relations and one among the types.
  const [taken = []] = await connection.exec(
    `SELECT "name" FROM (
        SELECT "relname" AS "name", "relnamespace" AS "schema" FROM pg_class
        UNION SELECT "typname", "typnamespace" FROM pg_type
      ) AS "taken"
      WHERE "schema" = ${OWN_SCHEMA} AND "name" IN (${names.map((name) => `'${name}'`).join(', ')})
      ORDER BY "name"`,
  );
  if (taken.length > 0)
    throw ofOthers(
      address,
      taken.map(({ name }) => String(name)),
    );
}

function ofOthers(address: string, names: readonly string[]): StorageError {
  const found = names.map((name) => JSON.stringify(name)).join(', ');
  const expected = "expected no other program's tables of the names that windrow uses";
  const mend = 'use another database, or another schema by ?options=-c%20search_path%3DNAME in the address';
  return new StorageError('storage.damaged', `the store at ${address}: ${expected}, found ${found}; ${mend}`);
}

function upgrade(steps: readonly Migration[], version: number): string {
  const due = steps.slice(version - 1);
  const breaking = due.flatMap(({ isBreaking }, i) => (isBreaking === true ? [version + 1 + i] : []));
  return [
    ...(breaking.length > 0 ? ['LOCK TABLE "windrow_shard"'] : []),
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
    // A row for each shard, changed by each commit: the fill factor leaves space for new versions in its page, so that
    // the index does not change.
    `CREATE TABLE "windrow_shard" ("shard" int PRIMARY KEY, "commit" int8 NOT NULL, "owner" text, "session" int,
      "sequence" int8 NOT NULL, "leaseUntil" timestamptz NOT NULL)
      WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
    `INSERT INTO "windrow_shard" SELECT "i", 0, NULL, NULL, 0, 'epoch' FROM generate_series(0, ${SHARD_COUNT - 1}) "i"`,
    // The last group of commits of each writer, by which it checks whether the group took effect.
    `CREATE TABLE "windrow_writer" ("shard" int, "writer" text, "group" int8 NOT NULL, "atTime" timestamptz NOT NULL,
      PRIMARY KEY ("shard", "writer"))
      WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
    ...tables.flatMap((table) => createTable(table)),
  ].join('; ');
}

// Text is compared by its bytes, whatever the database's locale.
const TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'text COLLATE "C"',
  integer: 'int8',
  real: 'float8',
  boolean: 'boolean',
  bytes: 'bytea',
};

/** The statements that create a table and its indexes. The shard leads each key and index. */
function createTable<Row>(table: Table<Row>): string[] {
  const name = quote(table.name);
  const names = columnNames(table);
  const columns = names.map((column) => {
    const { type, isNullable }: Column = table.columns[column];
    return `${quote(column)} ${TYPES[type]}${isNullable ? '' : ' NOT NULL'}`;
  });
  const key = `PRIMARY KEY ("shard", ${table.key.map(quote).join(', ')})`;
  // These bytes are compressed already, so PostgreSQL must not try again.
  const packed = names.filter((column) => table.columns[column].type === 'bytes');
  return [
    // Rows come and go, so vacuum runs after some thousand dead ones, however large the table is.
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
