// The extensions that work on single values, and joins of any number of inputs.

import { exactExp, exactLog, exactPow, nearestQuotient, unitsOf } from './exact.js';
import { lerp } from './numbers.js';
import { countDropped, type Dropped, heldValue, type Outcome, type Sample, settle } from './series.js';
import { parseDuration } from './time.js';

/** The function of one value that an operation and its parameters define. */
export function valueFunction(operation: string, parameters: ValueParameters): ((x: number) => number) | undefined {
  const { lower = Number.NEGATIVE_INFINITY, upper = Number.POSITIVE_INFINITY } = parameters;
  switch (operation) {
    case 'sqrt':
      return Math.sqrt;
    case 'exp':
      return exactExp;
    case 'log':
      return (x) => exactLog(x, parameters.base);
    case 'sign':
      return (x) => (x > 0 ? 1 : x < 0 ? -1 : 0);
    case 'floor':
      return (x) => Math.floor(x) + 0;
    case 'ceil':
      return (x) => Math.ceil(x) + 0;
    case 'clamp':
      return (x) => (x < lower ? lower : x > upper ? upper : x);
    case 'scale':
      return scaleFunction(parameters);
    default:
      return undefined;
  }
}

export interface ValueParameters {
  readonly base?: number;
  readonly lower?: number;
  readonly upper?: number;
  readonly slope?: number;
  readonly offset?: number;
  readonly points?: readonly { readonly x: number; readonly y: number }[];
  readonly from?: string;
  readonly to?: string;
}

function scaleFunction({ slope, offset, points, from = '', to = '' }: ValueParameters): (x: number) => number {
  if (slope !== undefined) return (x) => (offset === undefined ? x * slope : x * slope + offset);
  if (points !== undefined) {
    const [a = { x: 0, y: 0 }, b = { x: 0, y: 0 }] = points;
    const part = Number.isFinite(b.x - a.x) ? 1 : 0.5;
    return (x) => lerp(a.y, b.y, (x * part - a.x * part) / (b.x * part - a.x * part));
  }
  return (x) => convert(x, from, to);
}

/** Units by their decimal definition as [factor, offset]: SI = (value + offset) × factor. */
const UNITS: Readonly<Record<string, readonly [factor: string, offset?: string]>> = {
  K: ['1'],
  degC: ['1', '273.15'],
  '°C': ['1', '273.15'],
  degF: ['5/9', '459.67'],
  '°F': ['5/9', '459.67'],
  degR: ['5/9'],
  W: ['1'],
  mW: ['0.001'],
  kW: ['1000'],
  MW: ['1000000'],
  GW: ['1000000000'],
  PS: ['735.49875'],
  'BTU/h': ['1055.05585262/3600'],
  tonRefrigeration: ['12660.67023144/3.6'],
  J: ['1'],
  kJ: ['1000'],
  MJ: ['1000000'],
  GJ: ['1000000000'],
  Wh: ['3600'],
  kWh: ['3600000'],
  MWh: ['3600000000'],
  GWh: ['3600000000000'],
  cal: ['4.184'],
  kcal: ['4184'],
  BTU: ['1055.05585262'],
  therm: ['105505585.262'],
  Pa: ['1'],
  hPa: ['100'],
  kPa: ['1000'],
  MPa: ['1000000'],
  mbar: ['100'],
  bar: ['100000'],
  atm: ['101325'],
  psi: ['4.4482216152605/0.00064516'],
  mmHg: ['133.322387415'],
  inHg: ['3386.388640341'],
  'm3/s': ['1'],
  'm³/s': ['1'],
  'm3/h': ['1/3600'],
  'm³/h': ['1/3600'],
  'L/s': ['0.001'],
  'L/min': ['0.001/60'],
  'L/h': ['0.001/3600'],
  cfm: ['0.028316846592/60'],
  gpm: ['0.003785411784/60'],
  m3: ['1'],
  'm³': ['1'],
  L: ['0.001'],
  mL: ['0.000001'],
  ft3: ['0.028316846592'],
  gal: ['0.003785411784'],
  m: ['1'],
  mm: ['0.001'],
  cm: ['0.01'],
  km: ['1000'],
  in: ['0.0254'],
  ft: ['0.3048'],
  yd: ['0.9144'],
  mi: ['1609.344'],
  m2: ['1'],
  'm²': ['1'],
  cm2: ['0.0001'],
  ha: ['10000'],
  ft2: ['0.09290304'],
  kg: ['1'],
  g: ['0.001'],
  mg: ['0.000001'],
  t: ['1000'],
  lb: ['0.45359237'],
  oz: ['0.45359237/16'],
  'm/s': ['1'],
  'km/h': ['1/3.6'],
  mph: ['0.44704'],
  kn: ['1852/3600'],
  'ft/min': ['0.3048/60'],
  s: ['1'],
  ms: ['0.001'],
  min: ['60'],
  h: ['3600'],
  d: ['86400'],
  Hz: ['1'],
  kHz: ['1000'],
  MHz: ['1000000'],
  rpm: ['1/60'],
  A: ['1'],
  mA: ['0.001'],
  kA: ['1000'],
  V: ['1'],
  mV: ['0.001'],
  kV: ['1000'],
  '1': ['1'],
  '%': ['0.01'],
  ppm: ['0.000001'],
  ppb: ['0.000000001'],
};

