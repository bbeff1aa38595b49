import type { Describe, Description, Operation, OperationTexts } from '../operation.js';
import type { JsonSchema, Parameters } from '../parameters.js';
import type { OperationRules } from '../rules.js';
import * as abs from './abs.js';
import { aggregatePipelineRules, aggregateRules, aggregateTexts, describeAggregate } from './aggregate/aggregate.js';
import * as aggregatePipeline from './aggregate/pipeline.js';
import * as arithmetic from './arithmetic.js';
import * as cleanse from './cleanse.js';
import * as comparison from './comparison.js';
import * as holdLastValue from './hold-last-value.js';
import * as logic from './logic.js';
import * as mask from './mask.js';
import * as averages from './memory/averages.js';
import * as compression from './memory/compression.js';
import * as cumulativeSum from './memory/cumulative-sum.js';
import * as difference from './memory/difference.js';
import * as downsample from './memory/downsample.js';
import * as outliers from './memory/outliers.js';
import * as states from './memory/states.js';
import * as resample from './resample.js';
import * as round from './round.js';
import * as shift from './shift.js';
import * as fill from './times/fill.js';
import * as gaps from './times/gaps.js';
import * as schedule from './times/schedule.js';
import * as clamp from './values/clamp.js';
import * as coalesce from './values/coalesce.js';
import * as math from './values/math.js';
import * as minMax from './values/min-max.js';
import * as powMod from './values/pow-mod.js';
import * as scale from './values/scale.js';
import * as select from './values/select.js';

/**
 * What is said of every operation, in the order of their list: texts for listings and docs, and a description for
 * `explain`. Those who run plans read neither, so both lie in files of their own, which an import of `windrow` does not
 * load: bundlers divide code between entries by files.
 */
export const aboutByName: Readonly<Record<string, readonly [OperationTexts, Describe]>> = {
  Aggregate: [aggregateTexts, describeAggregate],
  'Aggregate Pipeline': [aggregatePipeline.aggregatePipelineTexts, aggregatePipeline.describeAggregatePipeline],
  Add: [arithmetic.addTexts, arithmetic.describeAdd],
  Sub: [arithmetic.subTexts, arithmetic.describeSub],
  Mul: [arithmetic.mulTexts, arithmetic.describeMul],
  Div: [arithmetic.divTexts, arithmetic.describeDiv],
  Eq: [comparison.eqTexts, comparison.describeEq],
  Ne: [comparison.neTexts, comparison.describeNe],
  Lte: [comparison.lteTexts, comparison.describeLte],
  Lt: [comparison.ltTexts, comparison.describeLt],
  Gt: [comparison.gtTexts, comparison.describeGt],
  Gte: [comparison.gteTexts, comparison.describeGte],
  Not: [logic.notTexts, logic.describeNot],
  And: [logic.andTexts, logic.describeAnd],
  Or: [logic.orTexts, logic.describeOr],
  Mask: [mask.maskTexts, mask.describeMask],
  Where: [mask.whereTexts, mask.describeWhere],
  Round: [round.roundTexts, round.describeRound],
  Abs: [abs.absTexts, abs.describeAbs],
  Cleanse: [cleanse.cleanseTexts, cleanse.describeCleanse],
  Shift: [shift.shiftTexts, shift.describeShift],
  HoldLastValue: [holdLastValue.holdLastValueTexts, holdLastValue.describeHoldLastValue],
  Resample: [resample.resampleTexts, resample.describeResample],
  Min: [minMax.minTexts, minMax.describeMin],
  Max: [minMax.maxTexts, minMax.describeMax],
  Pow: [powMod.powTexts, powMod.describePow],
  Mod: [powMod.modTexts, powMod.describeMod],
  Sqrt: [math.sqrtTexts, math.describeSqrt],
  Exp: [math.expTexts, math.describeExp],
  Log: [math.logTexts, math.describeLog],
  Sign: [math.signTexts, math.describeSign],
  Floor: [math.floorTexts, math.describeFloor],
  Ceil: [math.ceilTexts, math.describeCeil],
  Scale: [scale.scaleTexts, scale.describeScale],
  Clamp: [clamp.clampTexts, clamp.describeClamp],
  Select: [select.selectTexts, select.describeSelect],
  Coalesce: [coalesce.coalesceTexts, coalesce.describeCoalesce],
  Difference: [difference.differenceTexts, difference.describeDifference],
  Derivative: [difference.derivativeTexts, difference.describeDerivative],
  CumulativeSum: [cumulativeSum.cumulativeSumTexts, cumulativeSum.describeCumulativeSum],
  Counter: [difference.counterTexts, difference.describeCounter],
  MovingAverage: [averages.movingAverageTexts, averages.describeMovingAverage],
  ExponentialAverage: [averages.exponentialAverageTexts, averages.describeExponentialAverage],
  Hysteresis: [states.hysteresisTexts, states.describeHysteresis],
  Delay: [states.delayTexts, states.describeDelay],
  Edge: [states.edgeTexts, states.describeEdge],
  StuckValue: [outliers.stuckValueTexts, outliers.describeStuckValue],
  Hampel: [outliers.hampelTexts, outliers.describeHampel],
  Deadband: [compression.deadbandTexts, compression.describeDeadband],
  SwingingDoor: [compression.swingingDoorTexts, compression.describeSwingingDoor],
  Downsample: [downsample.downsampleTexts, downsample.describeDownsample],
  Schedule: [schedule.scheduleTexts, schedule.describeSchedule],
  Fill: [fill.fillTexts, fill.describeFill],
  Gaps: [gaps.gapsTexts, gaps.describeGaps],
};

/** The rules of the operations that have some. A list of its own, as only the schema for editors is made of it. */
export const rulesByName: Readonly<Record<string, () => OperationRules>> = {
  Aggregate: aggregateRules,
  'Aggregate Pipeline': aggregatePipelineRules,
  Mask: mask.rangeRules,
  Where: mask.rangeRules,
  Shift: shift.shiftRules,
  Min: minMax.extremeRules,
  Max: minMax.extremeRules,
  Scale: scale.scaleRules,
  Clamp: clamp.clampRules,
  Select: select.selectRules,
  Schedule: schedule.scheduleRules,
  Fill: fill.fillRules,
};

function aboutOf(operation: string): readonly [texts: OperationTexts, describe: Describe] {
  const found = aboutByName[operation];
  if (found === undefined) throw new Error(`assertion failed: ${operation} is not in the list of operations/texts`);
  return found;
}

/** The texts of an operation. */
export function textsOf(operation: string): OperationTexts {
  return aboutOf(operation)[0];
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
  return aboutOf(operation)[1](parameters);
}
