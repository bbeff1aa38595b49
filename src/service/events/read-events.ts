import { describeIssue, describeValue, type ErrorCode, type Issue } from '../../core/errors.js';
import { didYouMean } from '../../core/suggest.js';
import { countWork } from '../../storage/next-turn.js';
import { hasMoreCharacters } from '../http/characters.js';
import { badRequest, ServiceError } from '../http/errors.js';
import { describeLineFault, JsonIssueError, parseJson, pointerPart } from '../http/json.js';
import { type EventField, eventFieldNames, eventFields, type FieldType, readOccurredAt } from './fields.js';
import { charsOf, EVENT_CHARS, type EventDraft, objectFault, TURN_CHARS, workOf } from './record.js';

/** The most events of one request, which one commit stores. */
export const EVENTS_MAX = 10_000;

/** A line is parsed in one piece. Room for the largest event with each of its characters escaped (`\u0041`). */
const LINE_CHARS_MAX = 512 * 1024;

/** How many faults are listed one by one; all are counted. */
const SHOWN_ISSUES_MAX = 100;

/** A fault of a body. In NDJSON the pointer is relative to the line. */
export interface EventIssue extends Issue {
  /** From 1. */
  readonly line?: number;
}

/** A value of a body, with its place. */
interface Posted {
  readonly value: unknown;
  readonly pointer: string;
  readonly line?: number;
}

/** The first faults of a body, and how many there are in all. */
interface Faults {
  readonly shown: EventIssue[];
  count: number;
}

/** Reads the body of a JSON request: one event, or an array of them. */
export async function readJsonEvents(body: unknown, collection: string | undefined): Promise<EventDraft[]> {
  const reading = new Reading(collection);
  if (Array.isArray(body)) {
    checkCount(body.length);
    for (const [index, value] of body.entries()) await reading.take({ value, pointer: `/${index}` });
  } else await reading.take({ value: body, pointer: '' });
  return reading.end();
}

/** Reads a body with an event on each line; skips empty lines. */
export async function readNdjsonEvents(body: string, collection: string | undefined): Promise<EventDraft[]> {
  const reading = new Reading(collection);
  let line = 0;
  for (const text of linesOf(body)) {
    line++;
    await reading.afterWork(text.length + 1);
    if (text.trim() === '') continue;
    const add = reading.addAt({ pointer: '', line });
    if (text.length > LINE_CHARS_MAX) {
      add('', 'request.range', `an event in at most ${LINE_CHARS_MAX} characters`, `${text.length}`);
      continue;
    }
    let value: unknown;
    try {
      value = parseJson(text);
    } catch (error) {
      if (error instanceof JsonIssueError) {
        const { pointer, expected, received } = error.issue;
        add(pointer, 'request.json', expected, received);
      } else {
        const found = (reading.isFull ? undefined : describeLineFault(text)) ?? describeValue(text);
        add('', 'request.json', 'an event as JSON', found);
      }
      await reading.afterWork(EVENT_CHARS);
      continue;
    }
    await reading.afterWork(EVENT_CHARS);
    await reading.take({ value, pointer: '', line });
  }
  return reading.end();
}

// Not `split`, which would take as long and as much memory as the body has lines before others are answered.
function* linesOf(body: string): Generator<string> {
  for (let from = 0; from <= body.length; ) {
    const at = body.indexOf('\n', from);
    const end = at < 0 ? body.length : at;
    yield body.slice(from, end);
    from = end + 1;
  }
}

/** The events and the faults of a body, in its order. */
class Reading {
  /** Gives others their turns while the body is read. */
  readonly afterWork = countWork(TURN_CHARS);
  readonly #collection: string | undefined;
  readonly #events: EventDraft[] = [];
  readonly #keys = new Set<string>();
  readonly #faults: Faults = { shown: [], count: 0 };
  #count = 0;

  constructor(collection: string | undefined) {
    this.#collection = collection;
  }

