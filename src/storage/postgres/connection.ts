import type { Client } from 'pg';
import type { Statement, Target } from '../sql/statements.js';
import type { SqlSession } from '../sql/transaction.js';
import { asCopy, COPY_ROWS_MIN, type Copy, copyOf } from './copy.js';
import { postgres } from './dialect.js';
import { failureOf, PostgresFailure } from './failure.js';

type Rows = Record<string, unknown>[];

/** What we use of the package `pg`. */
export type PostgresPackage = Pick<typeof import('pg'), 'Client' | 'Query'>;

export interface ConnectionParts {
  readonly client: Client;
  readonly ofClient: PostgresPackage;
  readonly texts: StatementTexts;
  /** The server's timeline: it changes when a standby takes over. */
  readonly timeline: number;
  /** Called once a statement is unanswered for `slowMs`, and again each time. */
  readonly onSlow: () => void;
  readonly slowMs: number;
  /** Called when a commit is confirmed that was sent at this time, by `performance.now()`. */
  readonly onConfirmed: (sentMs: number) => void;
  /** Resolves if a commit was confirmed lately, else once one is. */
  readonly confirmed: () => Promise<void>;
}

/** What `pg` tells of a notice. */
export interface Notice {
  readonly code: string | undefined;
  /** The routine of the server that gives it. */
  readonly routine?: string | undefined;
}

/**
 * Whether a commit with this notice may be lost: its wait for a standby was cancelled, or there was no transaction. The
 * words are of the server's language, and the first has no SQLSTATE of its own. Others, such as a warning that
 * transaction ids run out, concern no commit.
 */
export function isDoubtful({ code, routine }: Notice): boolean {
  return routine === 'SyncRepWaitForLSN' || code === NO_TRANSACTION;
}

const NO_TRANSACTION = '25P01';

/** A connection to the writable server. Statements are sent at once and answered in order. */
export class Connection implements SqlSession {
  readonly dialect = postgres;
  /** See `ConnectionParts`. */
  readonly timeline: number;
  readonly #client: Client;
  readonly #parts: ConnectionParts;
  #failure: PostgresFailure | undefined;
  #posted: Promise<unknown> | undefined;
  #postedCount = 0;
  #warning: string | undefined;

  readonly bulk = {
    rowsMin: COPY_ROWS_MIN,
    insert: <Row>(target: Target<Row>, rows: readonly Row[]) => this.#copy(copyOf(target, rows)),
  };

  constructor(parts: ConnectionParts) {
    const { client, timeline } = parts;
    this.#parts = parts;
    this.#client = client;
    this.timeline = timeline;
    const fail = (error: unknown) => {
      this.#failure ??= failureOf(error);
    };
    client.on('error', fail);
    client.on('end', () => fail(new PostgresFailure('lost', 'the connection has ended')));
    client.on('notice', (notice) => {
      if (isDoubtful(notice)) this.#warning = notice.message;
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
    const sentMs = performance.now();
    await this.exec(`${sql}; COMMIT`);
    // If a wait for the standby was cancelled, the commit succeeds with a warning: it may be on this server alone.
    if (this.#warning !== undefined)
      throw await this.#watch(Promise.reject(new PostgresFailure('lost', this.#warning)));
    this.#parts.onConfirmed(sentMs);
  }

  /** Before a read, as a server that was replaced and does not know it has old rows. */
  confirmed(): Promise<void> {
    return this.#watch(this.#parts.confirmed());
  }

  onNotification(listener: (payload: string) => void): void {
    this.#client.on('notification', ({ payload }) => listener(payload ?? ''));
  }

  /** Closes the connection once its statements are answered. */
  close(): void {
    this.#failure ??= new PostgresFailure('lost', 'the connection was closed');
    this.#client.end().catch(() => {});
  }

  /** Closes its socket at once: what runs fails. */
  cut(): void {
    this.#failure ??= new PostgresFailure('lost', 'another server has taken over');
    this.#client.connection.stream.destroy();
  }

  onEnd(listener: () => void): void {
    this.#client.on('end', listener);
  }

  #query({ sql, values }: Statement) {
    const config = { ...this.#parts.texts.of(sql), values: [...values] };
    return this.#watch(this.#client.query<Record<string, unknown>, unknown[]>(config));
  }

  #copy(copy: Copy): Promise<void> {
    return this.#watch(
      new Promise((resolve, reject) => {
        const answer = (error: Error | undefined | null) => (error ? reject(error) : resolve());
        this.#client.query(asCopy(new this.#parts.ofClient.Query(copy.sql, answer), copy));
      }),
    );
  }

  async #watch<Result>(work: Promise<Result>): Promise<Result> {
    const timer = setInterval(this.#parts.onSlow, this.#parts.slowMs);
    try {
      return await work;
    } catch (error) {
      const failure = failureOf(error);
      this.#failure ??= failure;
      throw failure;
    } finally {
      clearInterval(timer);
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
