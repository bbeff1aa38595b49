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

// The suite has tables of its own, so that it stays what it is when those of the service change.

/** Columns of every kind, with and without null, and a key of several. */
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
    // A name that SQL has for itself.
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

/** Nothing but a key. */
export const links = defineTable('select', { from: text, to: text }, ['from', 'to'], [['to']]);

/** Rows of the commits that wrote them. */
export const arrivals = defineLog('arrivals', { commit: integer, part: integer, data: bytes });

// `as`: a list of tables of different rows.
export const suiteTables = [things, blobs, links, arrivals] as unknown as readonly Table<never>[];

export type Thing = typeof things extends Table<infer Row> ? Row : never;
