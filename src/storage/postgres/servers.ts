import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Client } from 'pg';
import type { PasswordRequest } from 'pgpass';
import { StorageError } from '../errors.js';
import type { Address } from './address.js';
import { Connection, isDoubtful, type Notice, type PostgresPackage, StatementTexts } from './connection.js';
import { types } from './dialect.js';
import { failureOf, LACKS_TLS, PostgresFailure } from './failure.js';
import { LOCK_CLASS } from './schema.js';

/** The class of the locks of `confirm`. */
const CONFIRMATION_CLASS = LOCK_CLASS + 1;

/** How long it waits for servers. Tests, whose servers fail, wait for less. */
export interface TimeLimits {
  /** For a connection, and again for the confirmation of a commit. */
  readonly connectMsMax: number;
  /**
   * How long a confirmed commit shows that its server was not replaced: less than a tool takes to let another take
   * over, as that begins with the loss of the server, from when on no commit is confirmed.
   */
  readonly confirmedMsMax: number;
  /** After so long without an answer, and again each time, it is asked whether another server has taken over. */
  readonly slowMs: number;
  /** For a lock that another session holds. */
  readonly lockMsMax: number;
  /** A server silent for longer is taken for dead; migrations may take longer. `QuietWatch` ends a job sooner. */
  readonly answerMsMax: number;
  /** A process that works on shards and is silent for longer is taken for hung, though its connections are open. */
  readonly silentMsMax: number;
}

export const TIME_LIMITS: TimeLimits = {
  connectMsMax: 3000,
  confirmedMsMax: 3000,
  slowMs: 3000,
  lockMsMax: 10_000,
  answerMsMax: 15_000,
  silentMsMax: 15_000,
};

/**
 * An abandoned transaction ends by itself, and a vanished machine is noticed within seconds. There is no statement
 * timeout: one that cancels a wait for the standby would commit to one disk alone. But the server itself ends a wait
 * for a lock, before `answerMsMax`: it does not see that a connection is closed while it waits, and those would add
 * up. Limits of newer versions, which end whole sessions or transactions, are lifted where they exist. A stricter
 * isolation level as the default would fail each writer that has waited for a shard.
 */
const sessionOf = ({ lockMsMax }: TimeLimits) => `
  SET statement_timeout = 0; SET lock_timeout = ${lockMsMax}; SET client_min_messages = warning;
  SET default_transaction_isolation = 'read committed';
  SET extra_float_digits = 1; SET bytea_output = hex;
  SET idle_in_transaction_session_timeout = '20s';
  SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;
  SELECT set_config("name", '0', false) FROM pg_settings
    WHERE "name" IN ('idle_session_timeout', 'transaction_timeout') AND "setting" <> '0';
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
  SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    current_setting('server_version_num')::int AS "version", current_setting('server_encoding') AS "encoding",
    CASE WHEN pg_is_in_recovery() THEN NULL ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS "timeline"`;

const VERSION_MIN = 130_000;

/** Loads `pg` only when a PostgreSQL store is opened; everything else works without it. */
export async function loadPackage(): Promise<PostgresPackage> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    const mend = 'install it beside windrow: npm install pg@8';
    throw new StorageError('storage.failed', `a store of PostgreSQL needs the package pg: ${mend}`, { cause });
  }
}

/** The servers of an address, of which one takes writes. */
export class Servers {
  readonly #package: PostgresPackage;
  readonly #attempts: Address['servers'];
  readonly #limits: TimeLimits;
  readonly #texts = new StatementTexts();
  /** The number of this process's lock, under which it waits for the confirmation of a commit. */
  readonly #session = randomInt(1, 2 ** 31 - 1);
  readonly #open = new Set<Connection>();
  /** The server that worked last: the first to try. */
  #current = 0;
  #isLooking = false;
  /** When the last commit that was confirmed was sent, by `performance.now()`. */
  #confirmedMs = Number.NEGATIVE_INFINITY;

  constructor(ofClient: PostgresPackage, { servers }: Address, limits: Partial<TimeLimits> = {}) {
    this.#package = ofClient;
    this.#attempts = servers;
    this.#limits = { ...TIME_LIMITS, ...limits };
  }

  /** Connects to the first one that takes writes, beginning with the one that did so last. */
  connect(): Promise<Connection> {
    return this.#connectFrom(this.#current);
  }

