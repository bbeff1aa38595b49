import { findJsonFault } from '../../formats/json-fault.js';
import { closingQuote, findRepeatedKey } from '../../formats/json-keys.js';
import { placeOf } from '../../formats/json-place.js';
import { nextTurn } from '../../storage/next-turn.js';
import { badRequest, ServiceError } from './errors.js';

/** How much text to parse before others are answered: some milliseconds of work, even before the code is optimised. */
const SLICE_CHARS = 64 * 1024;
/** An element of the outermost array is parsed in one piece. */
const ELEMENT_CHARS_MAX = 1024 * 1024;
/** Different keys of what is parsed in one piece: V8 takes long for each. Two events of the largest size have fewer. */
const KEYS_MAX = 16_384;
/** Deeper than any request of the interface, and safe for recursive code. */
const DEPTH_MAX = 256;
/**
 * How many objects and arrays a body may have, if it is not longer than so many times 8 characters: parsed, each takes
 * some fifty bytes, `[]` too. A sample or a range is more than 20 characters long.
 */
const CONTAINERS_MAX = 65_536;
const CONTAINER_CHARS_MIN = 8;

/** A JSON value that two readers may interpret differently, so it is refused. */
export interface JsonIssue {
  readonly pointer: string;
  readonly expected: string;
  readonly received: string;
}

/** A JSON text whose value is refused. */
export class JsonIssueError extends Error {
  readonly issue: JsonIssue;

  constructor(issue: JsonIssue) {
    super(`${issue.pointer}: expected ${issue.expected}, received ${issue.received}`);
    this.issue = issue;
  }
}

/**
 * Parses a short text.
 *
 * @throws SyntaxError; JsonIssueError for a key that an object has twice, of which JSON.parse would take the last one,
 * for a number beyond the range of a double, which it would make infinite, and for very many keys.
 */
export function parseJson(text: string): unknown {
  if (text.length > SLICE_CHARS && hasTooManyKeys(text, 0, text.length)) {
    throw new JsonIssueError({ pointer: '', expected: `at most ${KEYS_MAX} different keys`, received: 'more' });
  }
  const value: unknown = JSON.parse(text);
  const scan = createScan(text);
  scanUntil(scan, text.length, text.length);
  checkValue(value, scan.memberCount, text);
  return value;
}

/**
 * Parses a body of any length in slices, between which others are answered.
 *
 * @throws ServiceError 400 with the place of the fault, 413 for an element that takes too long to parse in one piece.
 */
export async function parseJsonBody(text: string, sliceChars = SLICE_CHARS): Promise<unknown> {
  if (text.length <= sliceChars) return parseSlice(text, text, 0, 0);
  const elements: unknown[] = [];
  const scan = createScan(text);
  let from = 0;
  while (from < text.length) {
    const most = ELEMENT_CHARS_MAX + SLICE_CHARS;
    const to = scanUntil(scan, from + sliceChars, from + most + 1);
    const place = (): string => placeOfElement(scan.isArray ? elements.length : undefined);
    if (to - from > most) throw tooLarge(place(), `${ELEMENT_CHARS_MAX} characters`);
    checkContainers(scan);
    if (scan.memberCount > KEYS_MAX) {
      if (hasTooManyKeys(text, from, to)) throw tooLarge(place(), `${KEYS_MAX} different keys`);
      await nextTurn();
    }
    const isLast = to === text.length;
    // A slice ends after a comma of the outermost array; a bracket replaces the comma.
    const slice = `${from === 0 ? '' : '['}${isLast ? text.slice(from) : `${text.slice(from, to - 1)}]`}`;
    const value = parseSlice(slice, text, from, elements.length, scan.memberCount);
    if (from === 0 && isLast) {
      // Its caller's work gets a turn of its own.
      await nextTurn();
      return value;
    }
    const found = value as readonly unknown[]; // in brackets, so it is an array
    // Two commas in a row, or a comma before the bracket.
    if (found.length === 0) throw notJson(text, from, slice.length, 'a value is missing');
    for (const element of found) elements.push(element);
    scan.memberCount = 0;
    from = to;
    await nextTurn();
  }
  return elements;
}

function parseSlice(slice: string, text: string, from: number, firstIndex: number, memberCount?: number): unknown {
  try {
    if (memberCount === undefined) return parseJson(slice);
    const value: unknown = JSON.parse(slice);
    checkValue(value, memberCount, slice);
    return value;
  } catch (error) {
    if (error instanceof JsonIssueError) throw refusal(error, firstIndex);
    if (error instanceof ServiceError) throw error;
    throw notJson(text, from, slice.length, error instanceof Error ? error.message : String(error));
  }
}

function notJson(text: string, from: number, length: number, message: string): ServiceError {
  const fault = describeJsonFault(text, from, length, message);
  return badRequest(`the body is not JSON: ${fault}`, { code: 'request.json' });
}

/** 400 for a repeated key, or a number beyond the range of a double. @param firstIndex of the slice's elements. */
function refusal({ issue }: JsonIssueError, firstIndex: number): ServiceError {
  const pointer = issue.pointer.replace(/^\/(\d+)/, (all, index) =>
    firstIndex === 0 ? all : `/${firstIndex + Number(index)}`,
  );
  const { expected, received } = issue;
  const message = `${pointer || 'the body'}: expected ${expected}, received ${received}; nothing was stored`;
  return badRequest(message, { issues: [{ pointer, code: 'request.json', expected, received }] });
}

