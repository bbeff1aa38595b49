import type { VectorKernel } from '../kernels/arithmetic.js';
import * as kernels from '../kernels/compare.js';
import { alignParameters, checkAlign } from './extensions/align.js';
import type { NoParameters, Operation, OtherInput, StepDraft } from './operation.js';
import type { AlignParameters } from './two-inputs.js';

export interface NotMethods {
  not(): StepDraft<NoParameters>;
}

export const not: Operation<NotMethods> = {
  name: 'Not',
  shape: 'map',
  results: 'one a sample',
  methods: { not: () => ({ parameters: {} }) },
  parameters: {},
  open: () => ({ kind: 'map', apply: kernels.not }),
};

export const and = logical({ and: withSecond }, 'And', kernels.and);
export const or = logical({ or: withSecond }, 'Or', kernels.or);

function withSecond(second: OtherInput, parameters: AlignParameters = {}): StepDraft<AlignParameters> {
  return { parameters, others: [second] };
}

function logical<M extends object, N extends string>(methods: M, name: N, apply: VectorKernel): Operation<M, N> {
  return {
    name,
    shape: 'map',
    inputs: 'two',
    methods,
    parameters: alignParameters,
    check: checkAlign,
    open: () => ({ kind: 'combine', apply }),
  };
}
