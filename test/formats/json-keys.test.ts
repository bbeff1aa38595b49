import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countKeys, findRepeatedKey } from '../../src/formats/json-keys.js';

/** A value and, by hand, what of its keys is repeated first as the text is read. */
interface Written {
  readonly text: string;
  readonly keyCount: number;
  readonly repeated?: readonly (string | number)[];
}

const space = fc.constantFrom('', ' ', '\n\t');
// Few, so that they repeat; what looks like the rest of a text stands in strings.
const words = fc.constantFrom('a', 'b', '__proto__', '":', '{"a":1,"a":2}', '[\\', ',', 'é', '😀');
/** The same string may be written in several ways. */
const string = fc
  .tuple(words, fc.boolean())
  .map(([word, isEscaped]) =>
    isEscaped
      ? `"\\u${word.charCodeAt(0).toString(16).padStart(4, '0')}${JSON.stringify(word.slice(1)).slice(1)}`
      : JSON.stringify(word),
  );

const { value } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(string, fc.constantFrom('1', '-1e3', 'true', 'null')).map((text) => ({ text, keyCount: 0 })),
    fc.array(tie('value'), { maxLength: 3 }).map(
      (parts): Written => ({
        text: `[${parts.map(({ text }) => text).join(' ,')}]`,
        keyCount: parts.reduce((sum, { keyCount }) => sum + keyCount, 0),
        ...firstOf(parts.map(({ repeated }, index) => repeated && [index, ...repeated])),
      }),
    ),
    fc.array(fc.tuple(string, space, tie('value')), { maxLength: 4 }).map((members): Written => {
      const keys = members.map(([key]): string => JSON.parse(key));
      return {
        text: `{${members.map(([key, gap, { text }]) => `${key}${gap}:${gap}${text}`).join(',')}}`,
        keyCount: members.reduce((sum, [, , { keyCount }]) => sum + keyCount + 1, 0),
        ...firstOf(
          members.map(([, , { repeated }], n) =>
            keys.indexOf(keys[n]!) < n ? [keys[n]!] : repeated && [keys[n]!, ...repeated],
          ),
        ),
      };
    }),
  ),
}));

function firstOf(all: readonly (readonly (string | number)[] | undefined)[]) {
  const repeated = all.find((path) => path !== undefined);
  return repeated === undefined ? {} : { repeated };
}

it('the first key that an object has twice is found with its place, and all keys are counted', () => {
  fc.assert(
    fc.property(value, ({ text, keyCount, repeated }) => {
      const found = findRepeatedKey(text);
      expect(found?.path).toEqual(repeated);
      expect(countKeys(text)).toBe(keyCount);
      if (found === undefined) return;
      expect(found.key).toBe(found.path.at(-1));
      expect(text.slice(found.offset)).toMatch(/^"[^"]/);
    }),
    { numRuns: 2000 },
  );
});

it('long strings and deep values are read', () => {
  const long = JSON.stringify('\\"\n'.repeat(500_000));
  const text = `${'['.repeat(100_000)}{"a":${long},"a":1}${']'.repeat(100_000)}`;
  expect(findRepeatedKey(text)).toMatchObject({ key: 'a', offset: text.lastIndexOf('"a"') });
  expect(countKeys(text)).toBe(2);
});
