import type { Describe, OperationTexts, WrittenExample } from '../operation.js';
import { describeOperand, operandTexts } from './two-inputs.js';

export const eqTexts = /* @__PURE__ */ comparisonTexts('equal to', [0, 1, 0], true);
export const neTexts = /* @__PURE__ */ comparisonTexts('not equal to', [1, 0, 1], true);
export const lteTexts = /* @__PURE__ */ comparisonTexts('at most', [1, 1, 0]);
export const ltTexts = /* @__PURE__ */ comparisonTexts('less than', [1, 0, 0]);
export const gtTexts = /* @__PURE__ */ comparisonTexts('greater than', [0, 0, 1]);
export const gteTexts = /* @__PURE__ */ comparisonTexts('at least', [0, 1, 1]);

export const describeEq = /* @__PURE__ */ describeComparison('equal to');
export const describeNe = /* @__PURE__ */ describeComparison('not equal to');
export const describeLte = /* @__PURE__ */ describeComparison('at most');
export const describeLt = /* @__PURE__ */ describeComparison('less than');
export const describeGt = /* @__PURE__ */ describeComparison('greater than');
export const describeGte = /* @__PURE__ */ describeComparison('at least');

function describeComparison(words: string): Describe {
  return describeOperand(
    `1 where the first input is ${words} the second, else 0`,
    `1 where the value is ${words} $, else 0`,
  );
}

/** The results for values below 2, equal to 2 and above it. */
type Results = readonly [below: number, equal: number, above: number];

function comparisonTexts(words: string, results: Results, hasTolerance = false): OperationTexts {
  const tolerance = 'Values this far apart or less count as equal.';
  return {
    summary: `Gives 1 where a value is ${words} a scalar or the second series, and 0 elsewhere.`,
    parameters: { ...operandTexts, ...(hasTolerance ? { tolerance } : {}) },
    examples: [...comparisonExamples(words, results), ...(hasTolerance ? [exampleWithTolerance(results)] : [])],
  };
}

function comparisonExamples(words: string, [below, equal, above]: Results): readonly WrittenExample[] {
  const values = '00:00 1.5, 00:01 2, 00:02 2.5';
  const output = `00:00 ${below}, 00:01 ${equal}, 00:02 ${above}`;
  return [
    { title: `Which values are ${words} 2`, parameters: { scalar: 2 }, inputs: [values], output },
    {
      title: `Where the first series is ${words} the second`,
      parameters: {},
      inputs: [values, '00:00 2, 00:01 2, 00:02 2'],
      output,
    },
    {
      title: `Against a slower series, as it was last known`,
      parameters: { align: 'asof' },
      inputs: [values, '00:00 2'],
      output,
    },
  ];
}

function exampleWithTolerance([, inside]: Results): WrittenExample {
  return {
    title: 'With a tolerance',
    parameters: { scalar: 2, tolerance: 0.5 },
    inputs: ['00:00 1.5, 00:01 2, 00:02 2.5, 00:03 2.75'],
    output: `00:00 ${inside}, 00:01 ${inside}, 00:02 ${inside}, 00:03 ${1 - inside}`,
  };
}
