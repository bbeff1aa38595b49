import * as kernels from '../kernels/compare.js';
import { alignParameters, checkAlign } from './extensions/align.js';
import type { Describe, Operation, OperationTexts, StepDraft, WrittenExample } from './operation.js';
import { number, numberIn, numberOr, type Parameters } from './parameters.js';
import {
  type AlignParameters,
  describeOperand,
  type Operand,
  type OperandParameters,
  operandTexts,
  scalar,
  withOperand,
} from './two-inputs.js';

interface Kernels {
  readonly scalar: kernels.ScalarComparison;
  readonly vector: kernels.VectorComparison;
  /** The result where the kernels' comparison holds. */
  readonly yes: 0 | 1;
}

const equal = { scalar: kernels.eqScalar, vector: kernels.eq };
const less = { scalar: kernels.ltScalar, vector: kernels.lt };
const greater = { scalar: kernels.gtScalar, vector: kernels.gt };

export const eq = comparison<EqualMethods<'eq'>, 'Eq'>({ eq: withOperand }, 'Eq', { ...equal, yes: 1 }, ['equal']);
export const ne = comparison<EqualMethods<'ne'>, 'Ne'>({ ne: withOperand }, 'Ne', { ...equal, yes: 0 });
export const lte = comparison({ lte: withOperand }, 'Lte', { ...greater, yes: 0 });
export const lt = comparison({ lt: withOperand }, 'Lt', { ...less, yes: 1 });
export const gt = comparison({ gt: withOperand }, 'Gt', { ...greater, yes: 1 });
export const gte = comparison({ gte: withOperand }, 'Gte', { ...less, yes: 0 });

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

type Tolerance = { readonly tolerance?: number };

type EqualMethods<Name extends string> = {
  readonly [name in Name]: (
    operand: Operand,
    parameters?: AlignParameters & Tolerance,
  ) => StepDraft<OperandParameters & Tolerance>;
};

function comparison<M extends object, N extends string>(
  methods: M,
  name: N,
  code: Kernels,
  otherNames?: readonly string[],
): Operation<M, N> {
  const tolerance = number({ minimum: 0, optional: true, extension: true });
  return {
    name,
    otherNames,
    shape: 'map',
    inputs: 'one and a scalar, or two',
    methods,
    parameters: { scalar, ...(code.vector === kernels.eq ? { tolerance } : {}), ...alignParameters },
    check: checkAlign,
    open: (parameters) => openComparison(parameters, code),
  };
}

function openComparison(parameters: Parameters, { scalar, vector, yes }: Kernels): ReturnType<Operation['open']> {
  const tolerance = numberOr(parameters, 'tolerance', 0);
  if (parameters.scalar === undefined) {
    const compare: kernels.VectorComparison =
      tolerance === 0 ? vector : (left, right, count, out) => kernels.near(left, right, count, tolerance, out, yes);
    return { kind: 'combine', apply: (left, right, count, out) => compare(left, right, count, out, yes) };
  }
  const operand = numberIn(parameters, 'scalar');
  const compare: kernels.ScalarComparison =
    tolerance === 0
      ? scalar
      : (value, count, _scalar, out) => kernels.nearScalar(value, count, operand, tolerance, out, yes);
  return { kind: 'map', apply: (value, count, out) => compare(value, count, operand, out, yes) };
}

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
