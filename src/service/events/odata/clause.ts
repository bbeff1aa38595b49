import { didYouMean } from '../../../core/suggest.js';
import { badRequest, type ServiceError } from '../../http/errors.js';
import { type EventField, eventFieldNames, eventFields, isEventField } from '../fields.js';

export interface ClauseIssue {
  /** The clause's name; of what is no clause, the name that was given. */
  readonly clause: string;
  /** Offset into the decoded text of the clause, from 0, in UTF-16 code units; its length means the end. */
  readonly position: number;
  readonly expected: string;
  readonly received: string;
  readonly suggestion?: string | undefined;
}

/** Ends the reading of one clause; the others are still read, so that all that is wrong is told at once. */
export class ClauseError extends Error {
  readonly issue: ClauseIssue;

  constructor(issue: ClauseIssue) {
    super(describeIssue(issue));
    this.issue = issue;
  }
}

/** 400 with every issue, by place. */
export function badClauses(issues: readonly ClauseIssue[]): ServiceError {
  return badRequest(issues.map(describeIssue).join('; '), { issues });
}

function describeIssue({ clause, position, expected, received, suggestion }: ClauseIssue): string {
  const mend = suggestion === undefined ? '' : ` (${suggestion})`;
  return `${clause} at ${position}: expected ${expected}, received ${received}${mend}`;
}

/** A clause that is being read, and how far. */
export interface ClauseText {
  readonly clause: string;
  readonly text: string;
  position: number;
}

const RECEIVED_CHARS_MAX = 60;

/** A text of the caller's, short enough to be told back. */
export function shorten(text: string): string {
  return text.length <= RECEIVED_CHARS_MAX ? text : `${text.slice(0, RECEIVED_CHARS_MAX - 1)}…`;
}

/** @throws ClauseError about what stands at `position`, by default where reading has come to. */
export function fail(
  { clause, text, position: here }: ClauseText,
  expected: string,
  { position = here, ...more }: Partial<Pick<ClauseIssue, 'position' | 'received' | 'suggestion'>> = {},
): never {
  const received = more.received ?? describeRest(text, position);
  throw new ClauseError({ clause, position, expected, received, suggestion: more.suggestion });
}

// The word that stands there, or the character where no word does.
function describeRest(text: string, position: number): string {
  if (position >= text.length) return position === 0 ? 'nothing' : 'the end';
  const word = /^(?:[^\s'(),]+|\s+|'(?:[^']|'')*'?|.)/su.exec(text.slice(position))?.[0] ?? '';
  return word.trim() === '' ? 'a space' : shorten(word);
}

/** Takes what `pattern` (sticky) matches here. */
export function take(from: ClauseText, pattern: RegExp): string | undefined {
  pattern.lastIndex = from.position;
  const taken = pattern.exec(from.text)?.[0];
  if (taken !== undefined) from.position += taken.length;
  return taken;
}

/** Takes spaces and tabs, if there are any. */
export function skipSpace(from: ClauseText): boolean {
  return (take(from, /[ \t]+/y) ?? '') !== '';
}

/** @throws ClauseError unless the clause ends here, spaces apart. */
export function expectEnd(from: ClauseText, expected: string): void {
  skipSpace(from);
  if (from.position < from.text.length) fail(from, expected);
}

/** Reads the name of a field. Names are those of interface 2.4, letter by letter. */
export function readField(from: ClauseText, expected: string): EventField {
  const { position } = from;
  const name = take(from, /[\p{L}_][\p{L}\p{N}_]*/uy);
  if (name !== undefined && isEventField(name)) return name;
  const suggestion = name === undefined ? undefined : didYouMean(name, eventFieldNames);
  return fail(from, expected, { position, suggestion });
}

/** Reads the name of a field that is a single value, and not an object. */
export function readPlainField(from: ClauseText, purpose: string): EventField {
  const { position } = from;
  const field = readField(from, `a field of an event ${purpose}`);
  if (eventFields[field] !== 'object') return field;
  const expected = `a field ${purpose}: ${field} is an object, which can only be selected`;
  return fail(from, expected, { position, received: field });
}
