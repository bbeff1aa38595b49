import type { Client } from 'pg';
import { StorageError } from '../errors.js';
import type { Statement, Target } from '../sql/statements.js';
import type { SqlSession } from '../sql/transaction.js';
import type { Address } from './address.js';
import { asCopy, COPY_ROWS_MIN, type Copy, copyOf } from './copy.js';
import { postgres, types } from './dialect.js';
import { failureOf, LACKS_TLS, PostgresFailure } from './failure.js';

type Rows = Record<string, unknown>[];

/** A connection to the writable server. Statements are sent at once and answered in order. */
export class Connection implements SqlSession {
  readonly dialect = postgres;
  /** The server's timeline: it changes when a standby takes over. */
  readonly timeline: number;
  readonly #client: Client;
  readonly #package: PostgresPackage;
  readonly #texts: StatementTexts;
  #failure: PostgresFailure | undefined;
  #posted: Promise<unknown> | undefined;
  #postedCount = 0;
  #warning: string | undefined;

  readonly bulk = {
    rowsMin: COPY_ROWS_MIN,
    insert: <Row>(target: Target<Row>, rows: readonly Row[]) => this.#copy(copyOf(target, rows)),
  };

  constructor(client: Client, ofClient: PostgresPackage, texts: StatementTexts, timeline: number) {
    this.#client = client;
    this.#package = ofClient;
    this.#texts = texts;
    this.timeline = timeline;
    const fail = (error: unknown) => {
      this.#failure ??= failureOf(error);
    };
    client.on('error', fail);
    client.on('end', () => fail(new PostgresFailure('lost', 'the connection has ended')));
    client.on('notice', ({ severity, message }) => {
      if (severity === 'WARNING') this.#warning = message;
    });
  }

  /** The first failure of a statement or the connection; a failed connection is not reused. */
  get failure(): PostgresFailure | undefined {
    return this.#failure;
  }

  /**
   * Runs statements without values in one round trip; returns the rows of each.
   *
   * @param answerMsMax how long the server may take, if longer than usual
   */
  async exec(sql: string, answerMsMax?: number): Promise<Rows[]> {
    const config = { text: sql, query_timeout: answerMsMax };
    // `as`: for several statements pg returns a list of results, which its types omit.
    const results = (await this.#watch(this.#client.query(config))) as unknown as { rows: Rows } | { rows: Rows }[];
    return [results].flat().map(({ rows }) => rows);
  }

  /** Sends a statement without awaiting it: if it fails, so does the next one. */
  send(sql: string): void {
    this.exec(sql).catch(() => {});
  }

  async run(statement: Statement): Promise<number> {
    return (await this.#query(statement)).rowCount ?? 0;
  }

  async post(statement: Statement): Promise<void> {
    // A failure is kept by `#watch`.
    this.#posted = this.#query(statement).catch(() => {});
    if (++this.#postedCount % POSTED_MAX === 0) await this.#posted;
  }

  /** @throws PostgresFailure if a posted statement failed */
  async settle(): Promise<void> {
    await this.#posted;
    this.#posted = undefined;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async all(statement: Statement): Promise<Rows> {
    return (await this.#query(statement)).rows;
  }

  /**
   * Ends a transaction with these statements and COMMIT.
   *
   * @throws PostgresFailure 'lost' if it is unknown whether the commit took effect.
   */
  async commit(sql: string): Promise<void> {
    this.#warning = undefined;
    await this.exec(`${sql}; COMMIT`);
    // If a wait for the standby was cancelled, the commit succeeds with a warning: it may be on this server alone.
    if (this.#warning !== undefined)
      throw await this.#watch(Promise.reject(new PostgresFailure('lost', this.#warning)));
  }

  onNotification(listener: (payload: string) => void): void {
    this.#client.on('notification', ({ payload }) => listener(payload ?? ''));
  }

  /** Closes the socket, whatever is running. */
  close(): void {
    this.#failure ??= new PostgresFailure('lost', 'the connection was closed');
    this.#client.end().catch(() => {});
  }

  #query({ sql, values }: Statement) {
    const config = { ...this.#texts.of(sql), values: [...values] };
    return this.#watch(this.#client.query<Record<string, unknown>, unknown[]>(config));
  }

  #copy(copy: Copy): Promise<void> {
    return this.#watch(
      new Promise((resolve, reject) => {
        const answer = (error: Error | undefined | null) => (error ? reject(error) : resolve());
        this.#client.query(asCopy(new this.#package.Query(copy.sql, answer), copy));
      }),
    );
  }

  async #watch<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      const failure = failureOf(error);
      this.#failure ??= failure;
      throw failure;
    }
  }
}

/** How many statements may wait for their answers, as each holds its values. */
const POSTED_MAX = 64;

const STATEMENT_COUNT_MAX = 500;

/**
 * Statements in PostgreSQL's form, with `$1` for `?`. The first ones get a name, so that the server parses and plans
 * them once for each connection. Later ones go without: filters that clients compose are ever new.
 */
export class StatementTexts {
  readonly #known = new Map<string, { readonly text: string; readonly name: string }>();

