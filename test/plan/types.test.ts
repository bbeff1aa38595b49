// What does not compile: `tsc` fails on an expected error that is none.

import { expect, test } from 'vitest';
import { createPlan, pipeline, RequestError } from '../../src/index.js';

const celsius = pipeline('office').sub(32).div(1.8);

test('a pipeline without `as` is refused by the compiler, and as the program runs', () => {
  // @ts-expect-error: no `.as(…)`
  expect(() => createPlan([celsius])).toThrow(RequestError);
  // @ts-expect-error: no `.as(…)`, nor a list
  expect(() => createPlan(celsius)).toThrow(RequestError);
  expect(createPlan([celsius.as('Celsius')]).items).toHaveLength(1);
});

test('what is no list of items is refused by the compiler', () => {
  // @ts-expect-error: a number
  expect(() => createPlan(42)).toThrow(RequestError);
  // @ts-expect-error: an item outside of a list
  expect(() => createPlan(celsius.as('Celsius'))).toThrow(RequestError);
});

test('parsed JSON is taken as it is', () => {
  const parsed: unknown = JSON.parse(JSON.stringify([celsius.as('Celsius')]));
  expect(createPlan(parsed).items).toHaveLength(1);
  expect(createPlan(JSON.parse('[]').concat(parsed)).items).toHaveLength(1);
});
