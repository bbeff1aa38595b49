/** What a column can hold. Integers lie within ±2^53; bytes are never changed in place. */
export type Value = string | number | boolean | Uint8Array | null;

/** The TypeScript type of each column type. */
interface Values {
  readonly text: string;
  readonly integer: number;
  readonly real: number;
  readonly boolean: boolean;
  readonly bytes: Uint8Array;
}

export type ColumnType = keyof Values;

export interface Column {
  readonly type: ColumnType;
  readonly isNullable: boolean;
}

/** A row as an object, with a field for each column but `shard`, which every table has and which leads every key. */
type RowOf<Columns extends Readonly<Record<string, Column>>> = {
  readonly [Name in keyof Columns]:
    | Values[Columns[Name]['type']]
    | (Columns[Name]['isNullable'] extends true ? null : never);
};

/** A table as data, from which a driver builds its statements. */
export interface Table<Row> {
  readonly name: string;
  readonly columns: { readonly [Name in keyof Row]: Column };
  /** The primary key within a shard. */
  readonly key: readonly (keyof Row & string)[];
  /** Further indexes; the shard leads each of them too. */
  readonly indexes: readonly (readonly (keyof Row & string)[])[];
  /**
   * A log's key starts with the commit that wrote the row, so its rows tell the last commit of a shard. Rows are many,
   * short, and read in the order of the key.
   */
  readonly isLog: boolean;
}

/** The rows of a table: `RowIn<typeof clients>`. */
export type RowIn<Of> = Of extends Table<infer Row> ? Row : never;

type Definitions = Readonly<Record<string, Column>>;

/** Defines a table, with the type of its rows. */
export function defineTable<Columns extends Definitions>(
  name: string,
  columns: Columns,
  key: readonly (keyof Columns & string)[],
  indexes: readonly (readonly (keyof Columns & string)[])[] = [],
): Table<RowOf<Columns>> {
  return Object.freeze({ name, columns, key, indexes, isLog: false }) as unknown as Table<RowOf<Columns>>;
}

/** Defines a table to which nearly each commit adds rows; the key is the commit and the place in it. */
export function defineLog<Columns extends Definitions & { commit: Column; part: Column }>(
  name: string,
  columns: Columns,
): Table<RowOf<Columns>> {
  return Object.freeze({ ...defineTable(name, columns, ['commit', 'part']), isLog: true });
}

const column = <Type extends ColumnType>(type: Type) => ({ type, isNullable: false }) as const;
const nullable = <Type extends ColumnType>(type: Type) => ({ type, isNullable: true }) as const;

export const text = column('text');
export const integer = column('integer');
export const real = column('real');
export const boolean = column('boolean');
export const bytes = column('bytes');
export const textOrNull = nullable('text');
export const integerOrNull = nullable('integer');
export const realOrNull = nullable('real');
export const booleanOrNull = nullable('boolean');
