import { objectsIn, textsIn } from '../../extensions/times/schedule.js';
import type { Describe, OperationTexts } from '../../operation.js';
import { type Parameters, textIn } from '../../parameters.js';
import { type OperationRules, oneOf } from '../../rules.js';

export const scheduleTexts: OperationTexts = {
  summary: 'Gives 1 when the times of a schedule begin, by the local clock, and 0 when they end.',
  parameters: {
    days: 'Days of the week, Mon to Sun; all by default.',
    hours:
      'Local times, from `start` until before `end`; all day by default. `end` may be 24:00, or at or before `start` ' +
      'for hours that go on into the next day.',
    holidays: 'Dates on which nothing starts.',
    ranges: 'Spans of dates, from `first` to `last`, outside of which nothing starts; all dates by default.',
    timezone: 'The zone of the local times.',
  },
  examples: [
    {
      title: 'Office hours on weekdays; 1 March 2024 is a Friday',
      parameters: { days: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri'], hours: [{ start: '08:00', end: '18:00' }] },
      inputs: ['2024-03-01T00:00:00Z 20, 2024-03-04T12:00:00Z 21'],
      output: '2024-03-01T00:00:00Z 0, 2024-03-01T08:00:00Z 1, 2024-03-01T18:00:00Z 0, 2024-03-04T08:00:00Z 1',
    },
    {
      title: 'By the clock in Berlin, which goes forward on 31 March',
      parameters: { hours: [{ start: '08:00', end: '18:00' }], timezone: 'Europe/Berlin' },
      inputs: ['2024-03-30T12:00:00Z 20, 2024-03-31T18:00:00Z 21'],
      output: '2024-03-30T12:00:00Z 1, 2024-03-30T17:00:00Z 0, 2024-03-31T06:00:00Z 1, 2024-03-31T16:00:00Z 0',
    },
    {
      title: 'A night shift belongs to the day on which it starts; none starts on a holiday',
      parameters: { hours: [{ start: '22:00', end: '06:00' }], holidays: ['2024-03-02'] },
      inputs: ['2024-03-01T12:00:00Z 1, 2024-03-03T23:00:00Z 1'],
      output: '2024-03-01T12:00:00Z 0, 2024-03-01T22:00:00Z 1, 2024-03-02T06:00:00Z 0, 2024-03-03T22:00:00Z 1',
    },
    {
      title: 'A heating season',
      parameters: { ranges: [{ first: '2023-10-01', last: '2024-04-30' }] },
      inputs: ['2024-04-30T00:00:00Z 1, 2024-05-02T00:00:00Z 1'],
      output: '2024-04-30T00:00:00Z 1, 2024-05-01T00:00:00Z 0',
    },
  ],
};

export const describeSchedule: Describe = (parameters) => ({
  does: `1 ${textOf(parameters)}, else 0`,
  reads: { kind: 'past' },
  keeps: 'the state and its next change',
  final: 'when a sample at or after its time is final',
});

function textOf(parameters: Parameters): string {
  const days = textsIn(parameters, 'days');
  const hours = objectsIn(parameters, 'hours').map((item) => `${textIn(item, 'start')}–${textIn(item, 'end')}`);
  const ranges = objectsIn(parameters, 'ranges').map((item) => `${textIn(item, 'first')} to ${textIn(item, 'last')}`);
  const holidays = textsIn(parameters, 'holidays');
  return [
    days.length === 0 ? 'on all days' : `on ${days.join(', ')}`,
    hours.length === 0 ? '' : `at ${hours.join(', ')}`,
    ranges.length === 0 ? '' : `from ${ranges.join(', ')}`,
    holidays.length === 0 ? '' : `but not on ${holidays.join(', ')}`,
    `(${textIn(parameters, 'timezone')})`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

export const scheduleRules = (): OperationRules => ({ parameters: [oneOf('days', 'hours', 'holidays', 'ranges')] });
