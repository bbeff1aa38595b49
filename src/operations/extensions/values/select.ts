import type { Operation, OtherInput, StepDraft } from '../../operation.js';
import { choice, number, numberOr } from '../../parameters.js';
import type { AlignParameters } from '../../two-inputs.js';
import { alignParameters, checkAlign } from '../align.js';
import { aligned } from '../joined.js';

/** `else`: the result where the condition is 0, nothing by default. The rest says how the inputs meet. */
export interface SelectParameters extends Omit<AlignParameters, 'align'> {
  readonly else?: number | OtherInput;
  readonly align?: Exclude<AlignParameters['align'], 'linear'>;
}

export interface SelectMethods {
  /** The values where the condition is not 0. */
  select(
    condition: OtherInput,
    parameters?: SelectParameters,
  ): StepDraft<SelectParameters & { readonly else?: number }>;
}

const FIRST = 0;
const CONDITION = 1;
const OTHER = 2;

export const select: Operation<SelectMethods> = {
  name: 'Select',
  shape: 'regrid',
  inputs: 'two or three',
  methods: {
    select: (condition, { else: other, ...parameters } = {}) => {
      if (typeof other === 'object') return { parameters, others: [condition, other] };
      return { parameters: { ...parameters, ...(other === undefined ? {} : { else: other }) }, others: [condition] };
    },
  },
  parameters: {
    else: number({ optional: true }),
    align: choice(['inner', 'hold', 'asof'], { default: 'inner' }),
    maxhold: alignParameters.maxhold,
  },
  check: (parameters, report, inputCount) => {
    checkAlign(parameters, report);
    if (parameters.else === undefined || inputCount < 3) return;
    report('/else', 'request.conflict', 'else only without a third input', `${inputCount} inputs`);
  },
  open: (parameters, { inputCount }) => {
    const constant = numberOr(parameters, 'else', undefined);
    // The engine pairs two inputs faster, but with `asof` it would count other samples as unmatched.
    if (constant !== undefined && parameters.align !== 'asof') {
      return {
        kind: 'combine',
        apply: (value, condition, count, out) => {
          for (let i = 0; i < count; i++) out[i] = condition[i] !== 0 ? value[i]! : constant;
          return true;
        },
      };
    }
    return aligned(parameters, inputCount, (value) => {
      if (value[CONDITION] !== 0) return value[FIRST]!;
      return inputCount > OTHER ? value[OTHER]! : constant;
    });
  },
};
