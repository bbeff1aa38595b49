import { abs as absKernel } from '../kernels/arithmetic.js';
import type { NoParameters, Operation, StepDraft } from './operation.js';

export interface AbsMethods {
  abs(): StepDraft<NoParameters>;
}

export const abs: Operation<AbsMethods> = {
  name: 'Abs',
  shape: 'map',
  results: 'one a sample',
  methods: { abs: () => ({ parameters: {} }) },
  parameters: {},
  open: () => ({ kind: 'map', apply: absKernel }),
};
