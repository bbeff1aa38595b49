import type { OperationTexts } from '../operation.js';
import { exponentialAverageTexts, movingAverageTexts } from './memory/averages.js';
import { deadbandTexts, swingingDoorTexts } from './memory/compression.js';
import { cumulativeSumTexts } from './memory/cumulative-sum.js';
import { counterTexts, derivativeTexts, differenceTexts } from './memory/difference.js';
import { downsampleTexts } from './memory/downsample.js';
import { hampelTexts, stuckValueTexts } from './memory/outliers.js';
import { delayTexts, edgeTexts, hysteresisTexts } from './memory/states.js';
import { fillTexts } from './times/fill.js';
import { gapsTexts } from './times/gaps.js';
import { scheduleTexts } from './times/schedule.js';
import { clampTexts } from './values/clamp.js';
import { coalesceTexts } from './values/coalesce.js';
import { ceilTexts, expTexts, floorTexts, logTexts, signTexts, sqrtTexts } from './values/math.js';
import { maxTexts, minTexts } from './values/min-max.js';
import { modTexts, powTexts } from './values/pow-mod.js';
import { scaleTexts } from './values/scale.js';
import { selectTexts } from './values/select.js';

/** The texts of the extensions, in the order of their list. */
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
