import type { ScalarKernel, VectorKernel } from '../../../kernels/arithmetic.js';
import * as kernels from '../../../kernels/values.js';
import { arithmetic } from '../../arithmetic.js';
import type { Operation, OperationTexts, OtherInput, StepDraft } from '../../operation.js';
import { inputs, is, type OperationRules, when } from '../../rules.js';
import {
  type AlignParameters,
  alignOf,
  describeOperand,
  type Operand,
  type OperandParameters,
  operandTexts,
} from '../../two-inputs.js';
import { checkAlign } from '../align.js';
import { aligned } from '../joined.js';

export const min = extreme({ min: withOperands }, 'Min', kernels.minScalar, kernels.min, Math.min, ['minimum']);

export const minTexts: OperationTexts = {
  summary: 'Gives the smallest of a value and a scalar, or of several series.',
  parameters: operandTexts,
  examples: [
    {
      title: 'At most 100',
      parameters: { scalar: 100 },
      inputs: ['00:00 99.5, 00:01 100, 00:02 104'],
      output: '00:00 99.5, 00:01 100, 00:02 100',
    },
    {
      title: 'The coldest of three sensors',
      parameters: {},
      inputs: ['00:00 21, 00:15 22', '00:00 20.5, 00:15 23', '00:00 24, 00:15 21.5'],
      output: '00:00 20.5, 00:15 21.5',
    },
    {
      title: 'The smaller of two series, each held until its next sample',
      parameters: { align: 'hold' },
      inputs: ['00:00 5, 00:10 1', '00:05 3'],
      output: '00:05 3, 00:10 1',
    },
  ],
};

export const describeMin = /* @__PURE__ */ describeOperand(
  'the smallest of its inputs',
  'the smallest of each value and $',
);

export const max = extreme({ max: withOperands }, 'Max', kernels.maxScalar, kernels.max, Math.max, ['maximum']);

/** Of Min and Max. */
export const extremeRules = (): OperationRules => ({
  step: [when(inputs(3), { properties: { parameters: { not: is('align', 'linear') } } })],
});

export const maxTexts: OperationTexts = {
  summary: 'Gives the greatest of a value and a scalar, or of several series.',
  parameters: operandTexts,
  examples: [
    {
      title: 'At least 0',
      parameters: { scalar: 0 },
      inputs: ['00:00 -0.5, 00:01 0, 00:02 4'],
      output: '00:00 0, 00:01 0, 00:02 4',
    },
    {
      title: 'The hottest of three sensors',
      parameters: {},
      inputs: ['00:00 21, 00:15 22', '00:00 20.5, 00:15 23', '00:00 24, 00:15 21.5'],
      output: '00:00 24, 00:15 23',
    },
    {
      title: 'At the times of the first series, with the latest of the second',
      parameters: { align: 'asof' },
      inputs: ['00:00 1, 00:10 2, 00:20 3', '00:05 2.5'],
      output: '00:10 2.5, 00:20 3',
    },
  ],
};

export const describeMax = /* @__PURE__ */ describeOperand(
  'the greatest of its inputs',
  'the greatest of each value and $',
);

/** A scalar, a second series, or several. */
export type Operands = Operand | readonly OtherInput[];

function withOperands(operand: Operands, parameters: AlignParameters = {}): StepDraft<OperandParameters> {
  if (typeof operand === 'number') return { parameters: { scalar: operand, ...parameters } };
  return { parameters, others: 'length' in operand ? operand : [operand] };
}

/** An operation on a value and a scalar, or on two series, by kernels; on more series by `ofPair`, one by one. */
function extreme<M extends object, N extends string>(
  methods: M,
  name: N,
  ofScalar: ScalarKernel,
  ofVector: VectorKernel,
  ofPair: (left: number, right: number) => number,
  otherNames: readonly string[],
): Operation<M, N> {
  const ofTwo = arithmetic(methods, name, ofScalar, ofVector, otherNames);
  return {
    ...ofTwo,
    inputs: 'one and a scalar, or more',
    check: (parameters, report, inputCount) => {
      checkAlign(parameters, report);
      if (inputCount <= 2 || alignOf(parameters) !== 'linear') return;
      report('/align', 'request.conflict', 'align `linear` with two inputs only', `${inputCount} inputs`);
    },
    open: (parameters, run) => {
      const { inputCount } = run;
      if (inputCount <= 2) return ofTwo.open(parameters, run);
      return aligned(parameters, inputCount, (value) => {
        let result = value[0]!;
        for (let i = 1; i < inputCount; i++) result = ofPair(result, value[i]!);
        return result;
      });
    },
  };
}
