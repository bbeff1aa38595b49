import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonFault } from '../../src/formats/json-fault.js';
import { placeOf, showPlace } from '../../src/formats/json-place.js';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('findJsonFault', () => {
  it('finds a fault exactly where JSON.parse does', () => {
    const piece = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '-',
      '0',
      '.5',
      'e3',
      'true',
      'nul',
      ' ',
      '\n',
      '\\',
      '\\u00e9',
      "'",
      '//',
    );
    const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(texts, (text) => (findJsonFault(text) === undefined) === isJson(text)),
      { numRuns: 20_000 },
    );
  });

  it('accepts every JSON text, and finds the place of an insertion that breaks one', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        expect(findJsonFault(text)).toBeUndefined();
        const offset = at % (text.length + 1);
        const broken = `${text.slice(0, offset)}\u0001${text.slice(offset)}`;
        const found = findJsonFault(broken)?.offset ?? Number.POSITIVE_INFINITY;
        // A broken word or string is reported at its start.
        expect(found).toBeLessThanOrEqual(offset);
        expect(isJson(broken.slice(0, found).replace(/[\s\S]*$/, '0'))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['', 1, 1, 'a value', 'the end of the text', 'the text is empty'],
    ['[1,2', 1, 5, '`,` or `]`', 'the end of the text', undefined],
    ['{"a" 1}', 1, 6, '`:` after the field name', '`1`', undefined],
    ['{"a":1 "b":2}', 1, 8, '`,` or `}`', '`"b"`', undefined],
    ['[1,\n]', 2, 1, 'a value', '`]`', 'remove the `,` before the `]`'],
    ["{'a':1}", 1, 2, 'a field name in double quotes, or `}`', "`'`", 'JSON uses double quotes only'],
    ['[1] // done', 1, 5, 'nothing more', '`/`', 'JSON has no comments; remove it'],
    ['[NaN]', 1, 2, 'a value or `]`', '`NaN`', 'JSON has true, false, null and finite numbers'],
    ['{"a":"x\n"}', 1, 6, 'a value', '`"x`', 'the string is not closed on its line'],
    ['["C:\\dir"]', 1, 2, 'a value or `]`', '`"C:\\dir"`', 'a `\\` must be written `\\\\`'],
    ['[}', 1, 2, 'a value or `]`', '`}`', undefined],
  ])('%j', (text, line, column, expected, received, suggestion) => {
    const fault = findJsonFault(text);
    expect(fault && { ...placeOf(text, fault.offset), ...fault, offset: undefined }).toEqual({
      line,
      column,
      expected,
      received,
      offset: undefined,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  });

  it('nesting deeper than the stack is walked as well', () => {
    expect(findJsonFault('['.repeat(200_000))).toMatchObject({ offset: 200_000 });
  });

  it('shows the place; of a long line only the part around it', () => {
    const text = `[1,\r\n${'\t'.repeat(90)}x]`;
    expect(showPlace(text, 95)).toBe(`    2 | ${' '.repeat(39)}x]\n      | ${' '.repeat(39)}^`);
  });
});
