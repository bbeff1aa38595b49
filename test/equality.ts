import { expect } from 'vitest';

// `toEqual` visits every byte and every sample by name, which took a third of the time of the property tests. What has
// the same bits is equal by any of its rules; it compares, and describes, whatever this leaves open.

/** Whether two values are certainly equal: the same primitives, or arrays of such, element by element. */
export function areSurelyEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || a === null) return Object.is(a, b);
  if (typeof b !== 'object' || b === null || a.constructor !== b.constructor) return false;
  if (ArrayBuffer.isView(a)) return ArrayBuffer.isView(b) && bytesOf(a).equals(bytesOf(b));
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] === undefined || !areSurelyEqual(a[i], b[i])) return false;
  // Elements alone: what `exec` of a regular expression gives has fields, too.
  return Object.keys(a).length === a.length && Object.keys(b).length === b.length;
}

/**
 * `expect(found).toEqual(expected)` for loops of many thousand cases: to make an expectation takes longer than to
 * compare a few samples.
 */
export function expectEqual(found: unknown, expected: unknown): void {
  if (!areSurelyEqual(found, expected)) expect(found).toEqual(expected);
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

declare global {
  var areEqualityTestersAdded: true | undefined;
}

// This is read once a file of tests, and the testers stay.
if (globalThis.areEqualityTestersAdded === undefined) {
  globalThis.areEqualityTestersAdded = true;
  expect.addEqualityTesters([(a: unknown, b: unknown) => areSurelyEqual(a, b) || undefined]);
}
