// The data of the operations' pictures: signals of a morning, and an example of each operation over them.

const START_MS = Date.parse('2024-03-01T06:00Z');
const MINUTE_MS = 60_000;

/** Samples every `everyMinutes` of a function of the minutes since 06:00; none where it returns undefined. */
function signal(valueAt, everyMinutes = 10) {
  const minutes = Array.from({ length: 360 / everyMinutes }, (_, k) => k * everyMinutes);
  const samples = minutes.map((minute) => [minute, valueAt(minute)]).filter(([, value]) => value !== undefined);
  return {
    timeMs: Float64Array.from(samples, ([minute]) => START_MS + minute * MINUTE_MS),
    value: Float64Array.from(samples, ([, value]) => Math.round(value * 100) / 100),
  };
}

const noise = (minute) => Math.sin(minute * 12.9898) * 0.6 + Math.sin(minute * 4.1) * 0.4;
const warmth = (minute) => 21 + 2.5 * Math.sin(minute / 57 - 0.6) + 0.7 * noise(minute);
const smooth = (minute) => 21 + 2.5 * Math.sin(minute / 57 - 0.6);
const isIn = (minute, ...spans) => spans.some(([from, to]) => minute >= from && minute < to);

export const signals = {
  temperature: signal(warmth),
  smooth: signal(smooth),
  cooler: signal((minute) => smooth(minute) - 3 + minute / 90),
  outside: signal((minute) => 20.2 + minute / 180, 30),
  aroundZero: signal((minute) => 3 * Math.sin(minute / 50) + 0.5 * noise(minute)),
  positive: signal((minute) => 4 + 3.5 * Math.sin(minute / 50)),
  spikes: signal((minute) => smooth(minute) + ({ 70: 7, 180: -8, 290: 6 }[minute] ?? 0.15 * noise(minute))),
  gaps: signal((minute) => (isIn(minute, [70, 150], [230, 340]) ? undefined : smooth(minute))),
  seldom: signal(smooth, 60),
  jitter: signal((minute) => (minute % 7 < 3 ? warmth(minute) : undefined), 5),
  stuck: signal((minute) => (isIn(minute, [100, 220]) ? warmth(100) : warmth(minute))),
  shorts: signal((minute) => Number(isIn(minute, [40, 60], [90, 200], [210, 220], [260, 330]))),
  switched: signal((minute) => Number(isIn(minute, [60, 180], [250, 320]))),
  other: signal((minute) => Number(isIn(minute, [120, 280]))),
  meter: signal((minute) => (900 + minute / 2 + 8 * Math.sin(minute / 40)) % 1000),
  angle: signal((minute) => minute * 2),
  electricity: signal((minute) => 2 + 1.5 * Math.sin(minute / 45) ** 2),
  exponent: signal((minute) => minute / 72 - 2),
};

/**
 * For each operation: what the picture shows, the signals and the parameters. `windowMinutes` is the length of the
 * results' windows; no line joins results further apart than `gapMinutes`; `isBelow` draws them first.
 */
