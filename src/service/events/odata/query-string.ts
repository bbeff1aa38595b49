import { didYouMean } from '../../../core/suggest.js';
import { asHeader } from '../../http/validator.js';
import { type ClauseIssue, shorten } from './clause.js';

/** The clauses that are supported (interface 4.4). */
export const clauseNames = Object.freeze(['$top', '$count', '$filter', '$select', '$orderby'] as const);
export type ClauseName = (typeof clauseNames)[number];

/** The query parameter that holds clauses, as a query string of its own. */
export const OPTIONS_NAME = 'OdataQueryOptions';

export type ClauseTexts = Partial<Record<ClauseName, string>>;

/**
 * The clauses of a raw query string, each a parameter or part of `OdataQueryOptions`, decoded once. What is within the
 * options is decoded with them and not again: `%2527` means the text `%27`. `+` is a space, as in a form
 * (application/x-www-form-urlencoded), which is what most HTTP clients send.
 */
export function readClauses(rawQuery: string): { texts: ClauseTexts; issues: ClauseIssue[] } {
  const texts: ClauseTexts = {};
  const issues: ClauseIssue[] = [];
  let hasOptions = false;
  for (const part of rawQuery.split('&')) {
    if (part === '') continue;
    const decoded = decodeParameter(part, issues);
    if (decoded === undefined) continue;
    const { name, value } = decoded;
    if (name !== OPTIONS_NAME) {
      addClause(texts, { name, value }, PARAMETERS, issues);
      continue;
    }
    if (hasOptions) issues.push(repeated(name));
    else for (const clause of splitOptions(value)) addClause(texts, clause, WITHIN_OPTIONS, issues);
    hasOptions = true;
  }
  return { texts, issues };
}

interface Parameter {
  readonly name: string;
  readonly value: string;
}

/** The names that a place may have. */
interface Place {
  readonly names: readonly string[];
  readonly expected: string;
}

const PARAMETERS: Place = {
  names: [...clauseNames, OPTIONS_NAME],
  expected: `one of ${clauseNames.join(', ')} or ${OPTIONS_NAME}`,
};
const WITHIN_OPTIONS: Place = {
  names: clauseNames,
  expected: `one of ${clauseNames.join(', ')} within ${OPTIONS_NAME}`,
};

function addClause(texts: ClauseTexts, { name, value }: Parameter, place: Place, issues: ClauseIssue[]): void {
  if (!isClauseName(name)) issues.push(unknownClause(name, place));
  else if (texts[name] !== undefined) issues.push(repeated(name));
  else texts[name] = value;
}

function isClauseName(name: string): name is ClauseName {
  return (clauseNames as readonly string[]).includes(name);
}

function unknownClause(name: string, { names, expected }: Place): ClauseIssue {
  return {
    clause: shorten(name),
    position: 0,
    expected,
    received: name === '' ? 'a value without a name' : shorten(name),
    suggestion: didYouMean(name, names) ?? asHeader(name),
  };
}

function repeated(name: string): ClauseIssue {
  return {
    clause: name,
    position: 0,
    expected: name === OPTIONS_NAME ? `${name} once` : `${name} once, as a parameter or within ${OPTIONS_NAME}`,
    received: 'it twice',
  };
}

function decodeParameter(part: string, issues: ClauseIssue[]): Parameter | undefined {
  const raw = splitAtEquals(part);
  const name = decodeOnce(raw.name);
  const value = decodeOnce(raw.value);
  if (typeof name === 'string' && typeof value === 'string') return { name, value };
  const fault = typeof name === 'string' ? value : name;
  const { position, received } = fault as EncodingFault;
  issues.push({
    clause: shorten(typeof name === 'string' ? name : raw.name),
    position,
    expected: 'percent-encoded UTF-8, a % itself as %25',
    received,
  });
  return undefined;
}

interface EncodingFault {
  /** Offset into the text as it was sent, since it could not be decoded. */
  readonly position: number;
  readonly received: string;
}

function decodeOnce(raw: string): string | EncodingFault {
  const text = raw.replaceAll('+', ' ');
  try {
    return decodeURIComponent(text);
  } catch {
    return encodingFault(text);
  }
}

// Decodes each run of escapes separately, to find the faulty one.
function encodingFault(text: string): EncodingFault {
  for (const { 0: run, index } of text.matchAll(/(?:%[0-9a-f]{2})+|%/gi)) {
    try {
      decodeURIComponent(run);
    } catch {
      return { position: index, received: shorten(text.slice(index, index + Math.max(3, run.length))) };
    }
  }
  throw new Error('assertion failed: what can be decoded run by run can be decoded');
}

/** Splits at each `&` outside of strings. Quotes within a string are doubled, so quotes come in pairs. */
function splitOptions(options: string): Parameter[] {
  const text = options.startsWith('?') ? options.slice(1) : options;
  const clauses = text.match(/(?:[^&']|'[^']*(?:'|$))+/g) ?? [];
  return clauses.map(splitAtEquals);
}

function splitAtEquals(text: string): Parameter {
  const equals = text.indexOf('=');
  return equals < 0 ? { name: text, value: '' } : { name: text.slice(0, equals), value: text.slice(equals + 1) };
}
