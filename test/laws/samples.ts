import fc from 'fast-check';
import type { Series } from '../../src/index.js';

/** Series as from the field and worse: gaps, uneven times, duplicates, missing and extreme values. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How far apart samples are, about, with intervals that suit them. */
export interface Scale {
  readonly name: string;
  readonly stepMs: number;
  readonly intervals: readonly string[];
  /** Intervals that tile the local days of a zone. */
  readonly zonedIntervals: readonly string[];
  readonly durations: readonly string[];
}

export const scales: readonly Scale[] = [
  {
    name: 'seconds',
    stepMs: 10_000,
    intervals: ['PT1S', 'PT7S', 'PT0.1S', 'PT0.7S', 'PT0.0333S', 'PT90S', 'PT1M', 'QuarterHourly', 'Hourly'],
    zonedIntervals: ['PT5S', 'PT0.5S', 'PT1M', 'QuarterHourly', 'Hourly', 'Daily'],
    durations: ['PT0S', 'PT1S', 'PT10S', 'PT12.3456S', 'PT1M', 'PT1H'],
  },
  {
    name: 'minutes',
    stepMs: 5 * MINUTE_MS,
    intervals: [
      'QuarterHourly',
      'HalfHourly',
      'Hourly',
      'PT7M',
      'PT11M13S',
      'Daily',
      'P1D',
      'Weekly',
      'P1W',
      'PT1H30M',
    ],
    zonedIntervals: ['QuarterHourly', 'HalfHourly', 'Hourly', 'PT90M', 'PT20M', 'Daily', 'Weekly'],
    durations: ['PT0S', 'PT5M', 'PT15M', 'PT20M', 'PT1H', 'PT3H', 'PT25H', 'P1D'],
  },
  {
    name: 'hours',
    stepMs: HOUR_MS,
    intervals: ['Hourly', 'PT5H', 'Daily', 'PT24H', 'P7D', 'Weekly', 'Monthly', 'P1M', 'Yearly', 'PT36H'],
    zonedIntervals: ['Hourly', 'PT2H', 'PT8H', 'Daily', 'P1D', 'Weekly', 'Monthly', 'Yearly'],
    durations: ['PT0S', 'PT30M', 'PT1H', 'PT5H', 'P1D', 'P2DT3H', 'P7D'],
  },
  {
    name: 'days',
    stepMs: DAY_MS,
    intervals: ['Daily', 'P3D', 'Weekly', 'P10D', 'Monthly', 'Yearly', 'P1Y', 'PT17H'],
    zonedIntervals: ['PT6H', 'PT12H', 'Daily', 'Weekly', 'Monthly', 'Yearly'],
    durations: ['PT0S', 'PT6H', 'P1D', 'P3DT1H', 'P1W', 'P30D'],
  },
];

/** What draws for a scale, made once: to make it takes longer than to draw from it. */
export function onceAScale<Made>(make: (scale: Scale) => Made): (scale: Scale) => Made {
  const made = new Map<Scale, Made>();
  return (scale) => {
    const known = made.get(scale) ?? make(scale);
    made.set(scale, known);
    return known;
  };
}

/** Zones with days that are long, short, split or skipped, each with an instant of such a change. */
const turnings: readonly (readonly [zone: string, instant: string])[] = [
  ['Europe/Berlin', '2024-03-31T01:00:00Z'],
  ['Europe/Berlin', '2024-10-27T01:00:00Z'],
  ['America/New_York', '2024-11-03T06:00:00Z'],
  ['Australia/Lord_Howe', '2024-04-06T15:00:00Z'],
  ['Australia/Lord_Howe', '2024-10-05T15:30:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'], // a skipped day
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'], // a midnight that does not exist
  ['America/Sao_Paulo', '2018-02-18T02:00:00Z'], // a midnight that comes twice
  ['Africa/Casablanca', '2024-03-10T02:00:00Z'],
  ['Africa/Casablanca', '2024-04-14T02:00:00Z'],
  ['America/St_Johns', '2006-10-29T02:31:00Z'], // back at one minute past midnight
  ['Asia/Kolkata', '1970-01-01T00:00:00Z'],
];

export const zoneNames: readonly string[] = [...new Set(turnings.map(([zone]) => zone))];

