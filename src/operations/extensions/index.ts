import type { Operation } from '../operation.js';
import { openBetween } from './aggregates/between.js';
import {
  checkInputs,
  checkOwn,
  inputsOfAggregate,
  ownFunctionsWith,
  ownParameters,
  pairParameters,
} from './aggregates/function-parameters.js';
import { heldFunctions, moreFunctionNames, moreFunctions } from './aggregates/more-functions.js';
import { pairFunctionNames, pairFunctions, pairsInto } from './aggregates/pair-functions.js';
import { windowIn, windowParameters } from './aggregates/window-parameter.js';
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

/**
 * The operations that extend the interface (`values`: on each value; `memory`: with a state; `times`: about times), and
 * the functions and windows that extend Aggregate. A bundle that needs none of them can replace this module with empty
 * lists, as `scripts/weight.mjs` does to weigh the core.
 */
export const extensions = [
  minMax.min,
  minMax.max,
  powMod.pow,
  powMod.mod,
  math.sqrt,
  math.exp,
  math.log,
  math.sign,
  math.floor,
  math.ceil,
  scale.scale,
  clamp.clamp,
  select.select,
  coalesce.coalesce,
  difference.difference,
  difference.derivative,
  cumulativeSum.cumulativeSum,
  difference.counter,
  averages.movingAverage,
  averages.exponentialAverage,
  states.hysteresis,
  states.delay,
  states.edge,
  outliers.stuckValue,
  outliers.hampel,
  compression.deadband,
  compression.swingingDoor,
  downsample.downsample,
  schedule.schedule,
  fill.fill,
  gaps.gaps,
] as const satisfies readonly Operation[];

export {
  checkInputs,
  checkOwn,
  heldFunctions,
  inputsOfAggregate,
  moreFunctionNames,
  moreFunctions,
  openBetween,
  ownFunctionsWith,
  ownParameters,
  pairFunctionNames,
  pairFunctions,
  pairParameters,
  pairsInto,
  windowIn,
  windowParameters,
};
