import { describeIssue, describeValue, type ErrorCode, type Issue } from '../../core/errors.js';
import { badRequest, ServiceError } from '../errors.js';
import { readEvent } from './read-event.js';
import type { EventDraft } from './record.js';

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

/** Reads the body of a JSON request: one event, or an array of them. */
export function readJsonEvents(body: unknown, collection: string | undefined): EventDraft[] {
  if (!Array.isArray(body)) return readPosted([{ value: body, pointer: '' }], collection);
  return readPosted(
    body.map((value: unknown, index) => ({ value, pointer: `/${index}` })),
    collection,
  );
}

/** Reads a body with an event on each line; empty lines are passed over. */
export function readNdjsonEvents(body: string, collection: string | undefined): EventDraft[] {
  const posted: Posted[] = [];
  const issues: EventIssue[] = [];
  for (const [index, text] of body.split('\n').entries()) {
    if (text.trim() === '') continue;
    const line = index + 1;
    try {
      posted.push({ value: JSON.parse(text), pointer: '', line });
    } catch {
      issues.push({
        line,
        pointer: '',
        code: 'request.json',
        expected: 'an event as JSON',
        received: describeValue(text),
      });
    }
  }
  return readPosted(posted, collection, issues);
}

/** @throws ServiceError 400 with every fault of every event; 413 for too many events. */
function readPosted(
  posted: readonly Posted[],
  collection: string | undefined,
  before: EventIssue[] = [],
): EventDraft[] {
  if (posted.length > EVENTS_MAX) {
    const message = `expected at most ${EVENTS_MAX} events at once, received ${posted.length}; send them in parts`;
    throw new ServiceError(413, message);
  }
  const issues = [...before];
  const events: EventDraft[] = [];
  const seen = new Set<string>();
  for (const { value, pointer, line } of posted) {
    const add = (at: string, code: ErrorCode, expected: string, received: string, suggestion?: string): void => {
      const mend = suggestion === undefined ? {} : { suggestion };
      issues.push({
        ...(line === undefined ? {} : { line }),
        pointer: pointer + at,
        code,
        expected,
        received,
        ...mend,
      });
    };
    const event = readEvent(value, collection, add);
    if (event === undefined) continue;
    const key = JSON.stringify([event.ercollectionid, event.id]);
    if (event.id !== null && seen.has(key)) {
      add('/id', 'request.duplicate', 'each event once in a body', describeValue(event.id));
    }
    seen.add(key);
    events.push(event);
  }
  if (issues.length > 0) throw refusal(issues);
  if (events.length === 0) throw badRequest('the body has no events; expected one, or an array of them');
  return events;
}

function refusal(issues: readonly EventIssue[]): ServiceError {
  const [first] = issues;
  const line = first?.line === undefined ? '' : `line ${first.line}: `;
  const more = issues.length === 1 ? '' : `, and ${issues.length - 1} more`;
  const message = `${line}${first === undefined ? '' : describeIssue(first)}${more}; nothing was stored`;
  return badRequest(message, { issues: issues.slice(0, SHOWN_ISSUES_MAX), issueCount: issues.length });
}