  of(sql: string): { readonly text: string; readonly name?: string } {
    const known = this.#known.get(sql);
    if (known !== undefined) return known;
    let count = 0;
    const text = sql.replaceAll('?', () => `$${++count}`);
    if (this.#known.size >= STATEMENT_COUNT_MAX) return { text };
    const named = { text, name: `windrow_${this.#known.size}` };
    this.#known.set(sql, named);
    return named;
  }
}

const CONNECT_MS_MAX = 3000;
/** A server silent for longer is taken for dead. `QuietWatch` ends a job sooner. */
const ANSWER_MS_MAX = 15_000;

/**
 * An abandoned transaction ends by itself, and a vanished machine is noticed within seconds. There is no statement
 * timeout: one that cancels a wait for the standby would commit to one disk alone. But the server itself ends a wait
 * for a lock, before `ANSWER_MS_MAX`: it does not see that a connection is closed while it waits, and those would add
 * up. Limits of newer versions, which end whole sessions or transactions, are lifted where they exist.
 */
const SESSION = `
  SET extra_float_digits = 1; SET bytea_output = hex; SET statement_timeout = 0; SET lock_timeout = '10s';
  SET idle_in_transaction_session_timeout = '20s';
  SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;
  SELECT set_config("name", '0', false) FROM pg_settings
    WHERE "name" IN ('idle_session_timeout', 'transaction_timeout') AND "setting" <> '0';
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
  SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    current_setting('server_version_num')::int AS "version", current_setting('server_encoding') AS "encoding",
    CASE WHEN pg_is_in_recovery() THEN NULL ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS "timeline"`;

const VERSION_MIN = 130_000;

/** What we use of the package `pg`. */
export type PostgresPackage = Pick<typeof import('pg'), 'Client' | 'Query'>;

/** Loads `pg` only when a PostgreSQL store is opened; everything else works without it. */
export async function loadPackage(): Promise<PostgresPackage> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    const mend = 'install it beside windrow: npm install pg@8';
    throw new StorageError('storage.failed', `a store of PostgreSQL needs the package pg: ${mend}`, { cause });
  }
}

/** Connects to the first writable server. */
export async function connect(
  loaded: PostgresPackage,
  { servers }: Address,
  texts: StatementTexts,
  answerMsMax: number = ANSWER_MS_MAX,
): Promise<Connection> {
  const failures: PostgresFailure[] = [];
  for (const attempts of servers) {
    try {
      return await connectTo(attempts, (address) => createClient(loaded, address, answerMsMax), loaded, texts);
    } catch (error) {
      if (error instanceof StorageError) throw error;
      failures.push(failureOf(error));
    }
  }
  // An unreachable server explains less than one that refuses.
  const clearest = failures.find(({ isTransient }) => !isTransient) ?? failures.find(({ kind }) => kind !== 'lost');
  throw clearest ?? new PostgresFailure('lost', failures.map(({ message }) => message).join('; '));
}

/** With and without TLS, where it is optional: as in libpq, the other way only if a server was reached and refused. */
async function connectTo(
  attempts: readonly string[],
  create: (connectionString: string) => Client,
  loaded: PostgresPackage,
  texts: StatementTexts,
): Promise<Connection> {
  const failures: PostgresFailure[] = [];
  for (const connectionString of attempts) {
    const client = create(connectionString);
    try {
      await client.connect();
      return await prepareSession(client, loaded, texts);
    } catch (error) {
      client.end().catch(() => {});
      if (error instanceof StorageError) throw error;
      failures.push(failureOf(error));
      if (failures.at(-1)?.kind !== 'denied') break;
    }
  }
  // That a server lacks TLS explains nothing where it is optional.
  throw failures.find(({ message }) => !LACKS_TLS.test(message)) ?? failures.at(-1)!;
}

function createClient(loaded: PostgresPackage, connectionString: string, answerMsMax: number): Client {
  try {
    const client = new loaded.Client({
      connectionString,
      types,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: answerMsMax,
      application_name: 'windrow',
    });
    // For errors before `Connection` listens.
    client.on('error', () => {});
    return client;
  } catch (cause) {
    // A file that it names is missing, such as `sslrootcert`.
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new StorageError('storage.failed', `the address of the store cannot be used: ${message}`, { cause });
  }
}

async function prepareSession(client: Client, loaded: PostgresPackage, texts: StatementTexts): Promise<Connection> {
  // `as`: for several statements pg returns a list of results.
  const results = (await client.query(SESSION)) as unknown as { rows: Rows }[];
  const { isReadOnly, version, encoding, timeline } = results.at(-1)!.rows[0]!;
  if (Number(version) < VERSION_MIN || encoding !== 'UTF8') {
    const needed = `PostgreSQL ${VERSION_MIN / 10_000} or later with a database in UTF8`;
    client.end().catch(() => {});
    throw new StorageError('storage.failed', `expected ${needed}, received ${version} with ${encoding}`);
  }
  if (isReadOnly === true) throw new PostgresFailure('readOnly', 'the server is a standby or read-only');
  return new Connection(client, loaded, texts, Number.parseInt(String(timeline), 16));
}
