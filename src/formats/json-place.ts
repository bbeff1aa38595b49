import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import { describeIssue, type Issue } from '../core/errors.js';

/** Line and column of an offset, both from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

const LINE_WIDTH = 76;

/** The line of an offset with marks below it, cut to fit. */
export function showPlace(text: string, offset: number, length = 1): string {
  const { line, column } = placeOf(text, offset);
  const whole = (text.split('\n')[line - 1] ?? '').replace(/\r$/, '').replaceAll('\t', ' ');
  const from = column + length <= LINE_WIDTH ? 0 : Math.max(0, column - 40);
  const number = `${line}`.padStart(5);
  const shown = whole.slice(from, from + LINE_WIDTH);
  const marks = '^'.repeat(Math.max(1, Math.min(length, shown.length - (column - 1 - from))));
  return `${number} | ${shown}\n${' '.repeat(5)} | ${' '.repeat(column - 1 - from)}${marks}`;
}

/** The problems of a request, each with the line of the text that it concerns. */
export function describeIssuesIn(text: string, name: string, issues: readonly Issue[]): string {
  const root = treeOf(text);
  const parts = issues.map((issue) => {
    const described = `  ${describeIssue(issue)}`;
    const node = root === undefined ? undefined : nodeOf(root, issue);
    if (node === undefined) return described;
    const { line, column } = placeOf(text, node.offset);
    // Mark only the beginning of an object or an array.
    const length = node.type === 'object' || node.type === 'array' ? 1 : node.length;
    return `${described}\n    at ${name}:${line}:${column}\n${showPlace(text, node.offset, length)}`;
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
