import type { Duration } from '../core/duration.js';
import type { OtherInput, StepDraft } from './operation.js';
import { number, type Parameter, type Parameters } from './parameters.js';

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

/** The parameter `scalar`, which replaces a second input. */
export const scalar: Parameter = number({ optional: true });

export function alignOf(parameters: Parameters): Align {
  return ALIGNMENTS.find((name) => name === parameters.align) ?? 'inner';
}
