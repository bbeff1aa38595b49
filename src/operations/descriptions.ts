import { describeAbs } from './abs.js';
import { describeAggregatePipeline } from './aggregate-pipeline.js';
import { describeAggregate } from './aggregate-texts.js';
import { describeAdd, describeDiv, describeMul, describeSub } from './arithmetic.js';
import { describeCleanse } from './cleanse.js';
import { describeEq, describeGt, describeGte, describeLt, describeLte, describeNe } from './comparison.js';
import { extensionDescriptions } from './extensions/descriptions.js';
import { describeHoldLastValue } from './hold-last-value.js';
import { describeAnd, describeNot, describeOr } from './logic.js';
import { describeMask, describeWhere } from './mask.js';
import type { Describe, Description } from './operation.js';
import type { Parameters } from './parameters.js';
import { describeResample } from './resample.js';
import { describeRound } from './round.js';
import { describeShift } from './shift.js';

/** What `explain` says of every operation, by its name, in the order of their list. */
const descriptionsByName: Readonly<Record<string, Describe>> = {
  Aggregate: describeAggregate,
  'Aggregate Pipeline': describeAggregatePipeline,
  Add: describeAdd,
  Sub: describeSub,
  Mul: describeMul,
  Div: describeDiv,
  Eq: describeEq,
  Ne: describeNe,
  Lte: describeLte,
  Lt: describeLt,
  Gt: describeGt,
  Gte: describeGte,
  Not: describeNot,
  And: describeAnd,
  Or: describeOr,
  Mask: describeMask,
  Where: describeWhere,
  Round: describeRound,
  Abs: describeAbs,
  Cleanse: describeCleanse,
  Shift: describeShift,
  HoldLastValue: describeHoldLastValue,
  Resample: describeResample,
  ...extensionDescriptions,
};

/** What `explain` says of a step. */
export function describeStep(operation: string, parameters: Parameters): Description {
  return descriptionsByName[operation]!(parameters);
}
