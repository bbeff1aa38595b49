import { pointsIn } from '../../extensions/values/scale.js';
import { quantityOf, unitNames, unitsOf } from '../../extensions/values/units.js';
import { type Describe, type OperationTexts, ofEachSample } from '../../operation.js';
import { numberIn, type Parameters, textIn } from '../../parameters.js';
import { has, is, type OperationRules, oneOf, when } from '../../rules.js';

export const scaleTexts: OperationTexts = {
  summary: 'Converts values to another scale: by slope and offset, through two points, or from one unit to another.',
  parameters: {
    slope: 'What values are multiplied by.',
    offset: 'What is then added, with a slope; 0 by default.',
    points: 'Two points of the line: a value of `x` becomes `y`.',
    from: 'The unit of the values.',
    to: 'The unit of the results, for the same quantity.',
  },
  examples: [
    {
      title: 'From one unit to another, with one rounding',
      parameters: { from: '°F', to: '°C' },
      inputs: ['00:00 32, 00:15 98.6, 00:30 -40'],
      output: '00:00 0, 00:15 37, 00:30 -40',
    },
    {
      title: 'A signal of 4 to 20 mA that stands for 0 to 100 %',
      parameters: {
        points: [
          { x: 4, y: 0 },
          { x: 20, y: 100 },
        ],
      },
      inputs: ['00:00 4, 00:15 12, 00:30 20, 00:45 2'],
      output: '00:00 0, 00:15 50, 00:30 100, 00:45 -12.5',
    },
    {
      title: 'By slope and offset',
      parameters: { slope: 0.1, offset: -40 },
      inputs: ['00:00 0, 00:15 650'],
      output: '00:00 -40, 00:15 25',
    },
    {
      title: 'Watts to kilowatts',
      parameters: { from: 'W', to: 'kW' },
      inputs: ['00:00 1, 00:15 2345.6'],
      output: '00:00 0.001, 00:15 2.3456',
    },
  ],
};

export const describeScale: Describe = (parameters) => ({
  does: `scales ${wayOf(parameters)}`,
  ...ofEachSample,
});

function wayOf(parameters: Parameters): string {
  if (parameters.from !== undefined) return `from ${textIn(parameters, 'from')} to ${textIn(parameters, 'to')}`;
  const line = pointsIn(parameters);
  if (line !== undefined) return `through (${line[0]}, ${line[1]}) and (${line[2]}, ${line[3]})`;
  const offset = parameters.offset === undefined ? '' : `, plus ${numberIn(parameters, 'offset')}`;
  return `by ${numberIn(parameters, 'slope')}${offset}`;
}

export const scaleRules = (): OperationRules => ({
  parameters: [
    { oneOf: [has('slope'), has('points'), oneOf('from', 'to')] },
    when(has('offset'), has('slope')),
    when(oneOf('from', 'to'), has('from', 'to')),
    ...[...new Set(unitNames.map((unit) => quantityOf(unit) ?? ''))].map((quantity) =>
      when(is('from', ...unitsOf(quantity)), { properties: { to: { enum: unitsOf(quantity) } } }),
    ),
  ],
});
