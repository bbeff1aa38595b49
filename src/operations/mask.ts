import type { Instant } from '../core/instant.js';
import { selectRanges } from '../kernels/select.js';
import type { Operation, StepDraft } from './operation.js';
import {
  checkOrder,
  columnIn,
  listOf,
  number,
  objectOf,
  type Parameter,
  type Parameters,
  parameter,
  type Report,
  readInstantField,
} from './parameters.js';

export const mask = ranges({ mask: withRanges }, 'Mask', false);

export const where = ranges({ where: withRanges }, 'Where', true, ['filter']);

/** An instant in a request: ISO 8601 text, or a Date or luxon DateTime, which become such text in JSON. */
type Time = Exclude<Instant, number>;

/** Value ranges `[lower, upper]` (closed) and time ranges `[starttime, endtime)`. A missing bound is no limit. */
export interface RangeParameters {
  readonly valuerangelist?: readonly { readonly lower?: number; readonly upper?: number }[];
  readonly timerangelist?: readonly { readonly starttime?: Time; readonly endtime?: Time }[];
}

type RangeMethods<Name extends string> = {
  readonly [name in Name]: (ranges: RangeParameters) => StepDraft<RangeParameters>;
};

function withRanges(parameters: RangeParameters): StepDraft<RangeParameters> {
  return { parameters };
}

function ranges<Name extends string>(
  methods: RangeMethods<Name>,
  name: Capitalize<Name>,
  isInside: boolean,
  otherNames?: readonly string[],
): Operation<RangeMethods<Name>, Capitalize<Name>> {
  return {
    name,
    otherNames,
    shape: 'filter',
    methods,
    parameters: { valuerangelist: valueRanges(), timerangelist: timeRanges() },
    check: checkRanges,
    open: (parameters) => {
      const { lower, upper, startMs, endMs } = boundsOf(parameters);
      const ranges = [...inOrder(lower, upper), ...inOrder(startMs, endMs)];
      return { kind: 'filter', select: (chunk, out) => selectRanges(ranges, isInside, chunk, out) };
    },
  };
}

/** The bounds as given: closed ranges of values, half-open ones of times. */
export function boundsOf(parameters: Parameters) {
  return {
    lower: columnIn(parameters, 'valuerangelist', 'lower', Number.NEGATIVE_INFINITY),
    upper: columnIn(parameters, 'valuerangelist', 'upper', Number.POSITIVE_INFINITY),
    startMs: columnIn(parameters, 'timerangelist', 'starttime', Number.NEGATIVE_INFINITY),
    endMs: columnIn(parameters, 'timerangelist', 'endtime', Number.POSITIVE_INFINITY),
  };
}

/** The columns of ranges by their lower bounds, each upper bound being the highest so far. */
function inOrder(lower: Float64Array, upper: Float64Array): Float64Array[] {
  const order = lower.map((_, range) => range).sort((a, b) => lower[a]! - lower[b]!);
  const highest = order.map((range) => upper[range]!);
  for (let at = 1; at < highest.length; at++) highest[at] = Math.max(highest[at]!, highest[at - 1]!);
  return [lower.sort(), highest];
}

function checkRanges(parameters: Parameters, report: Report): void {
  const { lower, startMs } = boundsOf(parameters);
  if (lower.length + startMs.length > 0) return;
  const hint = 'add valuerangelist or timerangelist';
  report('', 'request.missing', 'a value range or time range', 'none', hint);
}

function valueRanges(): Parameter {
  const bound = number({ optional: true });
  const range = objectOf({ lower: bound, upper: bound }, (read, report) => {
    checkOrder(read, 'lower', 'upper', report);
  });
  return listOf(range, { optional: true });
}

function timeRanges(): Parameter {
  const instant = parameter({ optional: true }, { type: 'string', format: 'date-time' }, readInstantField);
  const range = objectOf({ starttime: instant, endtime: instant }, ({ starttime, endtime }, report, given) => {
    if (starttime === undefined || endtime === undefined || starttime < endtime) return;
    report('', 'request.range', 'starttime before endtime', `${given.starttime} to ${given.endtime}`);
  });
  return listOf(range, { optional: true });
}