export const examples = {
  Aggregate: {
    title: 'The average of each hour',
    inputs: ['temperature'],
    parameters: { function: 'Average', interval: 'Hourly' },
    windowMinutes: 60,
  },
  'Aggregate Pipeline': {
    title: 'The greatest of the hourly averages, every two hours',
    inputs: ['temperature'],
    parameters: {
      pipeline: [
        { function: 'Average', interval: 'Hourly' },
        { function: 'Max', interval: 'PT2H' },
      ],
    },
    windowMinutes: 120,
  },
  Add: { title: 'A number added to each value', inputs: ['smooth'], parameters: { scalar: 2 } },
  Sub: { title: 'The difference between two series', inputs: ['smooth', 'cooler'], parameters: {} },
  Mul: { title: 'Each value times a number', inputs: ['positive'], parameters: { scalar: 1.5 } },
  Div: { title: 'Each value divided by a number', inputs: ['positive'], parameters: { scalar: 2 } },
  Eq: {
    title: '1 where the value is 21, give or take half a degree',
    inputs: ['temperature'],
    parameters: { scalar: 21, tolerance: 0.5 },
  },
  Ne: {
    title: '1 where the value is not 21, give or take half a degree',
    inputs: ['temperature'],
    parameters: { scalar: 21, tolerance: 0.5 },
  },
  Lte: { title: '1 where the value is 21 or less', inputs: ['temperature'], parameters: { scalar: 21 } },
  Lt: { title: '1 where the first is less than the second', inputs: ['smooth', 'outside'], parameters: {} },
  Gt: { title: '1 where the value is greater than 21', inputs: ['temperature'], parameters: { scalar: 21 } },
  Gte: { title: '1 where the value is 21 or more', inputs: ['temperature'], parameters: { scalar: 21 } },
  Not: { title: '1 becomes 0, and 0 becomes 1', inputs: ['switched'], parameters: {} },
  And: { title: '1 where both are 1', inputs: ['switched', 'other'], parameters: {} },
  Or: { title: '1 where either is 1', inputs: ['switched', 'other'], parameters: {} },
  Mask: {
    title: 'Samples between 20 and 22 are left out',
    inputs: ['temperature'],
    parameters: { valuerangelist: [{ lower: 20, upper: 22 }] },
    gapMinutes: 15,
  },
  Where: {
    title: 'Samples between 20 and 22 are kept',
    inputs: ['temperature'],
    parameters: { valuerangelist: [{ lower: 20, upper: 22 }] },
    gapMinutes: 15,
  },
  Round: { title: 'Rounded to whole degrees', inputs: ['smooth'], parameters: { roundtodigits: 0 } },
  Abs: { title: 'Values without their sign', inputs: ['aroundZero'], parameters: {} },
  Cleanse: {
    title: 'Values beyond 17 and 25 become these bounds',
    inputs: ['spikes'],
    parameters: { function: 'BoundsLimitCleanse', lowerbound: 17, upperbound: 25 },
  },
  Shift: {
    title: 'An hour later',
    inputs: ['smooth'],
    parameters: { function: 'ShiftByTime', shift: 'PT1H', direction: 'forward' },
  },
  HoldLastValue: {
    title: 'The last value, each quarter of an hour',
    inputs: ['seldom'],
    parameters: { function: 'HoldLastValue', interval: 'QuarterHourly' },
  },
  Resample: {
    title: 'Values on straight lines, each quarter of an hour',
    inputs: ['jitter'],
    parameters: { function: 'Resample', frequency: 'PT15M', method: 'linear' },
  },
  Min: { title: 'The lesser of two series', inputs: ['smooth', 'outside'], parameters: { align: 'linear' } },
  Max: { title: 'The greater of two series', inputs: ['smooth', 'outside'], parameters: { align: 'linear' } },
  Pow: { title: 'The square of each value', inputs: ['aroundZero'], parameters: { scalar: 2 } },
  Mod: { title: 'An angle within a full turn', inputs: ['angle'], parameters: { scalar: 360 } },
  Sqrt: { title: 'The square root of each value', inputs: ['positive'], parameters: {} },
  Exp: { title: 'e to the power of each value', inputs: ['exponent'], parameters: {} },
  Log: { title: 'The natural logarithm of each value', inputs: ['positive'], parameters: {} },
  Sign: { title: '−1, 0 or 1, as the value is', inputs: ['aroundZero'], parameters: {} },
  Floor: { title: 'Down to the whole number', inputs: ['smooth'], parameters: {} },
  Ceil: { title: 'Up to the whole number', inputs: ['smooth'], parameters: {} },
  Scale: { title: 'From degrees Celsius to Fahrenheit', inputs: ['smooth'], parameters: { from: 'degC', to: 'degF' } },
  Clamp: { title: 'Kept between 17 and 25', inputs: ['spikes'], parameters: { lower: 17, upper: 25 } },
  Select: {
    title: 'The first series while the second is 1, otherwise 20',
    inputs: ['smooth', 'switched'],
    parameters: { else: 20 },
  },
  Coalesce: {
    title: 'The first series, and where it has a gap the second',
    inputs: ['gaps', 'cooler'],
    parameters: {},
  },
  Difference: { title: 'How much each value is above the one before', inputs: ['smooth'], parameters: {} },
  Derivative: { title: 'The change per hour', inputs: ['smooth'], parameters: { unit: 'PT1H' } },
  CumulativeSum: {
    title: 'The sum so far, anew each hour',
    inputs: ['electricity'],
    parameters: { interval: 'Hourly' },
  },
  Counter: { title: 'Consumption from a meter that rolls over at 1000', inputs: ['meter'], parameters: { max: 1000 } },
  MovingAverage: {
    title: 'The average of the last hour, at each sample',
    inputs: ['temperature'],
    parameters: { window: 'PT1H' },
  },
  ExponentialAverage: {
    title: 'An average in which weights halve every half hour',
    inputs: ['temperature'],
    parameters: { halflife: 'PT30M' },
  },
  Hysteresis: {
    title: 'On from 22, off again at 20',
    inputs: ['temperature'],
    parameters: { on: 22, off: 20 },
  },
  Delay: {
    title: 'On only after half an hour without a break',
    inputs: ['shorts'],
    parameters: { on: 'PT30M' },
  },
  Edge: { title: '1 where the input turns to 1', inputs: ['switched'], parameters: {} },
  StuckValue: {
    title: '1 where the value has not changed for an hour',
    inputs: ['stuck'],
    parameters: { duration: 'PT1H' },
  },
  Hampel: {
    title: 'Outliers become the median of their neighbours',
    inputs: ['spikes'],
    parameters: { samples: 3 },
  },
  Deadband: {
    title: 'Samples that differ by more than a degree from the last one kept',
    inputs: ['temperature'],
    parameters: { tolerance: 1 },
  },
  SwingingDoor: {
    title: 'Few samples, with lines between them that miss no other by more than half a degree',
    inputs: ['temperature'],
    parameters: { tolerance: 0.5 },
  },
  Downsample: {
    title: 'The least and the greatest sample of each hour',
    inputs: ['temperature'],
    parameters: { interval: 'Hourly', method: 'minmax' },
  },
  Schedule: {
    title: '1 from 08:00 to 10:30, otherwise 0',
    inputs: ['temperature'],
    parameters: { hours: [{ start: '08:00', end: '10:30' }] },
  },
  Fill: {
    title: 'Gaps filled along straight lines',
    inputs: ['gaps'],
    parameters: { frequency: 'PT10M', method: 'linear' },
    isBelow: true,
  },
  Gaps: {
    title: 'How long each gap of more than half an hour is, in minutes',
    inputs: ['gaps'],
    parameters: { gap: 'PT30M', unit: 'PT1M' },
    gapMinutes: 15,
  },
};
