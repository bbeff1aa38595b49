import type { Describe, Operation, OperationTexts, OtherInput, StepDraft } from '../../operation.js';
import { choice, number, numberOr } from '../../parameters.js';
import { alignment, inputs, type OperationRules, when, without } from '../../rules.js';
import { type AlignParameters, describeTwo, maxholdText } from '../../two-inputs.js';
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

export const selectRules = (): OperationRules => ({
  parameters: alignment(),
  step: [when(inputs(3), { properties: { parameters: without('else') } })],
});

export const selectTexts: OperationTexts = {
  summary:
    'Takes the first series where the second, a condition, is not 0, and elsewhere the third, a number or nothing.',
  parameters: {
    else: 'The result where the condition is 0, instead of a third input.',
    align:
      'How the inputs meet: `inner`, at equal times; `hold`, at every time of any, each holding its last value; ' +
      '`asof`, at the times of the first, with the latest of the others.',
    maxhold: maxholdText,
  },
  examples: [
    {
      title: 'The temperature while a room is occupied',
      parameters: { align: 'asof' },
      inputs: ['07:00 19, 08:00 20, 09:00 21.5, 18:00 21', '06:00 0, 08:00 1, 18:00 0'],
      output: '08:00 20, 09:00 21.5',
    },
    {
      title: 'A number elsewhere',
      parameters: { else: 0 },
      inputs: ['00:00 5, 00:15 6, 00:30 7', '00:00 1, 00:15 0, 00:30 1'],
      output: '00:00 5, 00:15 0, 00:30 7',
    },
    {
      title: 'A number elsewhere, and the latest that is known of the condition',
      parameters: { align: 'asof', else: 0 },
      inputs: ['00:00 5, 00:15 6, 00:30 7', '00:00 1, 00:10 0'],
      output: '00:00 5, 00:15 0, 00:30 0',
    },
    {
      title: 'One of two sensors',
      parameters: {},
      inputs: ['00:00 20, 00:15 21', '00:00 0, 00:15 1', '00:00 30, 00:15 31'],
      output: '00:00 30, 00:15 21',
    },
  ],
};

export const describeSelect: Describe = (parameters) => ({
  does: `the first input where the second is not 0, else ${elseOf(parameters.else)}`,
  ...describeTwo(parameters),
});

function elseOf(constant: unknown): string {
  return typeof constant === 'number' ? String(constant) : 'the third, if there is one';
}
