import type { JsonSchema } from './parameters.js';

/**
 * How the parameters and inputs of a step must fit together, as JSON Schemas for editors. They say the same as the
 * operation's `check`, and a test compares the two. This file is their vocabulary.
 */
export interface OperationRules {
  /** One without a condition (`if`) asks for some parameter. */
  readonly parameters?: readonly JsonSchema[];
  /** Rules for the whole step: for its inputs with its parameters. */
  readonly step?: readonly JsonSchema[];
}

export const has = (...names: string[]): JsonSchema => ({ required: names });
export const oneOf = (...names: string[]): JsonSchema => ({ anyOf: names.map((name) => has(name)) });
export const without = (...names: string[]): JsonSchema => ({ not: oneOf(...names) });
export const is = (name: string, ...values: unknown[]): JsonSchema => ({
  properties: { [name]: { enum: values } },
  required: [name],
});
// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
export const when = (condition: JsonSchema, result: JsonSchema): JsonSchema => ({ if: condition, then: result });
export const withParameters = (parameters: JsonSchema): JsonSchema => ({
  properties: { parameters },
  required: ['parameters'],
});
export const inputs = (least: number, most?: number): JsonSchema => ({
  properties: { input: { minItems: least, ...(most === undefined ? {} : { maxItems: most }) } },
});

/** A second input comes with this parameter, and only with it. */
export function pairedBy(parameter: JsonSchema): readonly JsonSchema[] {
  return [when(withParameters(parameter), inputs(2, 2)), when(inputs(2), withParameters(parameter))];
}

/** Which alignment parameters fit together. */
export const alignment = (): readonly JsonSchema[] => [
  when(has('maxhold'), is('align', 'hold', 'asof')),
  when(has('maxgap'), is('align', 'linear')),
];
