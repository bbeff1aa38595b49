import type { Duration } from '../core/duration.js';
import { type Describe, type Description, type OtherInput, ofEachSample, type StepDraft } from './operation.js';
import { durationMsIn, number, type Parameter, type Parameters } from './parameters.js';

/** What operations on two series share: how samples at different times are paired. */

/** A scalar, or a second series. */
export type Operand = number | OtherInput;

/** How two inputs meet. `maxhold` (with `hold` and `asof`) and `maxgap` (with `linear`) are ISO 8601 durations. */
export interface AlignParameters {
  readonly align?: Align;
  readonly maxhold?: Duration;
  readonly maxgap?: Duration;
}

/** The parameters of a step with a scalar or a second series. */
export type OperandParameters = AlignParameters & { readonly scalar?: number };

/** The method of an operation with a scalar or a second series. */
export function withOperand(operand: Operand, parameters: AlignParameters = {}): StepDraft<OperandParameters> {
  return typeof operand === 'number'
    ? { parameters: { scalar: operand, ...parameters } }
    : { parameters, others: [operand] };
}

export type Align = 'inner' | 'hold' | 'linear' | 'asof';

export const ALIGNMENTS: readonly Align[] = ['inner', 'hold', 'linear', 'asof'];

export const maxholdText = 'How old a held value may be, with `hold` and `asof`.';

export const alignTexts = {
  align:
    'How two inputs meet: `inner`, at equal times; `hold`, at every time of either, each side holding its last ' +
    'value; `linear`, likewise but interpolated; `asof`, at the times of the first, with the latest of the second.',
  maxhold: maxholdText,
  maxgap: 'How long a gap is interpolated over, with `linear`.',
};

/** The parameter `scalar`, which replaces a second input. */
export const scalar: Parameter = number({ optional: true });

const scalarText = 'The second operand, instead of a second input.';
// Bundlers drop an unused call with this mark, but not an unused spread.
export const operandTexts = /* @__PURE__ */ Object.assign({ scalar: scalarText }, alignTexts);

export function alignOf(parameters: Parameters): Align {
  return ALIGNMENTS.find((name) => name === parameters.align) ?? 'inner';
}

/**
 * What `explain` says about an operation with a scalar or a second series.
 *
 * @param ofOne the words with a scalar, in which `$` stands for it.
 */
export function describeOperand(ofTwo: string, ofOne: string): Describe {
  return (parameters) =>
    parameters.scalar === undefined
      ? { does: ofTwo, ...describeTwo(parameters) }
      : { does: ofOne.replace('$', String(parameters.scalar)), ...ofEachSample };
}

/** What a step with two inputs reads and keeps, and when its results are final. */
export function describeTwo(parameters: Parameters): Omit<Description, 'does'> {
  const align = alignOf(parameters);
  if (align === 'inner') {
    const keeps = 'samples of one input that the other has not reached';
    return { reads: { kind: 'sample' }, keeps, final: 'when both inputs have its time' };
  }
  if (align === 'linear') {
    const keeps = 'the last sample of each input, and those that the other has not reached';
    return {
      reads: { kind: 'neighbours', gapMsMax: durationMsIn(parameters, 'maxgap') },
      keeps,
      final: 'when both inputs have passed its time',
    };
  }
  return {
    reads: { kind: 'last', ageMsMax: durationMsIn(parameters, 'maxhold') },
    keeps: 'the last sample of each input, and those that the other has not reached',
    final: 'when both inputs have passed its time',
  };
}
