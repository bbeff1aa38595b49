// Filters that clients compose make ever new statements; those that are not asked for again are let go.
const STATEMENT_COUNT_MAX = 500;

/** Prepared statements by their text; the one not used for longest goes first. */
export class StatementCache<Statement> {
  readonly #prepare: (sql: string) => Statement;
  readonly #finalize: (statement: Statement) => void;
  readonly #statements = new Map<string, Statement>();

  constructor(prepare: (sql: string) => Statement, finalize: (statement: Statement) => void) {
    this.#prepare = prepare;
    this.#finalize = finalize;
  }

  get(sql: string): Statement {
    const known = this.#statements.get(sql);
    // A map keeps the order of insertion: what is used moves to its end.
    if (known !== undefined) this.#statements.delete(sql);
    const statement = known ?? this.#prepare(sql);
    this.#statements.set(sql, statement);
    if (this.#statements.size > STATEMENT_COUNT_MAX) {
      const [oldest] = this.#statements.keys();
      this.drop(oldest!);
    }
    return statement;
  }

  drop(sql: string): void {
    const statement = this.#statements.get(sql);
    if (statement === undefined) return;
    this.#statements.delete(sql);
    this.#finalize(statement);
  }

  clear(): void {
    for (const sql of [...this.#statements.keys()]) this.drop(sql);
  }
}
