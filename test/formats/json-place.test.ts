import fc from 'fast-check';
import { expect, it } from 'vitest';
import { placeOf, showPlace } from '../../src/formats/json-place.js';

const text = fc.string({
  unit: fc.constantFrom('a', ' ', '\t', '\r\n', '\n', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
});

it('the place of each offset is the line and column that one gets by counting', () => {
  fc.assert(
    fc.property(text, (given) => {
      let [line, column] = [1, 1];
      for (let offset = 0; offset <= given.length; offset++) {
        expect(placeOf(given, offset)).toEqual({ line, column });
        const [shown, marks] = showPlace(given, offset).split('\n');
        const whole = given.split('\n')[line - 1]!;
        const isAtEnd = column > whole.replace(/\r$/, '').length;
        if (!isAtEnd) expect(shown![marks!.indexOf('^')]).toBe(given[offset]!.replace('\t', ' '));
        [line, column] = given[offset] === '\n' ? [line + 1, 1] : [line, column + 1];
      }
    }),
  );
});
