import fc from 'fast-check';
import { oracleUnits } from '../oracle/each-value.js';
import { onceAScale, type Scale, zoneNames } from './samples.js';

/** Random steps of the operations that the interface does not have. */

export interface ExtensionKind {
  readonly operation: string;
  readonly inputCount: 1 | 2 | 3;
  readonly parameters: Readonly<Record<string, unknown>>;
}

type Drawn = fc.Arbitrary<Readonly<Record<string, unknown>>>;

const optionally = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

function kind(operation: string, parameters: Drawn, inputCount: 1 | 2 | 3 = 1): fc.Arbitrary<ExtensionKind> {
  return parameters.map((given) => {
    const present = Object.entries(given).filter(([, value]) => value !== undefined);
    return { operation, inputCount, parameters: Object.fromEntries(present) };
  });
}

const plain = fc.constant({});
const small = fc.oneof(
  fc.integer({ min: -8, max: 8 }).map((x) => x / 2 + 0),
  fc.constantFrom(0.1, 1e308, 5e-324, -273.15, 1 / 3),
);

function valueKind(): fc.Arbitrary<ExtensionKind> {
  const base = optionally(fc.constantFrom(2, 10, 0.5, 1.0000000001));
  const line = fc
    .tuple(small, small, small, small)
    .filter(([x0, , x1]) => x0 !== x1)
    .map(([x0, y0, x1, y1]) => ({
      points: [
        { x: x0, y: y0 },
        { x: x1, y: y1 },
      ],
    }));
  const units = fc
    .constantFrom(...oracleUnits)
    .chain((names) => fc.record({ from: fc.constantFrom(...names), to: fc.constantFrom(...names) }));
  const bounds = fc.tuple(small, fc.nat(9), fc.nat(2)).map(([lower, width, open]) => ({
    lower: open === 1 ? undefined : lower,
    upper: open === 2 ? undefined : lower + width,
  }));
  return fc.oneof(
    kind('Sqrt', plain),
    kind('Exp', plain),
    kind('Log', fc.record({ base })),
    kind('Sign', plain),
    kind('Floor', plain),
    kind('Ceil', plain),
    kind('Scale', fc.oneof(fc.record({ slope: small, offset: optionally(small) }), line, units)),
    kind('Clamp', bounds),
  );
}

const valueKinds = valueKind();

const joinKind = onceAScale(({ durations }): fc.Arbitrary<ExtensionKind> => {
  const align = fc.constantFrom(undefined, 'inner', 'hold', 'asof');
  const together = fc
    .tuple(align, optionally(fc.constantFrom(...durations)))
    .map(([mode, hold]) => ({ align: mode, maxhold: mode === 'hold' || mode === 'asof' ? hold : undefined }));
  const withElse = fc.tuple(together, optionally(small)).map(([given, other]) => ({ ...given, else: other }));
  const names = fc.constantFrom('Min', 'Max', 'Pow', 'Mod');
  return fc.oneof(
    names.chain((name) => kind(name, fc.record({ scalar: small }))),
    names.chain((name) => kind(name, together, 2)),
    fc.constantFrom('Min', 'Max').chain((name) => kind(name, together, 3)),
    kind('Select', withElse, 2),
    kind('Select', together, 3),
    kind('Coalesce', fc.record({ maxhold: optionally(fc.constantFrom(...durations)) }), 2),
    kind('Coalesce', fc.record({ maxhold: optionally(fc.constantFrom(...durations)) }), 3),
  );
});

