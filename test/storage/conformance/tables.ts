import {
  boolean,
  booleanOrNull,
  bytes,
  defineLog,
  defineTable,
  integer,
  integerOrNull,
  realOrNull,
  type Table,
  text,
  textOrNull,
} from '../../../src/storage/table.js';

// Tables of the suite's own, so that it does not change with those of the service.

/** Columns of every type, nullable and not, and a key of several columns. */
export const things = defineTable(
  'things',
  {
    organisation: text,
    id: text,
    version: integer,
    name: textOrNull,
    severity: textOrNull,
    isOpen: booleanOrNull,
    latitude: realOrNull,
    endedMs: integerOrNull,
    isKept: boolean,
    // A reserved word of SQL.
    order: integer,
  },
  ['organisation', 'id', 'version'],
  [['organisation', 'severity', 'id', 'version'], ['endedMs']],
);

export const blobs = defineTable(
  'blobs',
  { series: integer, startMs: { type: 'real', isNullable: false }, endMs: realOrNull, data: bytes },
  ['series', 'startMs'],
);

/** A table that has only a key. */
export const links = defineTable('select', { from: text, to: text }, ['from', 'to'], [['to']]);

/** Rows of a log, by commit. */
export const arrivals = defineLog('arrivals', { commit: integer, part: integer, data: bytes });

// `as`: a list of tables with different rows.
export const suiteTables = [things, blobs, links, arrivals] as unknown as readonly Table<never>[];

export type Thing = typeof things extends Table<infer Row> ? Row : never;
