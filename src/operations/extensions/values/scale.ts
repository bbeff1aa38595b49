import { describeValue } from '../../../core/errors.js';
import { didYouMean } from '../../../core/suggest.js';
import { addScalar, divScalar, mulScalar } from '../../../kernels/arithmetic.js';
import { linear } from '../../../kernels/linear.js';
import { throughPoints } from '../../../kernels/values.js';
import {
  type Describe,
  type MapRunner,
  type Operation,
  type OperationTexts,
  ofEachSample,
  type StepDraft,
} from '../../operation.js';
import {
  listOf,
  number,
  numberIn,
  objectOf,
  type Parameter,
  type Parameters,
  parameter,
  type Report,
  refuse,
  textIn,
} from '../../parameters.js';
import { has, is, type OperationRules, oneOf, when } from '../../rules.js';
import { conversion, quantityOf, unitNames, unitsOf } from './units.js';

/** A point of a characteristic line: a value of `x` becomes `y`. */
export interface ScalePoint {
  readonly x: number;
  readonly y: number;
}

/** By a slope and an offset, through two points, or from one unit to another. */
export type ScaleParameters =
  | { readonly slope: number; readonly offset?: number }
  | { readonly points: readonly [ScalePoint, ScalePoint] }
  | { readonly from: string; readonly to: string };

export interface ScaleMethods {
  scale(parameters: ScaleParameters): StepDraft<ScaleParameters>;
}

// Unlike other names, units are case-sensitive: mW and MW are two units.
const unit = parameter({ optional: true }, { type: 'string', enum: unitNames }, (value, report) => {
  const expected = 'the name of a unit, like degC, kWh or psi';
  if (typeof value !== 'string') return refuse(report, 'request.type', expected, value);
  if (unitNames.includes(value)) return value;
  const sameLetters = unitNames.filter((name) => name.toLowerCase() === value.toLowerCase());
  const alike = sameLetters.map((name) => `\`${name}\``).join(' or ');
  const hint = alike === '' ? didYouMean(value, unitNames) : `did you mean ${alike}?`;
  return refuse(report, 'request.unknown', expected, value, hint ?? `there are ${unitNames.join(', ')}`);
});

export const scale: Operation<ScaleMethods> = {
  name: 'Scale',
  shape: 'map',
  methods: { scale: (parameters) => ({ parameters }) },
  parameters: {
    slope: number({ optional: true }),
    offset: number({ optional: true }),
    points: points(),
    from: unit,
    to: unit,
  },
  check: checkScale,
  open: (parameters) => ({ kind: 'map', apply: kernelOf(parameters) }),
};

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

function kernelOf(parameters: Parameters): MapRunner['apply'] {
  if (parameters.slope !== undefined) {
    const slope = numberIn(parameters, 'slope');
    if (parameters.offset === undefined) return (value, count, out) => mulScalar(value, count, slope, out);
    const offset = numberIn(parameters, 'offset');
    return (value, count, out) => {
      mulScalar(value, count, slope, out);
      return addScalar(out, count, offset, out);
    };
  }
  const line = pointsIn(parameters);
  if (line !== undefined) return (value, count, out) => throughPoints(value, count, line, out);
  const by = conversion(textIn(parameters, 'from'), textIn(parameters, 'to'));
  const { factor, offset, divisor } = by;
  if (offset === 0n && divisor === 1n) return (value, count, out) => mulScalar(value, count, Number(factor), out);
  if (offset === 0n && factor === 1n) return (value, count, out) => divScalar(value, count, Number(divisor), out);
  return (value, count, out) => linear(value, count, by, out);
}

function wayOf(parameters: Parameters): string {
  if (parameters.from !== undefined) return `from ${textIn(parameters, 'from')} to ${textIn(parameters, 'to')}`;
  const line = pointsIn(parameters);
  if (line !== undefined) return `through (${line[0]}, ${line[1]}) and (${line[2]}, ${line[3]})`;
  const offset = parameters.offset === undefined ? '' : `, plus ${numberIn(parameters, 'offset')}`;
  return `by ${numberIn(parameters, 'slope')}${offset}`;
}

function pointsIn({ points: list }: Parameters): readonly [number, number, number, number] | undefined {
  if (!Array.isArray(list)) return undefined;
  const [first, second]: Parameters[] = list;
  if (first === undefined || second === undefined) throw new Error('assertion failed: no two points');
  return [numberIn(first, 'x'), numberIn(first, 'y'), numberIn(second, 'x'), numberIn(second, 'y')];
}

function checkScale(parameters: Parameters, report: Report): void {
  const { slope, offset, points: line, from, to } = parameters;
  const ways = [slope, line, from ?? to].filter((way) => way !== undefined).length;
  if (ways !== 1) {
    const received = ways === 0 ? 'none of them' : 'several of them';
    report('', 'request.conflict', 'a slope, or two points, or the units from and to', received);
    return;
  }
  if (offset !== undefined && slope === undefined) {
    report('/offset', 'request.conflict', 'an offset only with a slope', describeValue(offset));
  }
  if ((from === undefined) !== (to === undefined)) {
    report(from === undefined ? '/from' : '/to', 'request.missing', 'both units, from and to', 'one of them');
  } else if (from !== undefined && quantityOf(textIn(parameters, 'from')) !== quantityOf(textIn(parameters, 'to'))) {
    const quantity = quantityOf(textIn(parameters, 'from')) ?? '';
    const hint = `units of ${quantity} are ${unitsOf(quantity).join(', ')}`;
    report('/to', 'request.conflict', `a unit of ${quantity}, like \`${from}\``, `\`${to}\``, hint);
  }
}

function points(): Parameter {
  const list = listOf(objectOf({ x: number(), y: number() }));
  const schema = { ...list.schema, minItems: 2, maxItems: 2 };
  return parameter({ optional: true }, schema, (value, report, context) => {
    const read = list.read(value, report, context);
    if (!Array.isArray(read)) return undefined;
    const [first, second]: Parameters[] = read;
    if (read.length !== 2 || first === undefined || second === undefined) {
      report('', 'request.value', 'two points', `${read.length}`);
      return undefined;
    }
    if (first.x !== second.x) return read;
    report('', 'request.range', 'two points with different `x`', `${numberIn(first, 'x')} twice`);
    return undefined;
  });
}
