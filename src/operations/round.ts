import { roundHalfAway, roundHalfEven } from '../kernels/round.js';
import type { Operation, StepDraft } from './operation.js';
import { choice, number, numberIn } from './parameters.js';

interface RoundMode {
  readonly mode?: 'halfaway' | 'halfeven';
}

export interface RoundMethods {
  round(roundtodigits: number, parameters?: RoundMode): StepDraft<RoundMode & { readonly roundtodigits: number }>;
}

export const round: Operation<RoundMethods> = {
  name: 'Round',
  shape: 'map',
  methods: { round: (roundtodigits, parameters) => ({ parameters: { roundtodigits, ...parameters } }) },
  parameters: {
    roundtodigits: number({ integer: true, minimum: -15, maximum: 15 }),
    mode: choice(['halfaway', 'halfeven'], { default: 'halfaway', extension: true }),
  },
  open: (parameters) => {
    const digits = numberIn(parameters, 'roundtodigits');
    const kernel = parameters.mode === 'halfeven' ? roundHalfEven : roundHalfAway;
    return { kind: 'map', apply: (value, count, out) => kernel(value, count, digits, out) };
  },
};
