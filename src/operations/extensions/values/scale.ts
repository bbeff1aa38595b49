import { describeValue } from '../../../core/errors.js';
import { didYouMean } from '../../../core/suggest.js';
import { addScalar, divScalar, mulScalar } from '../../../kernels/arithmetic.js';
import { linear } from '../../../kernels/linear.js';
import { throughPoints } from '../../../kernels/values.js';
import type { MapRunner, Operation, StepDraft } from '../../operation.js';
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

const otherNames = { c: 'degC', celsius: 'degC', f: 'degF', fahrenheit: 'degF' };

// Unlike other names, units are case-sensitive: mW and MW are two units.
const unit = parameter({ optional: true }, { type: 'string', enum: unitNames }, (value, report) => {
  const expected = 'the name of a unit, like degC, kWh or psi';
  if (typeof value !== 'string') return refuse(report, 'request.type', expected, value);
  if (unitNames.includes(value)) return value;
  const sameLetters = unitNames.filter((name) => name.toLowerCase() === value.toLowerCase());
  const alike = sameLetters.map((name) => `\`${name}\``).join(' or ');
  const hint = alike === '' ? didYouMean(value, unitNames, otherNames) : `did you mean ${alike}?`;
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

export function pointsIn({ points: list }: Parameters): readonly [number, number, number, number] | undefined {
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
