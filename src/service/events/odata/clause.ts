import { didYouMean } from '../../../core/suggest.js';
import { badRequest, type ServiceError } from '../../http/errors.js';
import { type EventField, eventFieldNames, eventFields, isEventField } from '../fields.js';

export interface ClauseIssue {
  /** The clause's name, or the unknown name that was given. */
  readonly clause: string;
  /** Offset into the decoded text of the clause, from 0, in UTF-16 code units; its length means the end. */
  readonly position: number;
  readonly expected: string;
  readonly received: string;
  readonly suggestion?: string | undefined;
}

/** Ends the reading of one clause. The others are still read, so that all errors are reported together. */
export class ClauseError extends Error {
  readonly issue: ClauseIssue;

  constructor(issue: ClauseIssue) {
    super(describeIssue(issue));
    this.issue = issue;
  }
}

/** 400 that lists every issue. */
export function badClauses(issues: readonly ClauseIssue[]): ServiceError {
  return badRequest(issues.map(describeIssue).join('; '), { issues });
}

function describeIssue({ clause, position, expected, received, suggestion }: ClauseIssue): string {
  const mend = suggestion === undefined ? '' : ` (${suggestion})`;
  return `${clause} at ${position}: expected ${expected}, received ${received}${mend}`;
}

/** A clause being read, with the current position. */
export interface ClauseText {
  readonly clause: string;
  readonly text: string;
  position: number;
}

const RECEIVED_CHARS_MAX = 60;

/** Shortens the caller's text for an error message. */
export function shorten(text: string): string {
  return text.length <= RECEIVED_CHARS_MAX ? text : `${text.slice(0, RECEIVED_CHARS_MAX - 1)}…`;
}

/** @throws ClauseError about the text at `position`, by default the current one. */
export function fail(
  { clause, text, position: here }: ClauseText,
  expected: string,
  { position = here, ...more }: Partial<Pick<ClauseIssue, 'position' | 'received' | 'suggestion'>> = {},
): never {
  const received = more.received ?? describeRest(text, position);
  throw new ClauseError({ clause, position, expected, received, suggestion: more.suggestion });
}

// The word at the position, or else the character.
function describeRest(text: string, position: number): string {
  if (position >= text.length) return position === 0 ? 'nothing' : 'the end';
  const word = /^(?:[^\s'(),]+|\s+|'(?:[^']|'')*'?|.)/su.exec(text.slice(position))?.[0] ?? '';
  return word.trim() === '' ? 'a space' : shorten(word);
}

/** Takes what `pattern` (sticky) matches at the current position. */
export function take(from: ClauseText, pattern: RegExp): string | undefined {
  pattern.lastIndex = from.position;
  const taken = pattern.exec(from.text)?.[0];
  if (taken !== undefined) from.position += taken.length;
  return taken;
}

/** Skips spaces and tabs. @returns whether there were any. */
export function skipSpace(from: ClauseText): boolean {
  return (take(from, /[ \t]+/y) ?? '') !== '';
}

/** @throws ClauseError unless the clause ends here, apart from spaces. */
export function expectEnd(from: ClauseText, expected: string): void {
  skipSpace(from);
  if (from.position < from.text.length) fail(from, expected);
}

/** Reads a field's name as interface 2.4 writes it; case matters. */
export function readField(from: ClauseText, expected: string): EventField {
  const { position } = from;
  const name = take(from, /[\p{L}_][\p{L}\p{N}_]*/uy);
  if (name !== undefined && isEventField(name)) return name;
  const suggestion = name === undefined ? undefined : didYouMean(name, eventFieldNames);
  return fail(from, expected, { position, suggestion });
}

/** Reads the name of a field that is not an object. */
export function readPlainField(from: ClauseText, purpose: string): EventField {
  const { position } = from;
  const field = readField(from, `a field of an event ${purpose}`);
  if (eventFields[field] !== 'object') return field;
  const expected = `a field ${purpose}: ${field} is an object, which can only be selected`;
  return fail(from, expected, { position, received: field });
}
