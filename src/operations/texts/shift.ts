import type { Describe, OperationTexts } from '../operation.js';
import { numberIn, textIn } from '../parameters.js';
import { is, type OperationRules, when } from '../rules.js';
import { isByTime, shiftMs } from '../shift.js';
import { inZone } from '../windowing.js';

export const shiftTexts: OperationTexts = {
  summary: 'Moves samples in time, by a duration or by whole windows.',
  parameters: {
    function: 'What `shift` counts.',
    shift: 'A whole number of windows (ShiftByWindow), or an ISO 8601 duration, a day being 24 h (ShiftByTime).',
    direction: '`forward` moves to later times.',
    window: 'The window that ShiftByWindow counts; by default that of the nearest step upstream with windows.',
    timezone: 'The zone whose local days the windows follow.',
  },
  examples: [
    {
      title: 'A week forward, to put last week beside this week',
      parameters: { function: 'ShiftByTime', shift: 'P7D', direction: 'forward' },
      inputs: ['2024-03-01T08:00:00Z 21.5, 2024-03-01T09:00:00Z 22'],
      output: '2024-03-08T08:00:00Z 21.5, 2024-03-08T09:00:00Z 22',
    },
    {
      title: 'Back by two windows of half an hour; the position inside a window is kept',
      parameters: { function: 'ShiftByWindow', shift: 2, direction: 'backward', window: 'HalfHourly' },
      inputs: ['10:00 1, 10:10 2, 11:45 3'],
      output: '09:00 1, 09:10 2, 10:45 3',
    },
    {
      title: 'A calendar month forward: the first of a month moves to the first of the next',
      parameters: { function: 'ShiftByWindow', shift: 1, direction: 'forward', window: 'Monthly' },
      inputs: ['2024-02-01T00:00:00Z 29, 2024-03-01T00:00:00Z 31'],
      output: '2024-03-01T00:00:00Z 29, 2024-04-01T00:00:00Z 31',
    },
  ],
};

export const describeShift: Describe = (parameters) => {
  const amount = isByTime(parameters) ? textIn(parameters, 'shift') : windowsOf(numberIn(parameters, 'shift'));
  const window = isByTime(parameters) ? '' : textIn(parameters, 'window') + inZone(parameters);
  return {
    does: `moves samples ${textIn(parameters, 'direction')} by ${amount}${window}`,
    reads: { kind: 'moved', byMs: isByTime(parameters) ? shiftMs(parameters) : undefined },
    keeps: 'the last sample',
    final: 'with its sample',
  };
};

function windowsOf(count: number): string {
  return count === 1 ? '1 window of ' : `${count} windows of `;
}

export const shiftRules = (): OperationRules => ({
  parameters: [
    when(is('function', 'ShiftByTime'), { properties: { shift: { type: 'string' }, window: false } }),
    when(is('function', 'ShiftByWindow'), {
      properties: { shift: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER } },
    }),
  ],
});
