import type { Describe, Description, Operation, OperationTexts } from '../operation.js';
import type { JsonSchema, Parameters } from '../parameters.js';
import * as abs from './abs.js';
import { aggregateTexts, describeAggregate } from './aggregate/aggregate.js';
import * as aggregatePipeline from './aggregate/pipeline.js';
import * as arithmetic from './arithmetic.js';
import * as cleanse from './cleanse.js';
import * as comparison from './comparison.js';
import { extensionDescriptions, extensionTexts } from './extensions.js';
import * as holdLastValue from './hold-last-value.js';
import * as logic from './logic.js';
import * as mask from './mask.js';
import * as resample from './resample.js';
import * as round from './round.js';
import * as shift from './shift.js';

/**
 * What is said of every operation, in the order of the list in operations/index.ts: here texts for listings and docs,
 * below descriptions for `explain`. Those who run plans read neither, so they lie in files of their own, which an
 * import of `windrow` does not load: bundlers divide code between entries by files. Each list is made by a call with a
 * mark: bundlers drop such a constant where nobody reads it, but never a property or a spread.
 */
export const textsByName: Readonly<Record<string, OperationTexts>> = /* @__PURE__ */ Object.assign(
  {
    Aggregate: aggregateTexts,
    'Aggregate Pipeline': aggregatePipeline.aggregatePipelineTexts,
    Add: arithmetic.addTexts,
    Sub: arithmetic.subTexts,
    Mul: arithmetic.mulTexts,
    Div: arithmetic.divTexts,
    Eq: comparison.eqTexts,
    Ne: comparison.neTexts,
    Lte: comparison.lteTexts,
    Lt: comparison.ltTexts,
    Gt: comparison.gtTexts,
    Gte: comparison.gteTexts,
    Not: logic.notTexts,
    And: logic.andTexts,
    Or: logic.orTexts,
    Mask: mask.maskTexts,
    Where: mask.whereTexts,
    Round: round.roundTexts,
    Abs: abs.absTexts,
    Cleanse: cleanse.cleanseTexts,
    Shift: shift.shiftTexts,
    HoldLastValue: holdLastValue.holdLastValueTexts,
    Resample: resample.resampleTexts,
  },
  extensionTexts,
);

const descriptionsByName: Readonly<Record<string, Describe>> = /* @__PURE__ */ Object.assign(
  {
    Aggregate: describeAggregate,
    'Aggregate Pipeline': aggregatePipeline.describeAggregatePipeline,
    Add: arithmetic.describeAdd,
    Sub: arithmetic.describeSub,
    Mul: arithmetic.describeMul,
    Div: arithmetic.describeDiv,
    Eq: comparison.describeEq,
    Ne: comparison.describeNe,
    Lte: comparison.describeLte,
    Lt: comparison.describeLt,
    Gt: comparison.describeGt,
    Gte: comparison.describeGte,
    Not: logic.describeNot,
    And: logic.describeAnd,
    Or: logic.describeOr,
    Mask: mask.describeMask,
    Where: mask.describeWhere,
    Round: round.describeRound,
    Abs: abs.describeAbs,
    Cleanse: cleanse.describeCleanse,
    Shift: shift.describeShift,
    HoldLastValue: holdLastValue.describeHoldLastValue,
    Resample: resample.describeResample,
  },
  extensionDescriptions,
);

/** The texts of an operation. */
export function textsOf(operation: string): OperationTexts {
  return textsByName[operation] ?? missing(operation, 'texts');
}

function missing(operation: string, what: string): never {
  throw new Error(`assertion failed: ${operation} has no ${what}; add them to the lists in operations/texts`);
}

/** The JSON Schemas of an operation's parameters, with their descriptions. */
export function parameterSchemas({ name, parameters }: Operation): Readonly<Record<string, JsonSchema>> {
  const { parameters: texts, schemas = {} } = textsOf(name);
  const described = Object.entries(parameters).map(([parameter, { schema }]) => {
    return [parameter, { description: texts[parameter], ...(schemas[parameter] ?? schema) }];
  });
  return Object.fromEntries(described);
}

/** What `explain` says of a step. */
export function describeStep(operation: string, parameters: Parameters): Description {
  return (descriptionsByName[operation] ?? missing(operation, 'description'))(parameters);
}
