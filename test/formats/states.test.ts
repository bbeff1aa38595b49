import { expect, test } from 'vitest';
import { numberFault } from '../../src/formats/table/read-text.js';
import { statesOf } from '../../src/formats/table/table-options.js';

test('states are texts with their numbers, or with nothing for a missing value', () => {
  const words = ['on=1', 'off=0', 'unavailable=', 'unknown= ', 'a=b=-1.5e3', '__proto__=2', 'on=1.0'];
  expect(Object.entries(statesOf(words))).toEqual([
    ['on', 1],
    ['off', 0],
    ['unavailable', null],
    ['unknown', null],
    ['a=b', -1500],
    ['__proto__', 2],
  ]);
});

test.each([
  ['on', '"on"'],
  ['=1', '"=1"'],
  ['on=x', '"on=x"'],
  ['on=0x10', '"on=0x10"'],
  ['on=Infinity', '"on=Infinity"'],
  ['on=.', '"on=."'],
  ['on=1e999', '"on=1e999"'],
])('%s is none', (word, received) => {
  const expected = `states: expected TEXT=NUMBER, or TEXT= for a value that is missing, received ${received}`;
  expect(() => statesOf([word])).toThrow(expected);
});

test('a text has one number', () => {
  expect(() => statesOf(['on=1', 'on=0'])).toThrow('states: expected one number for each text, received "on" with two');
  expect(() => statesOf(['on=1', 'on='])).toThrow('states: expected one number for each text, received "on" with two');
});

test.each(['−5', '<0.5', '(5)', '€12.50', '-5 to 6'])(
  'the value %s is not offered as a state, which would lose it',
  (text) => {
    expect(numberFault(text, { decimal: 'point', isPointOpen: false })).not.toHaveProperty('options');
  },
);

test.each(['off', '#N/A', '–', '--', 'n/a', 'phase2'])('the text %s is offered as a state', (text) => {
  expect(numberFault(text, { decimal: 'point', isPointOpen: false }).options).toMatchObject([{ option: 'states' }]);
});
