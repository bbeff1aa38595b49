import { type ClauseText, expectEnd, fail, skipSpace, take } from './clause-text.js';
import { readPlainField } from './field-name.js';
import type { EventField } from './fields.js';
import { type Literal, readLiteral } from './literal.js';

/** `field eq value`. */
export interface Comparison {
  readonly field: EventField;
  readonly value: Literal;
}

/** More than people write, and less than a statement can hold. */
const COMPARISONS_MAX = 100;
const DEPTH_MAX = 100;

/** Reads comparisons joined by `and`, in any brackets: all hold, so the brackets change nothing. */
export function readFilter(from: ClauseText): readonly Comparison[] {
  const comparisons: Comparison[] = [];
  skipSpace(from);
  readAll(from, comparisons, 0);
  expectEnd(from, '`and` or the end');
  return Object.freeze(comparisons);
}

function readAll(from: ClauseText, comparisons: Comparison[], depth: number): void {
  readTerm(from, comparisons, depth);
  for (;;) {
    const { position } = from;
    const hasSpace = skipSpace(from);
    if (from.position >= from.text.length || from.text[from.position] === ')') return;
    if (!hasSpace || take(from, /and(?=[ \t])/y) === undefined) {
      const operator = /^(?:or|not|AND|And)\b/.exec(from.text.slice(from.position))?.[0];
      const suggestion = operator === undefined ? undefined : 'only `and` joins comparisons';
      fail(from, '`and` between spaces, or the end', {
        position: hasSpace ? from.position : position,
        suggestion,
      });
    }
    skipSpace(from);
    readTerm(from, comparisons, depth);
  }
}

function readTerm(from: ClauseText, comparisons: Comparison[], depth: number): void {
  const { position } = from;
  if (take(from, /\(/y) === undefined) {
    if (comparisons.length === COMPARISONS_MAX) fail(from, `at most ${COMPARISONS_MAX} comparisons`);
    comparisons.push(readComparison(from));
    return;
  }
  if (depth === DEPTH_MAX) fail(from, `at most ${DEPTH_MAX} brackets within each other`, { position });
  skipSpace(from);
  readAll(from, comparisons, depth + 1);
  skipSpace(from);
  if (take(from, /\)/y) === undefined) fail(from, '`and` or a closing bracket');
}

function readComparison(from: ClauseText): Comparison {
  const field = readPlainField(from, 'to compare');
  const { position } = from;
  const hasSpace = skipSpace(from);
  if (!hasSpace || take(from, /eq(?![^ \t])/y) === undefined) {
    const operator = /^(?:EQ|Eq|=+|ne|gt|ge|lt|le|in|has)(?![\w])/.exec(from.text.slice(from.position))?.[0];
    const suggestion = operator === undefined ? undefined : 'fields are compared by `eq` alone';
    fail(from, '`eq` between spaces', { position: hasSpace ? from.position : position, suggestion });
  }
  if (!skipSpace(from)) fail(from, 'a space and a value');
  return Object.freeze({ field, value: readLiteral(from, field) });
}
