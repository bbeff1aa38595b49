import type { WrittenExample } from '../operation.js';
import { exponentialAverageExamples, movingAverageExamples } from './memory/averages.js';
import { deadbandExamples, swingingDoorExamples } from './memory/compression.js';
import { cumulativeSumExamples } from './memory/cumulative-sum.js';
import { counterExamples, derivativeExamples, differenceExamples } from './memory/difference.js';
import { downsampleExamples } from './memory/downsample.js';
import { hampelExamples, stuckValueExamples } from './memory/outliers.js';
import { delayExamples, edgeExamples, hysteresisExamples } from './memory/states.js';
import { fillExamples } from './times/fill.js';
import { gapsExamples } from './times/gaps.js';
import { scheduleExamples } from './times/schedule.js';
import { clampExamples } from './values/clamp.js';
import { coalesceExamples } from './values/coalesce.js';
import { ceilExamples, expExamples, floorExamples, logExamples, signExamples, sqrtExamples } from './values/math.js';
import { maxExamples, minExamples } from './values/min-max.js';
import { modExamples, powExamples } from './values/pow-mod.js';
import { scaleExamples } from './values/scale.js';
import { selectExamples } from './values/select.js';

/** The worked examples of the extensions, in the order of their list. */
export const extensionExamples: Readonly<Record<string, readonly WrittenExample[]>> = {
  Min: minExamples,
  Max: maxExamples,
  Pow: powExamples,
  Mod: modExamples,
  Sqrt: sqrtExamples,
  Exp: expExamples,
  Log: logExamples,
  Sign: signExamples,
  Floor: floorExamples,
  Ceil: ceilExamples,
  Scale: scaleExamples,
  Clamp: clampExamples,
  Select: selectExamples,
  Coalesce: coalesceExamples,
  Difference: differenceExamples,
  Derivative: derivativeExamples,
  CumulativeSum: cumulativeSumExamples,
  Counter: counterExamples,
  MovingAverage: movingAverageExamples,
  ExponentialAverage: exponentialAverageExamples,
  Hysteresis: hysteresisExamples,
  Delay: delayExamples,
  Edge: edgeExamples,
  StuckValue: stuckValueExamples,
  Hampel: hampelExamples,
  Deadband: deadbandExamples,
  SwingingDoor: swingingDoorExamples,
  Downsample: downsampleExamples,
  Schedule: scheduleExamples,
  Fill: fillExamples,
  Gaps: gapsExamples,
};
