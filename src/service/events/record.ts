import { createHash } from 'node:crypto';
import { countWork } from '../../storage/next-turn.js';
import type { EventRow } from '../../storage/tables/events.js';
import { type EventField, eventFieldNames, eventFields } from './fields.js';

/** An event without the fields of its version. */
export type EventRecord = Pick<EventRow, EventField>;

/** The fields of an event that has been checked, before its id and checksum are filled in. */
export type EventDraft = Omit<EventRecord, 'id'> & { readonly id: string | null };

/** Characters of events to read, store or write before other requests get a turn: some milliseconds of work. */
export const TURN_CHARS = 128 * 1024;
/** As much work as an event takes besides its text, in characters. */
export const EVENT_CHARS = 640;

/** The characters of an event's text and JSON. */
export function charsOf(event: Readonly<Partial<Record<EventField, unknown>>>): number {
  let charCount = 0;
  for (const field of eventFieldNames) {
    const value = event[field];
    if (typeof value === 'string') charCount += value.length;
  }
  return charCount;
}

/** The work that an event takes, in characters. */
export function workOf(event: Readonly<Partial<Record<EventField, unknown>>>): number {
  return EVENT_CHARS + charsOf(event);
}

/** Fills in the ids and checksums that callers left out. */
export async function completeEvents(
  drafts: readonly EventDraft[],
  createEventId: () => string,
): Promise<EventRecord[]> {
  const events: EventRecord[] = [];
  const afterWork = countWork(TURN_CHARS);
  for (const draft of drafts) {
    const event = { ...draft, id: draft.id ?? createEventId() };
    events.push(Object.freeze({ ...event, checksum: event.checksum ?? checksumOf(event) }));
    await afterWork(workOf(draft));
  }
  return events;
}

const checkedFields = eventFieldNames.filter((field) => field !== 'checksum').sort();

/** SHA-256, in hex, of the canonical JSON (RFC 8785) of the record as it is shown, without its checksum. */
function checksumOf(event: EventRecord): string {
  const members = checkedFields.map((field) => {
    const value = event[field];
    const isJson = eventFields[field] === 'object' && value !== null;
    return `"${field}":${isJson ? canonicalJson(JSON.parse(String(value))) : JSON.stringify(value)}`;
  });
  return createHash('sha256')
    .update(`{${members.join(',')}}`)
    .digest('hex');
}

/** The JSON of an event's fields; objects are stored as JSON and put in as they are. */
export function recordJson(event: EventRecord, fields: readonly EventField[]): string {
  const members = fields.map((field) => {
    const value = event[field];
    const isJson = eventFields[field] === 'object' && value !== null;
    return `"${field}":${isJson ? value : JSON.stringify(value)}`;
  });
  return `{${members.join(',')}}`;
}

export function isSameEvent(a: EventRecord, b: EventRecord): boolean {
  return eventFieldNames.every((field) => a[field] === b[field]);
}

/**
 * JSON in one form for equal values (RFC 8785): no spaces, keys in the order of their UTF-16 code units, numbers and
 * strings as JSON.stringify writes them. The value must have passed `objectFault`.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, of]) => `${JSON.stringify(key)}:${canonicalJson(of)}`).join(',')}}`;
}

const DEPTH_MAX = 64;

/** Why a JSON value cannot be stored as it is, as the end of a sentence; undefined if it can. */
export function objectFault(value: unknown, depth = 1): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'with a number beyond the range of a double';
  if (value === null || typeof value !== 'object') return undefined;
  if (depth > DEPTH_MAX) return `nested more than ${DEPTH_MAX} deep`;
  if (Array.isArray(value)) {
    for (const part of value) {
      const fault = objectFault(part, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  const members = value as Readonly<Record<string, unknown>>; // of JSON
  // Half the time of Object.values, which matters with 100,000 members.
  for (const name in members) {
    const fault = objectFault(members[name], depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
