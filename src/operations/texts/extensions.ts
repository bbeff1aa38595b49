import type { Describe, OperationTexts } from '../operation.js';
import * as averages from './memory/averages.js';
import * as compression from './memory/compression.js';
import * as cumulativeSum from './memory/cumulative-sum.js';
import * as difference from './memory/difference.js';
import * as downsample from './memory/downsample.js';
import * as outliers from './memory/outliers.js';
import * as states from './memory/states.js';
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

/** The texts of the extensions, in the order of their list. */
export const extensionTexts: Readonly<Record<string, OperationTexts>> = {
  Min: minMax.minTexts,
  Max: minMax.maxTexts,
  Pow: powMod.powTexts,
  Mod: powMod.modTexts,
  Sqrt: math.sqrtTexts,
  Exp: math.expTexts,
  Log: math.logTexts,
  Sign: math.signTexts,
  Floor: math.floorTexts,
  Ceil: math.ceilTexts,
  Scale: scale.scaleTexts,
  Clamp: clamp.clampTexts,
  Select: select.selectTexts,
  Coalesce: coalesce.coalesceTexts,
  Difference: difference.differenceTexts,
  Derivative: difference.derivativeTexts,
  CumulativeSum: cumulativeSum.cumulativeSumTexts,
  Counter: difference.counterTexts,
  MovingAverage: averages.movingAverageTexts,
  ExponentialAverage: averages.exponentialAverageTexts,
  Hysteresis: states.hysteresisTexts,
  Delay: states.delayTexts,
  Edge: states.edgeTexts,
  StuckValue: outliers.stuckValueTexts,
  Hampel: outliers.hampelTexts,
  Deadband: compression.deadbandTexts,
  SwingingDoor: compression.swingingDoorTexts,
  Downsample: downsample.downsampleTexts,
  Schedule: schedule.scheduleTexts,
  Fill: fill.fillTexts,
  Gaps: gaps.gapsTexts,
};

/** What `explain` says of them. */
export const extensionDescriptions: Readonly<Record<string, Describe>> = {
  Min: minMax.describeMin,
  Max: minMax.describeMax,
  Pow: powMod.describePow,
  Mod: powMod.describeMod,
  Sqrt: math.describeSqrt,
  Exp: math.describeExp,
  Log: math.describeLog,
  Sign: math.describeSign,
  Floor: math.describeFloor,
  Ceil: math.describeCeil,
  Scale: scale.describeScale,
  Clamp: clamp.describeClamp,
  Select: select.describeSelect,
  Coalesce: coalesce.describeCoalesce,
  Difference: difference.describeDifference,
  Derivative: difference.describeDerivative,
  CumulativeSum: cumulativeSum.describeCumulativeSum,
  Counter: difference.describeCounter,
  MovingAverage: averages.describeMovingAverage,
  ExponentialAverage: averages.describeExponentialAverage,
  Hysteresis: states.describeHysteresis,
  Delay: states.describeDelay,
  Edge: states.describeEdge,
  StuckValue: outliers.describeStuckValue,
  Hampel: outliers.describeHampel,
  Deadband: compression.describeDeadband,
  SwingingDoor: compression.describeSwingingDoor,
  Downsample: downsample.describeDownsample,
  Schedule: schedule.describeSchedule,
  Fill: fill.describeFill,
  Gaps: gaps.describeGaps,
};
