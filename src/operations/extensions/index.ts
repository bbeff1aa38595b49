import type { Describe, Operation, OperationTexts } from '../operation.js';
import type { OperationRules } from '../rules.js';
import { openBetween } from './aggregates/between.js';
import { checkOwn, ownParameters } from './aggregates/function-parameters.js';
import { moreFunctions } from './aggregates/more-functions.js';
import { pairFunctions, pairsInto } from './aggregates/pair-functions.js';
import { windowIn, windowParameters } from './aggregates/window-parameter.js';
import {
  describeExponentialAverage,
  describeMovingAverage,
  exponentialAverage,
  exponentialAverageTexts,
  movingAverage,
  movingAverageTexts,
} from './memory/averages.js';
import {
  deadband,
  deadbandTexts,
  describeDeadband,
  describeSwingingDoor,
  swingingDoor,
  swingingDoorTexts,
} from './memory/compression.js';
import { cumulativeSum, cumulativeSumTexts, describeCumulativeSum } from './memory/cumulative-sum.js';
import {
  counter,
  counterRules,
  counterTexts,
  derivative,
  derivativeTexts,
  describeCounter,
  describeDerivative,
  describeDifference,
  difference,
  differenceTexts,
} from './memory/difference.js';
import { describeDownsample, downsample, downsampleTexts } from './memory/downsample.js';
import {
  describeHampel,
  describeStuckValue,
  hampel,
  hampelTexts,
  stuckValue,
  stuckValueTexts,
} from './memory/outliers.js';
import {
  delay,
  delayTexts,
  describeDelay,
  describeEdge,
  describeHysteresis,
  edge,
  edgeTexts,
  hysteresis,
  hysteresisTexts,
} from './memory/states.js';
import { describeFill, fill, fillRules, fillTexts } from './times/fill.js';
import { describeGaps, gaps, gapsTexts } from './times/gaps.js';
import { describeSchedule, schedule, scheduleRules, scheduleTexts } from './times/schedule.js';
import { clamp, clampRules, clampTexts, describeClamp } from './values/clamp.js';
import { coalesce, coalesceTexts, describeCoalesce } from './values/coalesce.js';
import {
  ceil,
  ceilTexts,
  describeCeil,
  describeExp,
  describeFloor,
  describeLog,
  describeSign,
  describeSqrt,
  exp,
  expTexts,
  floor,
  floorTexts,
  log,
  logTexts,
  sign,
  signTexts,
  sqrt,
  sqrtTexts,
} from './values/math.js';
import { describeMax, describeMin, extremeRules, max, maxTexts, min, minTexts } from './values/min-max.js';
import { describeMod, describePow, mod, modTexts, pow, powTexts } from './values/pow-mod.js';
import { describeScale, scale, scaleRules, scaleTexts } from './values/scale.js';
import { describeSelect, select, selectRules, selectTexts } from './values/select.js';

/**
 * The operations that extend the interface (`values`: on each value; `memory`: with a state; `times`: about times), and
 * the functions and windows that extend Aggregate. A bundle that needs none of them can replace this module with empty
 * lists, as `scripts/weight.mjs` does to weigh the core.
 */
export const extensions = [
  min,
  max,
  pow,
  mod,
  sqrt,
  exp,
  log,
  sign,
  floor,
  ceil,
  scale,
  clamp,
  select,
  coalesce,
  difference,
  derivative,
  cumulativeSum,
  counter,
  movingAverage,
  exponentialAverage,
  hysteresis,
  delay,
  edge,
  stuckValue,
  hampel,
  deadband,
  swingingDoor,
  downsample,
  schedule,
  fill,
  gaps,
] as const satisfies readonly Operation[];

/** Their texts, in the order of their list. */
export const extensionTexts: Readonly<Record<string, OperationTexts>> = {
  Min: minTexts,
  Max: maxTexts,
  Pow: powTexts,
  Mod: modTexts,
  Sqrt: sqrtTexts,
  Exp: expTexts,
  Log: logTexts,
  Sign: signTexts,
  Floor: floorTexts,
  Ceil: ceilTexts,
  Scale: scaleTexts,
  Clamp: clampTexts,
  Select: selectTexts,
  Coalesce: coalesceTexts,
  Difference: differenceTexts,
  Derivative: derivativeTexts,
  CumulativeSum: cumulativeSumTexts,
  Counter: counterTexts,
  MovingAverage: movingAverageTexts,
  ExponentialAverage: exponentialAverageTexts,
  Hysteresis: hysteresisTexts,
  Delay: delayTexts,
  Edge: edgeTexts,
  StuckValue: stuckValueTexts,
  Hampel: hampelTexts,
  Deadband: deadbandTexts,
  SwingingDoor: swingingDoorTexts,
  Downsample: downsampleTexts,
  Schedule: scheduleTexts,
  Fill: fillTexts,
  Gaps: gapsTexts,
};

/** What `explain` says of them. */
export const extensionDescriptions: Readonly<Record<string, Describe>> = {
  Min: describeMin,
  Max: describeMax,
  Pow: describePow,
  Mod: describeMod,
  Sqrt: describeSqrt,
  Exp: describeExp,
  Log: describeLog,
  Sign: describeSign,
  Floor: describeFloor,
  Ceil: describeCeil,
  Scale: describeScale,
  Clamp: describeClamp,
  Select: describeSelect,
  Coalesce: describeCoalesce,
  Difference: describeDifference,
  Derivative: describeDerivative,
  CumulativeSum: describeCumulativeSum,
  Counter: describeCounter,
  MovingAverage: describeMovingAverage,
  ExponentialAverage: describeExponentialAverage,
  Hysteresis: describeHysteresis,
  Delay: describeDelay,
  Edge: describeEdge,
  StuckValue: describeStuckValue,
  Hampel: describeHampel,
  Deadband: describeDeadband,
  SwingingDoor: describeSwingingDoor,
  Downsample: describeDownsample,
  Schedule: describeSchedule,
  Fill: describeFill,
  Gaps: describeGaps,
};

/** The rules of those that have some. */
export const extensionRules: Readonly<Record<string, () => OperationRules>> = {
  Min: extremeRules,
  Max: extremeRules,
  Scale: scaleRules,
  Clamp: clampRules,
  Select: selectRules,
  Counter: counterRules,
  Schedule: scheduleRules,
  Fill: fillRules,
};

export { checkOwn, moreFunctions, openBetween, ownParameters, pairFunctions, pairsInto, windowIn, windowParameters };
