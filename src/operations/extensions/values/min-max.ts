import type { ScalarKernel, VectorKernel } from '../../../kernels/arithmetic.js';
import * as kernels from '../../../kernels/values.js';
import { arithmetic } from '../../arithmetic.js';
import type { Operation, OtherInput, StepDraft } from '../../operation.js';
import { type AlignParameters, alignOf, type Operand, type OperandParameters } from '../../two-inputs.js';
import { checkAlign } from '../align.js';
import { aligned } from '../joined.js';

export const min = extreme({ min: withOperands }, 'Min', kernels.minScalar, kernels.min, Math.min, ['minimum']);

export const max = extreme({ max: withOperands }, 'Max', kernels.maxScalar, kernels.max, Math.max, ['maximum']);

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