  async #connectFrom(start: number): Promise<Connection> {
    const failures: PostgresFailure[] = [];
    for (let i = 0; i < this.#attempts.length; i++) {
      const index = (start + i) % this.#attempts.length;
      try {
        const connection = await this.#connectTo(this.#attempts[index]!);
        this.#current = index;
        this.#closeOlder(connection);
        return connection;
      } catch (error) {
        if (error instanceof StorageError) throw error;
        failures.push(failureOf(error));
      }
    }
    // An unreachable server explains less than one that refuses.
    const clearest = failures.find(({ isTransient }) => !isTransient) ?? failures.find(({ kind }) => kind !== 'lost');
    throw clearest ?? new PostgresFailure('lost', failures.map(({ message }) => message).join('; '));
  }

  /**
   * Once another server has taken over, those of before may still answer, with what they know: they do not know that
   * they were replaced, or hung meanwhile.
   */
  #closeOlder(connection: Connection): void {
    for (const other of this.#open) if (other.timeline < connection.timeline) other.cut();
    this.#open.add(connection);
    connection.onEnd(() => this.#open.delete(connection));
  }

  /** Looks whether another server has taken over, while the current one does not answer. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      (await this.#connectFrom(this.#current + 1)).close();
    } catch {
      // None has; whoever waits for an answer waits on.
    } finally {
      this.#isLooking = false;
    }
  }

  async #confirm(client: Client): Promise<void> {
    const sentMs = performance.now();
    await confirm(client, this.#session, this.#limits);
    this.#noteConfirmed(sentMs);
  }

  #noteConfirmed(sentMs: number): void {
    this.#confirmedMs = Math.max(this.#confirmedMs, sentMs);
  }

  /** With and without TLS where it is optional: as in libpq, the other way only if a server was reached and refused. */
  async #connectTo(attempts: readonly string[]): Promise<Connection> {
    const failures: PostgresFailure[] = [];
    for (const connectionString of attempts) {
      const client = createClient(this.#package, connectionString, this.#limits);
      try {
        await client.connect();
        const timeline = await prepareSession(client, this.#limits);
        await this.#confirm(client);
        return new Connection({
          client,
          ofClient: this.#package,
          texts: this.#texts,
          timeline,
          slowMs: this.#limits.slowMs,
          onSlow: () => void this.#look(),
          onConfirmed: (sentMs) => this.#noteConfirmed(sentMs),
          confirmed: async () => {
            if (performance.now() - this.#confirmedMs > this.#limits.confirmedMsMax) await this.#confirm(client);
          },
        });
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
}

function createClient(loaded: PostgresPackage, connectionString: string, limits: TimeLimits): Client {
  try {
    const client = new loaded.Client({
      connectionString,
      types,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: limits.connectMsMax,
      query_timeout: limits.answerMsMax,
      application_name: 'windrow',
    });
    // Not as an option, which the address would override by having none. To find none itself, `pg` warns.
    if (!client.password) Object.assign(client, { password: passwordFromFile });
    // For errors before `Connection` listens.
    client.on('error', () => {});
    return client;
  } catch (cause) {
    const reason = unreadableFile(connectionString) ?? (cause instanceof Error ? cause.message : String(cause));
    throw new StorageError('storage.failed', `the address of the store cannot be used: ${reason}`, { cause });
  }
}

/** The password of ~/.pgpass, or of the file that PGPASSFILE names, as with libpq; undefined if none fits. */
async function passwordFromFile(of: PasswordRequest): Promise<string | undefined> {
  const { default: find } = await import('pgpass');
  return new Promise((resolve) => find(of, resolve));
}

/** The first file of TLS that cannot be read, with its parameter, as `pg` names only the file; undefined if none. */
function unreadableFile(connectionString: string): string | undefined {
  const parameters = new URLSearchParams(/\?(.*)$/s.exec(connectionString)?.[1]);
  for (const name of ['sslcert', 'sslkey', 'sslrootcert']) {
    const file = parameters.get(name) ?? '';
    try {
      if (file !== '') readFileSync(file);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
      return `${name}: the file ${file} cannot be read${code}; check its name and permissions`;
    }
  }
  return undefined;
}

/** Whether `pg` waited for too long, or the server for a lock: its words are of its language. */
function isLate(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'code' in error && 'severity' in error ? error.code === LOCK_NOT_AVAILABLE : /timeout/.test(error.message);
}

const LOCK_NOT_AVAILABLE = '55P03';

/** @returns the server's timeline. */
async function prepareSession(client: Client, limits: TimeLimits): Promise<number> {
  // `as`: for several statements pg returns a list of results.
  const results = (await client.query(sessionOf(limits))) as unknown as { rows: Record<string, unknown>[] }[];
  const { isReadOnly, version, encoding, timeline } = results.at(-1)!.rows[0]!;
  if (Number(version) < VERSION_MIN || encoding !== 'UTF8') {
    const needed = `PostgreSQL ${VERSION_MIN / 10_000} or later with a database in UTF8`;
    const received = `PostgreSQL ${Math.floor(Number(version) / 10_000)} with one in ${encoding}`;
    const mend = 'make one with `createdb --encoding UTF8 --template template0`';
    throw new StorageError('storage.failed', `expected ${needed}, received ${received}; ${mend}`);
  }
  if (isReadOnly === true) throw new PostgresFailure('readOnly', 'the server is a standby or read-only');
  return Number.parseInt(String(timeline), 16);
}

/**
 * Commits nothing, and waits for its confirmation: where a standby must confirm commits, it has all that this server
 * shows once this is answered. A server that was replaced and does not know gets none, and one that has crashed shows
 * what it had committed alone until then. The server gives up neither the wait for a standby nor a connection that is
 * closed meanwhile, so of those of a process all but one wait for a lock, and end.
 */
async function confirm(client: Client, session: number, { connectMsMax }: TimeLimits): Promise<void> {
  let isCancelled = false;
  const onNotice = (notice: Notice) => {
    isCancelled ||= isDoubtful(notice);
  };
  client.on('notice', onNotice);
  const sql = `BEGIN; SET LOCAL lock_timeout = ${connectMsMax};
    SELECT pg_advisory_xact_lock(${CONFIRMATION_CLASS}, ${session}), pg_logical_emit_message(true, 'windrow', '');
    COMMIT`;
  const config = { text: sql, query_timeout: connectMsMax };
  await client.query(config).catch((error: unknown) => {
    const failure = failureOf(error);
    if (!isLate(error)) throw failure;
    isCancelled = true;
  });
  client.off('notice', onNotice);
  if (!isCancelled) return;
  const what = `no standby confirms its commits within ${connectMsMax / 1000} s`;
  throw new PostgresFailure('unconfirmed', `${what}, or another server has taken its place`);
}
