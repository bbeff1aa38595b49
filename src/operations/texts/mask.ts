import { boundsOf } from '../mask.js';
import { type Describe, type OperationTexts, ofEachSample } from '../operation.js';
import type { Parameters } from '../parameters.js';
import type { OperationRules } from '../rules.js';

const rangeTexts = {
  valuerangelist: 'Closed value ranges, `[lower, upper]`; a bound that is left out does not limit.',
  timerangelist: 'Half-open time ranges, `[starttime, endtime)`; a bound that is left out does not limit.',
};
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

function describeRanged(verb: string): Describe {
  return (parameters) => ({ does: `${verb} samples inside ${describeRanges(parameters)}`, ...ofEachSample });
}

function describeRanges(parameters: Parameters): string {
  const { lower, startMs } = boundsOf(parameters);
  const parts = [lower.length && `${lower.length} value range(s)`, startMs.length && `${startMs.length} time range(s)`];
  return parts.filter(Boolean).join(' or ');
}

/** Of Mask and Where. */
export const rangeRules = (): OperationRules => ({
  parameters: [
    {
      anyOf: ['valuerangelist', 'timerangelist'].map((name) => ({
        properties: { [name]: { minItems: 1 } },
        required: [name],
      })),
    },
  ],
});
