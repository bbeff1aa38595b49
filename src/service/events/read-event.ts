import { describeValue, type ErrorCode } from '../../core/errors.js';
import { didYouMean } from '../../core/suggest.js';
import { objectFault } from './canonical-json.js';
import { type EventField, eventFieldNames, eventFields, type FieldType } from './fields.js';
import { readOccurredAt } from './occurred-at.js';
import type { EventDraft } from './record.js';

/** Notes a fault of the event at `pointer` within it. A suggestion is asked for where the fault is told. */
export type AddIssue = (
  pointer: string,
  code: ErrorCode,
  expected: string,
  received: string,
  suggest?: () => string | undefined,
) => void;

/** Ids and the names of collections: keys, which are sent in paths and headers. */
const KEY_CHARS_MAX = 256;

/** So that a page of a thousand events can be held in memory; the size that CloudEvents asks consumers to take. */
const EVENT_CHARS_MAX = 64 * 1024;

const KNOWN_FIELDS: ReadonlySet<string> = new Set(eventFieldNames);
const SOURCE_FIELDS: ReadonlySet<string> = new Set(['Type', 'Event']);

type Stored = string | number | boolean | null;

/**
 * Reads an event as interface 2.4 has it; what is absent is null. Every fault is noted.
 *
 * @param collection of the header, for events that do not name theirs.
 * @returns undefined when a fault was noted.
 */
export function readEvent(value: unknown, collection: string | undefined, add: AddIssue): EventDraft | undefined {
  if (!isObject(value)) {
    add('', 'request.type', 'an event, as an object', describeValue(value));
    return undefined;
  }
  let isSound = true;
  const note: AddIssue = (...issue) => {
    isSound = false;
    add(...issue);
  };
  noteUnknown(value, '', KNOWN_FIELDS, note);
  const fields: Partial<Record<EventField, Stored>> = {};
  for (const field of eventFieldNames) {
    // What `__proto__` and its kin would find is not the caller's.
    const given = Object.hasOwn(value, field) ? value[field] : null;
    fields[field] =
      given === null || given === undefined ? null : readers[eventFields[field]](given, `/${field}`, note);
  }
  checkKey(fields.id, '/id', note);
  fields.ercollectionid = collectionOf(fields.ercollectionid, collection, note);
  checkSize(fields, note);
  // Every field was read by the reader of its type, and the collection is there unless a fault was noted.
  return isSound ? (fields as EventDraft) : undefined;
}

const readers: Readonly<Record<FieldType, (value: unknown, pointer: string, add: AddIssue) => Stored>> = Object.freeze({
  text: readText,
  boolean: (value, pointer, add) => {
    if (typeof value === 'boolean') return value;
    add(pointer, 'request.type', 'true, false or null', describeValue(value));
    return null;
  },
  number: (value, pointer, add) => {
    if (typeof value === 'number' && Number.isFinite(value)) return value === 0 ? 0 : value;
    const code = typeof value === 'number' ? 'request.range' : 'request.type';
    add(pointer, code, 'a finite number or null', describeValue(value));
    return null;
  },
  instant: (value, pointer, add) => {
    const expected = 'an ISO 8601 instant such as "2024-01-31T12:00:00.000Z", or null';
    if (typeof value !== 'string') {
      add(pointer, 'request.type', expected, describeValue(value));
      return null;
    }
    const reading = readOccurredAt(value);
    if ('occurredAt' in reading) return reading.occurredAt;
    add(pointer, 'request.instant', expected, `${describeValue(value)}, which ${reading.problem}`);
    return null;
  },
  object: (value, pointer, add) => {
    if (!isObject(value)) {
      add(pointer, 'request.type', 'an object or null', describeValue(value));
      return null;
    }
    if (pointer === '/sourceEvent') checkSourceEvent(value, pointer, add);
    const fault = objectFault(value);
    if (fault === undefined) return JSON.stringify(value);
    add(pointer, 'request.value', 'an object that JSON can hold', `an object ${fault}`);
    return null;
  },
});

function readText(value: unknown, pointer: string, add: AddIssue): string | null {
  if (typeof value !== 'string') {
    add(pointer, 'request.type', 'a string or null', describeValue(value));
    return null;
  }
  // Neither comes out of a database as it went in.
  if (/\0|\p{Surrogate}/u.test(value)) {
    add(pointer, 'request.value', 'text without NUL characters and halves of surrogate pairs', describeValue(value));
    return null;
  }
  return value;
}

function checkSourceEvent(value: Readonly<Record<string, unknown>>, pointer: string, add: AddIssue): void {
  noteUnknown(value, pointer, SOURCE_FIELDS, add);
  const { Type: type, Event: event } = value;
  const code = (part: unknown): ErrorCode => (part === undefined ? 'request.missing' : 'request.type');
  if (typeof type !== 'string') add(`${pointer}/Type`, code(type), 'a string', describeValue(type));
  if (!isObject(event)) add(`${pointer}/Event`, code(event), 'an object', describeValue(event));
}

function noteUnknown(value: object, pointer: string, known: ReadonlySet<string>, add: AddIssue): void {
  for (const name of Object.keys(value)) {
    if (known.has(name)) continue;
    const place = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const expected = pointer === '' ? 'a field of an event' : [...known].join(' and ');
    add(place, 'request.unknown', expected, describeValue(name), () => didYouMean(name, known));
  }
}

function collectionOf(own: Stored | undefined, header: string | undefined, add: AddIssue): string {
  checkKey(own, '/ercollectionid', add);
  if (typeof own !== 'string') {
    const expected = 'the id of the collection, here or in the header ercollectionid';
    if (header === undefined) add('/ercollectionid', 'request.missing', expected, 'nothing');
    return header ?? '';
  }
  if (header !== undefined && own !== header) {
    const expected = `${describeValue(header)} of the header ercollectionid, or one of both alone`;
    add('/ercollectionid', 'request.conflict', expected, describeValue(own));
  }
  return own;
}

function checkKey(key: Stored | undefined, pointer: string, add: AddIssue): void {
  if (typeof key !== 'string' || (key.length > 0 && key.length <= KEY_CHARS_MAX)) return;
  add(pointer, 'request.range', `1 to ${KEY_CHARS_MAX} characters`, `${key.length}`);
}

function checkSize(fields: Readonly<Partial<Record<EventField, Stored>>>, add: AddIssue): void {
  let charCount = 0;
  for (const value of Object.values(fields)) if (typeof value === 'string') charCount += value.length;
  if (charCount <= EVENT_CHARS_MAX) return;
  add('', 'request.range', `an event of at most ${EVENT_CHARS_MAX} characters of text and JSON`, `${charCount}`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
