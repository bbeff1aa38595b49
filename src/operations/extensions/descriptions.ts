import type { Describe } from '../operation.js';
import { describeExponentialAverage, describeMovingAverage } from './memory/averages.js';
import { describeDeadband, describeSwingingDoor } from './memory/compression.js';
import { describeCumulativeSum } from './memory/cumulative-sum.js';
import { describeCounter, describeDerivative, describeDifference } from './memory/difference.js';
import { describeDownsample } from './memory/downsample.js';
import { describeHampel, describeStuckValue } from './memory/outliers.js';
import { describeDelay, describeEdge, describeHysteresis } from './memory/states.js';
import { describeFill } from './times/fill.js';
import { describeGaps } from './times/gaps.js';
import { describeSchedule } from './times/schedule.js';
import { describeClamp } from './values/clamp.js';
import { describeCoalesce } from './values/coalesce.js';
import { describeCeil, describeExp, describeFloor, describeLog, describeSign, describeSqrt } from './values/math.js';
import { describeMax, describeMin } from './values/min-max.js';
import { describeMod, describePow } from './values/pow-mod.js';
import { describeScale } from './values/scale.js';
import { describeSelect } from './values/select.js';

/** What `explain` says of the extensions, in the order of their list. */
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
