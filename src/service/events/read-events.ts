import { describeIssue, describeValue, type Issue } from '../../core/errors.js';
import { badRequest, ServiceError } from '../errors.js';
import { inTurns } from '../in-turns.js';
import { type AddIssue, readEvent } from './read-event.js';
import { EVENTS_A_TURN, type EventDraft } from './record.js';

/** The most events of one request: they are written by one commit. */
export const EVENTS_MAX = 10_000;

/** So many faults are told one by one; all are counted. */
const SHOWN_ISSUES_MAX = 100;

/** A fault of a body; its pointer leads into the line, where the body is lines. */
export interface EventIssue extends Issue {
  /** From 1. */
  readonly line?: number;
}

/** A value of a body, with where it stood. */
interface Posted {
  readonly value: unknown;
  readonly pointer: string;
  readonly line?: number;
}

/** The faults of a body: the first of them, and how many there are. */
interface Faults {
  readonly shown: EventIssue[];
  count: number;
}

/** Reads the body of a JSON request: one event, or an array of them. */
export async function readJsonEvents(body: unknown, collection: string | undefined): Promise<EventDraft[]> {
  if (!Array.isArray(body)) return readPosted([{ value: body, pointer: '' }], collection);
  return readPosted(
    body.map((value: unknown, index) => ({ value, pointer: `/${index}` })),
    collection,
  );
}

/** Reads a body with an event on each line; empty lines are passed over. */
export async function readNdjsonEvents(body: string, collection: string | undefined): Promise<EventDraft[]> {
  const posted: Posted[] = [];
  const faults: Faults = { shown: [], count: 0 };
  for await (const [index, text] of inTurns(body.split('\n').entries(), EVENTS_A_TURN)) {
    if (text.trim() === '') continue;
    const line = index + 1;
    try {
      posted.push({ value: JSON.parse(text), pointer: '', line });
    } catch {
      const add = addTo(faults, { value: text, pointer: '', line });
      add('', 'request.json', 'an event as JSON', describeValue(text));
    }
  }
  return readPosted(posted, collection, faults);
}

/** @throws ServiceError 400 with every fault of every event; 413 for too many events. */
async function readPosted(
  posted: readonly Posted[],
  collection: string | undefined,
  faults: Faults = { shown: [], count: 0 },
): Promise<EventDraft[]> {
  if (posted.length > EVENTS_MAX) {
    const message = `expected at most ${EVENTS_MAX} events at once, received ${posted.length}; send them in parts`;
    throw new ServiceError(413, message);
  }
  const events: EventDraft[] = [];
  const seen = new Set<string>();
  for await (const one of inTurns(posted, EVENTS_A_TURN)) {
    const add = addTo(faults, one);
    const event = readEvent(one.value, collection, add);
    if (event === undefined) continue;
    const key = JSON.stringify([event.ercollectionid, event.id]);
    if (event.id !== null && seen.has(key)) {
      add('/id', 'request.duplicate', 'each event once in a body', describeValue(event.id));
    }
    seen.add(key);
    events.push(event);
  }
  if (faults.count > 0) throw refusal(faults);
  if (events.length === 0) throw badRequest('the body has no events; expected one, or an array of them');
  return events;
}

function addTo(faults: Faults, { pointer, line }: Posted): AddIssue {
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