const memoryKind = onceAScale(({ durations, intervals, zonedIntervals }): fc.Arbitrary<ExtensionKind> => {
  const length = fc.constantFrom(...durations);
  const positive = fc.constantFrom(...durations.filter((text) => text !== 'PT0S'));
  const tolerance = fc.constantFrom(0, 0.25, 2, 1e9);
  const bounds = fc.tuple(small, small).filter(([on, off]) => on !== off);
  const windows = fc.oneof(
    fc.record({ interval: fc.constantFrom(...intervals), timezone: fc.constant('UTC') }),
    fc.record({ interval: fc.constantFrom(...zonedIntervals), timezone: optionally(fc.constantFrom(...zoneNames)) }),
  );
  const method = optionally(fc.constantFrom('lttb', 'minmax'));
  return fc.oneof(
    kind('Difference', fc.record({ maxgap: optionally(length) })),
    kind('Derivative', fc.record({ unit: optionally(positive), maxgap: optionally(length) })),
    kind('Counter', fc.record({ max: optionally(fc.constantFrom(0.5, 10, 1e4)) })),
    kind('CumulativeSum', fc.oneof(plain, windows)),
    kind('MovingAverage', fc.record({ window: positive })),
    kind('ExponentialAverage', fc.record({ halflife: positive })),
    kind(
      'Hysteresis',
      bounds.map(([on, off]) => ({ on, off })),
    ),
    kind('Delay', fc.record({ on: optionally(length), off: optionally(length) })),
    kind('Edge', fc.record({ direction: optionally(fc.constantFrom('rising', 'falling', 'both')) })),
    kind('StuckValue', fc.record({ duration: length, tolerance: optionally(tolerance) })),
    kind(
      'Hampel',
      fc.record({
        samples: optionally(fc.constantFrom(1, 2, 7, 100)),
        threshold: optionally(fc.constantFrom(0, 0.5, 3)),
        action: optionally(fc.constantFrom('replace', 'remove', 'flag')),
      }),
    ),
    kind('Deadband', fc.record({ tolerance })),
    kind('SwingingDoor', fc.record({ tolerance })),
    kind(
      'Downsample',
      windows.chain((own) => method.map((name) => ({ ...own, method: name }))),
    ),
  );
});

function timesKind({ durations }: Scale, startMs: number): fc.Arbitrary<ExtensionKind> {
  const length = fc.constantFrom(...durations);
  const positive = fc.constantFrom(...durations.filter((text) => text !== 'PT0S'));
  const dateAt = (days: number): string => {
    const timeMs = Math.min(Math.max(startMs + days * 86_400_000, -62_135_596_800_000), 253_402_300_799_999);
    return new Date(timeMs).toISOString().slice(0, 10);
  };
  const clock = fc.constantFrom('00:00', '01:30', '02:00', '02:30', '03:00:01', '08:00', '12:15', '18:00', '23:59:59');
  const hours = fc.record({ start: clock, end: fc.oneof(clock, fc.constant('24:00')) });
  const ranges = fc
    .tuple(fc.nat(9), fc.nat(9))
    .map(([from, span]) => ({ first: dateAt(from), last: dateAt(from + span) }));
  const calendar = fc.record({
    days: optionally(fc.subarray(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'], { minLength: 1 })),
    hours: fc.array(hours, { minLength: 1, maxLength: 2 }),
    holidays: optionally(fc.array(fc.nat(9).map(dateAt), { minLength: 1, maxLength: 2 })),
    ranges: optionally(fc.array(ranges, { minLength: 1, maxLength: 2 })),
    timezone: optionally(fc.constantFrom(...zoneNames, 'UTC')),
  });
  const filled = fc.record({ frequency: positive, maxgap: optionally(length) });
  const method = fc.constantFrom('previous', 'linear', undefined);
  return fc.oneof(
    kind('Schedule', calendar),
    kind(
      'Fill',
      filled.chain((own) => method.map((name) => ({ ...own, method: name }))),
    ),
    kind(
      'Fill',
      filled.chain((own) => small.map((value) => ({ ...own, method: 'constant', value }))),
    ),
    kind(
      'Fill',
      filled.map((own) => ({ ...own, method: 'series' })),
      2,
    ),
    kind('Gaps', fc.record({ gap: length, unit: optionally(positive) })),
  );
}

/** Any step of an extension. */
export function extensionArbitrary(scale: Scale, startMs: number): fc.Arbitrary<ExtensionKind> {
  return fc.oneof(
    { weight: 2, arbitrary: valueKinds },
    { weight: 2, arbitrary: joinKind(scale) },
    { weight: 5, arbitrary: memoryKind(scale) },
    { weight: 2, arbitrary: timesKind(scale, startMs) },
  );
}