  /** Reads an event. Those beyond the most that a body may have are only counted. */
  async take(one: Posted): Promise<void> {
    if (++this.#count > EVENTS_MAX) return;
    const add = this.addAt(one);
    const event = readEvent(one.value, this.#collection, add);
    // What is refused may be of any size.
    await this.afterWork(event === undefined ? TURN_CHARS : workOf(event));
    if (event === undefined) return;
    const key = JSON.stringify([event.ercollectionid, event.id]);
    if (event.id !== null && this.#keys.has(key)) {
      add('/id', 'request.duplicate', 'each event once in a body', describeValue(event.id));
    }
    this.#keys.add(key);
    this.#events.push(event);
  }

  /** Whether further faults are only counted. */
  get isFull(): boolean {
    return this.#faults.shown.length >= SHOWN_ISSUES_MAX;
  }

  addAt(place: Pick<Posted, 'pointer' | 'line'>): AddIssue {
    return addTo(this.#faults, place);
  }

  /** @throws ServiceError 400 with every fault of every event; 413 for too many events. */
  end(): EventDraft[] {
    checkCount(this.#count);
    if (this.#faults.count > 0) throw refusal(this.#faults);
    if (this.#events.length === 0) throw badRequest('the body has no events; expected one, or an array of them');
    return this.#events;
  }
}

function checkCount(count: number): void {
  if (count <= EVENTS_MAX) return;
  const message = `expected at most ${EVENTS_MAX} events at once, received ${count}; send them in parts`;
  throw new ServiceError(413, message);
}

function addTo(faults: Faults, { pointer, line }: Pick<Posted, 'pointer' | 'line'>): AddIssue {
  return (at, code, expected, received, suggest) => {
    faults.count++;
    if (faults.shown.length >= SHOWN_ISSUES_MAX) return;
    const suggestion = suggest?.();
    faults.shown.push({
      ...(line === undefined ? {} : { line }),
      pointer: pointer + at,
      code,
      expected,
      received,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  };
}

function refusal({ shown: issues, count: issueCount }: Faults): ServiceError {
  const [first] = issues;
  const line = first?.line === undefined ? '' : `line ${first.line}: `;
  const more = issueCount === 1 ? '' : `, and ${issueCount - 1} more`;
  const message = `${line}${first === undefined ? '' : describeIssue(first)}${more}; nothing was stored`;
  return badRequest(message, { issues, issueCount });
}

/** Adds a fault at `pointer` within the event. `suggest` is called only if the fault is listed. */
export type AddIssue = (
  pointer: string,
  code: ErrorCode,
  expected: string,
  received: string,
  suggest?: () => string | undefined,
) => void;

/** For ids of events and collections, which are sent in paths and headers. */
export const KEY_CHARS_MAX = 256;

/** The size that CloudEvents asks consumers to accept; a page of a thousand such events fits into memory. */
const EVENT_CHARS_MAX = 64 * 1024;

const KNOWN_FIELDS: ReadonlySet<string> = new Set(eventFieldNames);
const SOURCE_FIELDS: ReadonlySet<string> = new Set(['Type', 'Event']);

type Stored = string | number | boolean | null;

/**
 * Reads an event (interface 2.4) and adds all its faults; absent fields become null.
 *
 * @param collection from the header, for events that do not name theirs.
 * @returns undefined if there was a fault.
 */
function readEvent(value: unknown, collection: string | undefined, add: AddIssue): EventDraft | undefined {
  if (!isObject(value)) {
    add('', 'request.type', 'an event, as an object', describeValue(value));
    return undefined;
  }
  let isSound = true;
  const addFault: AddIssue = (...issue) => {
    isSound = false;
    add(...issue);
  };
  checkUnknown(value, '', KNOWN_FIELDS, addFault);
  const fields: Partial<Record<EventField, Stored>> = {};
  for (const field of eventFieldNames) {
    // Only own properties: what `__proto__` and the like would find is not the caller's.
    const given = Object.hasOwn(value, field) ? value[field] : null;
    fields[field] =
      given === null || given === undefined ? null : readers[eventFields[field]](given, `/${field}`, addFault);
  }
  checkKey(fields.id, '/id', addFault);
  fields.ercollectionid = collectionOf(fields.ercollectionid, collection, addFault);
  checkSize(fields, addFault);
  // `as`: each field was read by its type's reader, and the collection is set unless there was a fault.
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
  // Databases do not return either as it was stored.
  if (/\0|\p{Surrogate}/u.test(value)) {
    add(pointer, 'request.value', 'text without NUL characters and lone surrogates', describeValue(value));
    return null;
  }
  return value;
}

function checkSourceEvent(value: Readonly<Record<string, unknown>>, pointer: string, add: AddIssue): void {
  checkUnknown(value, pointer, SOURCE_FIELDS, add);
  const { Type: type, Event: event } = value;
  const code = (part: unknown): ErrorCode => (part === undefined ? 'request.missing' : 'request.type');
  if (typeof type !== 'string') add(`${pointer}/Type`, code(type), 'a string', describeValue(type));
  if (!isObject(event)) add(`${pointer}/Event`, code(event), 'an object', describeValue(event));
}

function checkUnknown(value: object, pointer: string, known: ReadonlySet<string>, add: AddIssue): void {
  for (const name of Object.keys(value)) {
    if (known.has(name)) continue;
    const place = `${pointer}/${pointerPart(name)}`;
    const expected = pointer === '' ? 'a field of an event' : [...known].join(' and ');
    add(place, 'request.unknown', expected, describeValue(name), () => didYouMean(name, [...known]));
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
    const expected = `${describeValue(header)} as in the header ercollectionid, or only one of the two`;
    add('/ercollectionid', 'request.conflict', expected, describeValue(own));
  }
  return own;
}

function checkKey(key: Stored | undefined, pointer: string, add: AddIssue): void {
  if (typeof key !== 'string' || (key !== '' && !hasMoreCharacters(key, KEY_CHARS_MAX))) return;
  add(pointer, 'request.range', `1 to ${KEY_CHARS_MAX} characters`, `${[...key].length}`);
}

function checkSize(fields: Readonly<Partial<Record<EventField, Stored>>>, add: AddIssue): void {
  const charCount = charsOf(fields);
  if (charCount <= EVENT_CHARS_MAX) return;
  add('', 'request.range', `an event of at most ${EVENT_CHARS_MAX} characters of text and JSON`, `${charCount}`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