const anchorsMs: readonly number[] = [
  ...turnings.map(([, instant]) => Date.parse(instant)),
  0,
  Date.parse('2024-02-29T12:00:00Z'),
  Date.parse('1969-12-31T23:00:00Z'),
];

/** Near the first and last instants that windrow knows. */
const edgesMs: readonly number[] = [-62_135_596_800_000, 253_402_300_800_000 - 3 * DAY_MS];

/** Where in time a run starts. */
export function startArbitrary({ stepMs }: Scale): fc.Arbitrary<number> {
  const nearAnchor = fc
    .tuple(fc.constantFrom(...anchorsMs), fc.integer({ min: -20, max: 3 }), fc.constantFrom(0, 0, 1, 0.25))
    .map(([anchorMs, steps, offMs]) => anchorMs + steps * stepMs + offMs);
  const quarter = nearAnchor.map((timeMs) => Math.floor(timeMs / 900_000) * 900_000);
  return fc.oneof({ weight: 5, arbitrary: nearAnchor }, { weight: 5, arbitrary: quarter }, fc.constantFrom(...edgesMs));
}

const gapArbitrary = onceAScale(({ stepMs }) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 4 }).map((steps) => steps * stepMs) },
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 2 * stepMs }) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 2 * stepMs }).map((ms) => ms / 1024 + 0.1) },
    { weight: 1, arbitrary: fc.constantFrom(0, 0.001, 900_000, 1) },
    { weight: 1, arbitrary: fc.integer({ min: 10, max: 30 }).map((steps) => steps * stepMs) },
  ),
);

const calmValue = fc.integer({ min: -40, max: 40 }).map((quarters) => quarters / 4);
const decimalValue = fc.integer({ min: -99_999, max: 99_999 }).map((thousandths) => thousandths / 1000);
const wildValue = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 5e-324, -5e-324, 1e308, -1e308, 1.7e308, 1e16, 9007199254740992, 1e-300, 0.1, 1e22),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const missingValue = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);

export const valueArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 6, arbitrary: calmValue },
  { weight: 6, arbitrary: decimalValue },
  { weight: 2, arbitrary: wildValue },
  { weight: 1, arbitrary: missingValue },
);

/** Finite values; sums of a few do not overflow. */
export const tameValue: fc.Arbitrary<number> = fc.oneof(
  calmValue,
  decimalValue,
  fc.double({ noNaN: true, min: -1e12, max: 1e12 }),
);

/** Samples in time order from `startMs` on, some of equal time. */
export function samplesArbitrary(
  scale: Scale,
  startMs: number,
  value: fc.Arbitrary<number> = valueArbitrary,
  lengthMax = 40,
): fc.Arbitrary<Samples> {
  const gaps = fc.array(fc.tuple(gapArbitrary(scale), value), { maxLength: lengthMax, size: 'max' });
  return fc.tuple(fc.integer({ min: 0, max: 4 }), gaps).map(([first, parts]) => {
    const timeMs: number[] = [];
    const values: number[] = [];
    let t = startMs + first * scale.stepMs;
    for (const [gapMs, x] of parts) {
      if (t >= 253_402_300_800_000) break;
      timeMs.push(t);
      values.push(x);
      t += gapMs;
    }
    return { timeMs, value: values };
  });
}

export interface Samples {
  readonly timeMs: readonly number[];
  readonly value: readonly number[];
}

export function toSeries(timeseriesId: string, { timeMs, value }: Samples, metric = 'Raw'): Series {
  return { timeseriesId, metric, timeMs: Float64Array.from(timeMs), value: Float64Array.from(value) };
}

/** The samples in another order of arrival; none is more than `latenessMs` behind the greatest time before it. */
export function delayed(samples: Samples, delays: readonly number[], latenessMs: number): Samples {
  if (!(latenessMs > 1) || delays.length === 0) return samples;
  const arrivalMs = samples.timeMs.map((t, i) => t + Math.floor(delays[i % delays.length]! * (latenessMs - 1)));
  const order = [...arrivalMs.keys()].sort((a, b) => arrivalMs[a]! - arrivalMs[b]! || a - b);
  return { timeMs: order.map((at) => samples.timeMs[at]!), value: order.map((at) => samples.value[at]!) };
}