/** Units that the oracle knows, by quantity. */
export const oracleUnits: readonly (readonly string[])[] = [
  ['K', 'degC', '°C', 'degF', '°F', 'degR'],
  ['W', 'kW', 'PS', 'BTU/h', 'tonRefrigeration'],
  ['J', 'kWh', 'cal', 'BTU'],
  ['Pa', 'bar', 'psi', 'atm', 'mmHg', 'inHg'],
  ['m3/h', 'm³/h', 'L/min', 'cfm', 'gpm'],
  ['1', '%', 'ppm'],
  ['km/h', 'mph', 'kn'],
];

type Fraction = readonly [n: bigint, d: bigint];

function fractionOf(text: string): Fraction {
  const [top = '', bottom = '1'] = text.split('/');
  const [n, nScale] = decimalOf(top);
  const [d, dScale] = decimalOf(bottom);
  return [n * dScale, d * nScale];
}

function decimalOf(text: string): Fraction {
  const [whole = '', decimals = ''] = text.split('.');
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
}

function convert(x: number, from: string, to: string): number {
  const [fromFactor, fromOffset] = [fractionOf(UNITS[from]![0]), fractionOf(UNITS[from]![1] ?? '0')];
  const [toFactor, toOffset] = [fractionOf(UNITS[to]![0]), fractionOf(UNITS[to]![1] ?? '0')];
  const value: Fraction = [unitsOf(x), 1n << 1074n];
  const [n, d] = plus(divided(times(plus(value, fromOffset), fromFactor), toFactor), [-toOffset[0], toOffset[1]]);
  if (n === 0n) return x === 0 ? x : 0; // a zero that stays zero keeps its sign
  return nearestQuotient(n, d);
}

const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d];
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d];
const divided = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d, b * c];

/** Floored division: the result has the sign of the divisor. */
export function mod(x: number, divisor: number): number {
  const rest = x % divisor;
  if (rest === 0) return 0;
  return rest < 0 === divisor < 0 ? rest : rest + divisor;
}

export { exactPow as pow };

export interface JoinParameters {
  readonly align?: string | undefined;
  readonly maxhold?: string | undefined;
  readonly else?: number | undefined;
}

/** `combine` at each time at which all inputs have a value; a time is left out where the result is undefined. */
export function joinAll(
  inputs: readonly (readonly Sample[])[],
  { align = 'inner', maxhold }: JoinParameters,
  combine: (values: readonly number[]) => number | undefined,
): Outcome {
  const mode = align.toLowerCase();
  const heldMs = maxhold === undefined ? Number.POSITIVE_INFINITY : parseDuration(maxhold);
  const ageMsMax = mode === 'inner' ? 0 : heldMs;
  const dropped: Dropped = {};
  const times = mode === 'asof' ? inputs[0]!.map(({ timeMs }) => timeMs) : timesOf(inputs);
  const lookedUp = new Set<Sample>();
  const candidates = times.flatMap((timeMs) => {
    const values = inputs.map((samples) => heldValue(samples, timeMs, ageMsMax));
    const known = values.filter((value) => value !== undefined);
    if (known.length < inputs.length) {
      countDropped(dropped, 'unmatched');
      return [];
    }
    for (const samples of inputs) lookedUp.add(samples.filter((sample) => sample.timeMs <= timeMs).at(-1)!);
    const value = combine(known);
    return value === undefined ? [] : [{ timeMs, value }];
  });
  const others = mode === 'asof' ? inputs.slice(1).flat() : [];
  countDropped(dropped, 'unmatched', others.filter((sample) => !lookedUp.has(sample)).length);
  return settle(candidates, dropped);
}

export function coalesce(inputs: readonly (readonly Sample[])[], maxhold = 'PT0S'): Outcome {
  const samples = timesOf(inputs).map((timeMs) => {
    const values = inputs.map((own) => heldValue(own, timeMs, parseDuration(maxhold)));
    return { timeMs, value: values.find((value) => value !== undefined)! };
  });
  return settle(samples, {});
}

function timesOf(inputs: readonly (readonly Sample[])[]): number[] {
  return [...new Set(inputs.flatMap((samples) => samples.map(({ timeMs }) => timeMs)))].sort((a, b) => a - b);
}
