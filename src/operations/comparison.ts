import * as kernels from '../kernels/compare.js';
import { alignParameters, checkAlign } from './extensions/align.js';
import type { Operation, StepDraft } from './operation.js';
import { number, numberIn, numberOr, type Parameters } from './parameters.js';
import { type AlignParameters, type Operand, type OperandParameters, scalar, withOperand } from './two-inputs.js';

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
