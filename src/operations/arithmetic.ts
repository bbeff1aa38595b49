import type { ScalarKernel, VectorKernel } from '../kernels/arithmetic.js';
import * as kernels from '../kernels/arithmetic.js';
import { alignParameters, checkAlign } from './extensions/align.js';
import type { Operation } from './operation.js';
import { numberIn } from './parameters.js';
import { scalar, withOperand } from './two-inputs.js';

export const add = arithmetic({ add: withOperand }, 'Add', kernels.addScalar, kernels.add, ['plus']);

export const sub = arithmetic({ sub: withOperand }, 'Sub', kernels.subScalar, kernels.sub, ['minus', 'subtract']);

export const mul = arithmetic({ mul: withOperand }, 'Mul', kernels.mulScalar, kernels.mul, ['multiply']);

export const div = arithmetic({ div: withOperand }, 'Div', kernels.divScalar, kernels.div, ['divide']);

/** An operation on a value and a scalar, or on two series, by kernels. */
export function arithmetic<M extends object, N extends string>(
  methods: M,
  name: N,
  ofScalar: ScalarKernel,
  ofVector: VectorKernel,
  otherNames?: readonly string[],
): Operation<M, N> {
  return {
    name,
    otherNames,
    shape: 'map',
    inputs: 'one and a scalar, or two',
    methods,
    parameters: { scalar, ...alignParameters },
    check: checkAlign,
    open: (parameters) => {
      if (parameters.scalar === undefined) return { kind: 'combine', apply: ofVector };
      const operand = numberIn(parameters, 'scalar');
      return { kind: 'map', apply: (value, count, out) => ofScalar(value, count, operand, out) };
    },
  };
}
