import type { Instant } from '../core/instant.js';
import { type Ranges, selectRanges } from '../kernels/select.js';
import { type Describe, type Operation, type OperationTexts, ofEachSample, type StepDraft } from './operation.js';
import {
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

const rangeTexts = {
  valuerangelist: 'Closed value ranges, `[lower, upper]`; a bound that is left out does not limit.',
  timerangelist: 'Half-open time ranges, `[starttime, endtime)`; a bound that is left out does not limit.',
};

export const mask = ranges({ mask: withRanges }, 'Mask', false);
export const maskTexts: OperationTexts = {
  summary: 'Removes the samples that lie in any of the value or time ranges.',
  parameters: rangeTexts,
  examples: [
    {
      title: 'Values from 10 to 20 are removed; both bounds belong to the range',
      parameters: { valuerangelist: [{ lower: 10, upper: 20 }] },
      inputs: ['00:00 9.9, 00:01 10, 00:02 15, 00:03 20, 00:04 20.1'],
      output: '00:00 9.9, 00:04 20.1',
    },
    {
      title: 'A time range ends before its `endtime`',
      parameters: { timerangelist: [{ starttime: '2024-03-01T00:01:00Z', endtime: '2024-03-01T00:03:00Z' }] },
      inputs: ['00:00 1, 00:01 2, 00:02 3, 00:03 4'],
      output: '00:00 1, 00:03 4',
    },
    {
      title: 'A bound that is left out does not limit',
      parameters: { valuerangelist: [{ upper: 0 }, { lower: 100 }] },
      inputs: ['00:00 -5, 00:01 50, 00:02 100'],
      output: '00:01 50',
    },
  ],
};

export const describeMask = /* @__PURE__ */ describeRanged('removes');

export const where = ranges({ where: withRanges }, 'Where', true);
export const whereTexts: OperationTexts = {
  summary: 'Keeps the samples that lie in any of the value or time ranges.',
  parameters: rangeTexts,
  examples: [
    {
      title: 'Values from 10 to 20 are kept; both bounds belong to the range',
      parameters: { valuerangelist: [{ lower: 10, upper: 20 }] },
      inputs: ['00:00 9.9, 00:01 10, 00:02 15, 00:03 20, 00:04 20.1'],
      output: '00:01 10, 00:02 15, 00:03 20',
    },
    {
      title: 'A time range ends before its `endtime`',
      parameters: { timerangelist: [{ starttime: '2024-03-01T01:01:00+01:00', endtime: '2024-03-01T00:03:00Z' }] },
      inputs: ['00:00 1, 00:01 2, 00:02 3, 00:03 4'],
      output: '00:01 2, 00:02 3',
    },
    {
      title: 'In any value range or in any time range',
      parameters: {
        valuerangelist: [{ lower: 100 }],
        timerangelist: [{ starttime: '2024-03-01T00:00:00Z', endtime: '2024-03-01T00:01:00Z' }],
      },
      inputs: ['00:00 1, 00:01 2, 00:02 300'],
      output: '00:00 1, 00:02 300',
    },
  ],
};

export const describeWhere = /* @__PURE__ */ describeRanged('keeps');

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
): Operation<RangeMethods<Name>, Capitalize<Name>> {
  return {
    name,
    shape: 'filter',
    methods,
    parameters: { valuerangelist: valueRanges(), timerangelist: timeRanges() },
    check: checkRanges,
    open: (parameters) => {
      const bounds = boundsOf(parameters);
      return { kind: 'filter', select: (chunk, out) => selectRanges(bounds, isInside, chunk, out) };
    },
  };
}

function describeRanged(verb: string): Describe {
  return (parameters) => ({ does: `${verb} samples inside ${describeRanges(parameters)}`, ...ofEachSample });
}

function boundsOf(parameters: Parameters): Ranges {
  return {
    lower: columnIn(parameters, 'valuerangelist', 'lower', Number.NEGATIVE_INFINITY),
    upper: columnIn(parameters, 'valuerangelist', 'upper', Number.POSITIVE_INFINITY),
    startMs: columnIn(parameters, 'timerangelist', 'starttime', Number.NEGATIVE_INFINITY),
    endMs: columnIn(parameters, 'timerangelist', 'endtime', Number.POSITIVE_INFINITY),
  };
}

function describeRanges(parameters: Parameters): string {
  const { lower, startMs } = boundsOf(parameters);
  const parts = [lower.length && `${lower.length} value range(s)`, startMs.length && `${startMs.length} time range(s)`];
  return parts.filter(Boolean).join(' or ');
}

function checkRanges(parameters: Parameters, report: Report): void {
  const { lower, startMs } = boundsOf(parameters);
  if (lower.length + startMs.length > 0) return;
  const hint = 'add a valuerangelist or a timerangelist';
  report('', 'request.missing', 'at least one value range or time range', 'none', hint);
}

function valueRanges(): Parameter {
  const bound = number({ optional: true });
  const range = objectOf({ lower: bound, upper: bound }, ({ lower, upper }, report) => {
    if (lower === undefined || upper === undefined || lower <= upper) return;
    report('', 'request.range', 'lower at most upper', `${lower} over ${upper}`, 'swap the two');
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