function placeOfElement(index: number | undefined): string {
  return index === undefined ? 'a body that is not an array' : `element ${index} of the body, or one soon after it`;
}

function tooLarge(place: string, most: string): ServiceError {
  return new ServiceError(413, `${place}: expected at most ${most}; send it in parts`);
}

function describeJsonFault(text: string, from: number, length: number, message: string): string {
  // Bounded, since the search for the fault blocks others; V8's message has a place as well. Not shorter than the slice
  // that was parsed: where a text within it is cut, that would look like the fault.
  const part = text.slice(from, from + Math.max(length, 2 * SLICE_CHARS));
  // A slice starts after a comma.
  const prefix = from === 0 ? '' : '[0,';
  const fault = findJsonFault(prefix + part);
  if (fault === undefined) return message;
  const { line, column } = placeOf(text, from + fault.offset - prefix.length);
  const mend = fault.suggestion === undefined ? '' : `; ${fault.suggestion}`;
  return `line ${line}, column ${column}: expected ${fault.expected}, received ${fault.received}${mend}`;
}

/** What came where a line stops being JSON, and what is expected there; undefined if it is JSON. */
export function describeLineFault(line: string): string | undefined {
  const fault = findJsonFault(line);
  if (fault === undefined) return undefined;
  const mend = fault.suggestion === undefined ? '' : `; ${fault.suggestion}`;
  return `${fault.received} in column ${fault.offset + 1}, where ${fault.expected} is expected${mend}`;
}

function checkContainers({ text, containerCount }: Scan): void {
  const most = Math.max(CONTAINERS_MAX, Math.floor(text.length / CONTAINER_CHARS_MIN));
  if (containerCount > most) throw tooLarge('the body', `${most} objects and arrays`);
}

/** Whether a part of a text, between strings, has more than `KEYS_MAX` different keys. */
function hasTooManyKeys(text: string, from: number, to: number): boolean {
  const keys = new Set<string>();
  let [keyFrom, keyTo] = [from, from];
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      keyFrom = at;
      at = closingQuote(text, at, to);
      keyTo = at;
    } else if (code === COLON && keys.add(text.slice(keyFrom, keyTo)).size > KEYS_MAX) return true;
  }
  return false;
}

interface Scan {
  readonly text: string;
  at: number;
  depth: number;
  /** Whether the outermost value is an array: only arrays are cut. */
  isArray: boolean;
  /** Members of objects so far: colons outside of strings. */
  memberCount: number;
  /** Objects and arrays so far. */
  containerCount: number;
}

function createScan(text: string): Scan {
  return { text, at: 0, depth: 0, isArray: /^\s*\[/.test(text), memberCount: 0, containerCount: 0 };
}

const [QUOTE, COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [
  0x22, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d,
];

/**
 * Scans to the first comma of the outermost array at or after `least`, and returns the place behind it; without one,
 * the end of the text, or `most` if that comes first.
 */
function scanUntil(scan: Scan, least: number, most: number): number {
  const { text, isArray } = scan;
  let { at, depth, memberCount, containerCount } = scan;
  const end = Math.min(text.length, most);
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at, end);
    else if (code === COLON) memberCount++;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      containerCount++;
      if (++depth > DEPTH_MAX) throw badRequest(`the body: expected values nested at most ${DEPTH_MAX} deep`);
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    else if (code === COMMA && depth === 1 && at >= least && isArray) {
      at++;
      break;
    }
  }
  Object.assign(scan, { at, depth, memberCount, containerCount });
  return Math.min(at, end);
}

function checkValue(value: unknown, memberCount: number, text: string): void {
  const parsedCount = countMembers(value);
  if (parsedCount < 0) {
    const expected = 'a number within the range of a double';
    throw new JsonIssueError({ pointer: infinityIn(value) ?? '', expected, received: 'one beyond it, such as 1e400' });
  }
  if (parsedCount === memberCount) return;
  const repeated = findRepeatedKey(text);
  if (repeated === undefined) throw new Error('assertion failed: no key comes twice');
  const { path, key } = repeated;
  const pointer = path.map((place) => `/${pointerPart(String(place))}`).join('');
  const received = `${JSON.stringify(key)} twice`;
  throw new JsonIssueError({ pointer, expected: 'each key of an object once', received });
}

// Counts the members of all objects in the value; −Infinity if a number is infinite, whatever is added.
function countMembers(value: unknown): number {
  if (typeof value === 'number') return value - value === 0 ? 0 : Number.NEGATIVE_INFINITY;
  if (value === null || typeof value !== 'object') return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const part of value) if (typeof part === 'object' || typeof part === 'number') count += countMembers(part);
    return count;
  }
  const members = value as Readonly<Record<string, unknown>>; // of JSON
  for (const name in members) {
    const part = members[name];
    count++;
    if (typeof part === 'object' || typeof part === 'number') count += countMembers(part);
  }
  return count;
}

function infinityIn(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : '';
  if (value === null || typeof value !== 'object') return undefined;
  for (const [name, part] of Object.entries(value)) {
    const below = infinityIn(part);
    if (below !== undefined) return `/${pointerPart(name)}${below}`;
  }
  return undefined;
}

export function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
