import { describeIssue, describeValue, type Issue } from '../../core/errors.js';
import { badRequest, ServiceError } from '../errors.js';
import { inTurns } from '../in-turns.js';
import { type AddIssue, readEvent } from './read-event.js';
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
  const issues: EventIssue[] = [];
  const lines = body.split('\n').map((text, index) => ({ text, line: index + 1 }));
  for await (const part of inTurns(lines.filter(({ text }) => text.trim() !== ''))) {
    for (const { text, line } of part) {
      try {
        posted.push({ value: JSON.parse(text), pointer: '', line });
      } catch {
        const [expected, received] = ['an event as JSON', describeValue(text)];
        issues.push({ line, pointer: '', code: 'request.json', expected, received });
      }
    }
  }
  return readPosted(posted, collection, issues);
}

/** @throws ServiceError 400 with every fault of every event; 413 for too many events. */
async function readPosted(
  posted: readonly Posted[],
  collection: string | undefined,
  before: readonly EventIssue[] = [],
): Promise<EventDraft[]> {
  if (posted.length > EVENTS_MAX) {
    const message = `expected at most ${EVENTS_MAX} events at once, received ${posted.length}; send them in parts`;
    throw new ServiceError(413, message);
  }
  const issues = [...before];
  const events: EventDraft[] = [];
  const seen = new Set<string>();
  for await (const part of inTurns(posted)) {
    for (const one of part) {
      const add = addTo(issues, one);
      const event = readEvent(one.value, collection, add);
      if (event === undefined) continue;
      const key = JSON.stringify([event.ercollectionid, event.id]);
      if (event.id !== null && seen.has(key)) {
        add('/id', 'request.duplicate', 'each event once in a body', describeValue(event.id));
      }
      seen.add(key);
      events.push(event);
    }
  }
  if (issues.length > 0) throw refusal(issues);
  if (events.length === 0) throw badRequest('the body has no events; expected one, or an array of them');
  return events;
}

function addTo(issues: EventIssue[], { pointer, line }: Posted): AddIssue {
  return (at, code, expected, received, suggestion) => {
    issues.push({
      ...(line === undefined ? {} : { line }),
      pointer: pointer + at,
      code,
      expected,
      received,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  };
}

function refusal(issues: readonly EventIssue[]): ServiceError {
  const [first] = issues;
  const line = first?.line === undefined ? '' : `line ${first.line}: `;
  const more = issues.length === 1 ? '' : `, and ${issues.length - 1} more`;
  const message = `${line}${first === undefined ? '' : describeIssue(first)}${more}; nothing was stored`;
  return badRequest(message, { issues: issues.slice(0, SHOWN_ISSUES_MAX), issueCount: issues.length });
}
