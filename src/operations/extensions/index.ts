import type { Operation } from '../operation.js';
import { openBetween } from './aggregates/between.js';
import { checkOwn, ownParameters } from './aggregates/function-parameters.js';
import { moreFunctions } from './aggregates/more-functions.js';
import { pairFunctions, pairsInto } from './aggregates/pair-functions.js';
import { windowIn, windowParameters } from './aggregates/window-parameter.js';
import { exponentialAverage, movingAverage } from './memory/averages.js';
import { deadband, swingingDoor } from './memory/compression.js';
import { cumulativeSum } from './memory/cumulative-sum.js';
import { counter, derivative, difference } from './memory/difference.js';
import { downsample } from './memory/downsample.js';
import { hampel, stuckValue } from './memory/outliers.js';
import { delay, edge, hysteresis } from './memory/states.js';
import { fill } from './times/fill.js';
import { gaps } from './times/gaps.js';
import { schedule } from './times/schedule.js';
import { clamp } from './values/clamp.js';
import { coalesce } from './values/coalesce.js';
import { ceil, exp, floor, log, sign, sqrt } from './values/math.js';
import { max, min } from './values/min-max.js';
import { mod, pow } from './values/pow-mod.js';
import { scale } from './values/scale.js';
import { select } from './values/select.js';

/**
 * The operations that the interface does not have: on each value, with a memory, and of times; and what else Aggregate
 * has. A bundle that needs none of them can put empty lists in the place of this module;
 * `scripts/weight.mjs` does, to weigh the core.
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

export { checkOwn, moreFunctions, openBetween, ownParameters, pairFunctions, pairsInto, windowIn, windowParameters };
