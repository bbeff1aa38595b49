import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import { describeIssue, type Issue } from '../core/errors.js';

/** Line and column of an offset, both from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  return new Lines(text).placeOf(offset);
}

/** The line of an offset with a mark below it, cut to fit. */
export function showPlace(text: string, offset: number): string {
  return new Lines(text).show(offset, 1);
}

const LINE_WIDTH = 76;

/** The lines of a text, to find the places of many offsets. */
class Lines {
  readonly #text: string;
  /** Where each begins, in ascending order. */
  readonly #starts = [0];

  constructor(text: string) {
    this.#text = text;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  placeOf(offset: number): { line: number; column: number } {
    const starts = this.#starts;
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  }

  /** The line of an offset with marks below it, cut to fit. */
  show(offset: number, length: number): string {
    const { line, column } = this.placeOf(offset);
    const start = this.#starts[line - 1]!;
    const end = (this.#starts[line] ?? this.#text.length + 1) - 1;
    const from = column + length <= LINE_WIDTH ? 0 : Math.max(0, column - 40);
    const number = `${line}`.padStart(5);
    // Only what is shown: a text of one long line may have many problems.
    const cut = this.#text.slice(start + from, Math.min(end, start + from + LINE_WIDTH));
    const shown = cut.replace(/\r$/, '').replaceAll('\t', ' ');
    const marks = '^'.repeat(Math.max(1, Math.min(length, shown.length - (column - 1 - from))));
    return `${number} | ${shown}\n${' '.repeat(5)} | ${' '.repeat(column - 1 - from)}${marks}`;
  }
}

/** The problems of a request, each with the line of the text that it concerns. */
export function describeIssuesIn(text: string, name: string, issues: readonly Issue[]): string {
  const root = treeOf(text);
  const lines = new Lines(text);
  const parts = issues.map((issue) => {
    const described = `  ${describeIssue(issue)}`;
    const node = root === undefined ? undefined : nodeOf(root, issue);
    if (node === undefined) return described;
    const { line, column } = lines.placeOf(node.offset);
    // Mark only the beginning of an object or an array.
    const length = node.type === 'object' || node.type === 'array' ? 1 : node.length;
    return `${described}\n    at ${name}:${line}:${column}\n${lines.show(node.offset, length)}`;
  });
  const count = issues.length === 1 ? 'one problem' : `${issues.length} problems`;
  return `the request has ${count}\n${parts.join('\n')}`;
}

function treeOf(text: string): Node | undefined {
  try {
    return parseTree(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // nested deeper than its stack
    throw error;
  }
}

// The node at the pointer of an issue or, if there is none, the nearest one around it.
function nodeOf(root: Node, { pointer, received }: Issue): Node | undefined {
  const names = pointer.split('/').slice(1);
  let node = root;
  for (const name of names) {
    const segment = node.type === 'array' ? Number(name) : name.replaceAll('~1', '/').replaceAll('~0', '~');
    const child = findNodeAtLocation(node, [segment]);
    if (child === undefined) return node;
    node = child;
  }
  // If the issue says that the field itself was received, the field is wrong and not its value.
  const key = node.parent?.children?.[0];
  return node.parent?.type === 'property' && received === `\`${key?.value}\`` ? key : node;
}
