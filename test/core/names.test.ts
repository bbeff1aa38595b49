import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeIssue, describeValue, errorCodes } from '../../src/core/errors.js';
import { hashText } from '../../src/core/hash.js';
import { seriesKey } from '../../src/core/series.js';
import { nearestName } from '../../src/core/suggest.js';
import { operationNames } from '../../src/operations/index.js';

test('a name with one letter added, missing, replaced or swapped is suggested', () => {
  const property = fc.property(
    fc.constantFrom(...operationNames.filter((name) => name.length > 3)),
    fc.nat(20),
    fc.nat(3),
    (name, place, kind) => {
      const at = place % (name.length - 1);
      const wrong = [
        `${name.slice(0, at)}x${name.slice(at)}`,
        name.slice(0, at) + name.slice(at + 1),
        `${name.slice(0, at)}x${name.slice(at + 1)}`,
        name.slice(0, at) + name[at + 1]! + name[at]! + name.slice(at + 2),
      ][kind]!;
      // One more space spells the same operation; and another name may be one letter away as well.
      const known = operationNames.filter(
        (one) => one.replace(' ', '') === name.replace(' ', '') || isOneEditAway(wrong, one),
      );
      expect([name, ...known]).toContain(nearestName(wrong, operationNames));
    },
  );
  fc.assert(property, { numRuns: 2000 });
});

/** Whether inserting, deleting, replacing or swapping one letter turns one text into the other, ignoring case. */
function isOneEditAway(text: string, other: string): boolean {
  const [a, b] = [text.toLowerCase(), other.toLowerCase()];
  return Array.from({ length: a.length + 1 }, (_, at) => {
    const [head, tail] = [a.slice(0, at), a.slice(at)];
    const isReplaced = b.startsWith(head) && b.slice(at + 1) === tail.slice(1);
    const isPutIn = b.startsWith(head) && b.slice(at + 1) === tail;
    const isSwapped = tail.length > 1 && b === head + tail[1]! + tail[0]! + tail.slice(2);
    return isReplaced || isPutIn || isSwapped || b === head + tail.slice(1);
  }).some(Boolean);
}

test('a text that resembles no name gets no suggestion', () => {
  for (const text of ['', 'zzzzzz', '????', 'temperature of the hall'])
    expect(nearestName(text, operationNames)).toBeUndefined();
});

test('different series have different keys', () => {
  const reference = fc.record({ timeseriesId: fc.string(), metric: fc.string() });
  const property = fc.property(reference, reference, (a, b) => {
    const isSame = a.timeseriesId === b.timeseriesId && a.metric === b.metric;
    expect(seriesKey(a) === seriesKey(b)).toBe(isSame);
  });
  fc.assert(property, { numRuns: 3000 });
  expect(seriesKey({ timeseriesId: 'a/b', metric: 'c' })).not.toBe(seriesKey({ timeseriesId: 'a', metric: 'b/c' }));
});

test('texts that differ in one letter have different hashes', () => {
  const property = fc.property(
    fc.string({ minLength: 1, unit: 'binary' }),
    fc.nat(),
    fc.nat(65_534),
    (text, place, other) => {
      const at = place % text.length;
      const unit = (text.charCodeAt(at) + 1 + other) & 0xffff;
      fc.pre(unit !== text.charCodeAt(at));
      expect(hashText(text.slice(0, at) + String.fromCharCode(unit) + text.slice(at + 1))).not.toBe(hashText(text));
    },
  );
  fc.assert(property, { numRuns: 5000 });
});

test('any value has a short description', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true }), (value) => describeValue(value).length <= 400),
  );
  expect(describeValue('x'.repeat(500)).length).toBeLessThanOrEqual(60);
});

test('an issue prints as one line, and every code has a text', () => {
  const issue = { pointer: '/0/metric', code: 'request.type', expected: 'a name', received: '5' } as const;
  expect(describeIssue(issue)).toBe('/0/metric: expected a name, received 5');
  expect(describeIssue({ ...issue, pointer: '', suggestion: 'mend it' })).toBe(
    'the request: expected a name, received 5; mend it',
  );
  for (const words of Object.values(errorCodes)) expect(words).toMatch(/^[A-Z].*\.$/);
});
