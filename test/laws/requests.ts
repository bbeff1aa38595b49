import fc from 'fast-check';
import { longestMs, parseInterval } from '../../src/core/interval.js';
import { aggregateFunctionNames, timeWeightedNames } from '../../src/operations/aggregate/parameters.js';
import { extensionArbitrary } from './extension-requests.js';
import { onceAScale, type Scale, zoneNames } from './samples.js';

/** Random requests: steps that read sources and each other, spread over items and written in any order. */

type Json = Readonly<Record<string, unknown>>;

/** A step whose inputs are not named yet. `first` and `second` choose among the series known by then. */
export interface Recipe {
  readonly operation: string;
  readonly inputCount: 1 | 2 | 3;
  readonly first: number;
  readonly second: number;
  readonly parameters: Json;
  /** The item it is written into, and whether its window is left to be taken from a step before it. */
  readonly item: number;
  readonly isWindowFound: boolean;
  readonly isByAlias: boolean;
}

type Kind = Pick<Recipe, 'operation' | 'inputCount' | 'parameters'>;

const zone = fc.constantFrom(...zoneNames);
const scalar = fc
  .oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom(0.1, 1e308, 5e-324, 1.005, -273.15))
  .map((x) => x + 0);
const optionally = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

function one(operation: string, parameters: fc.Arbitrary<Json>): fc.Arbitrary<Kind> {
  return parameters.map((given) => ({ operation, inputCount: 1 as const, parameters: present(given) }));
}

/** Drops the fields that are undefined. */
function present(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * An interval with a zone that it tiles. Without a zone that of the run holds, so the interval must tile every zone.
 */
function windowArbitrary(scale: Scale, isCalendarTaken: boolean): fc.Arbitrary<Json> {
  const isTaken = (text: string): boolean => isCalendarTaken || !/ly$|P1[MY]$/.test(text) || /Hourly|Daily/.test(text);
  const zoned = fc.constantFrom(...scale.zonedIntervals.filter(isTaken));
  return fc.oneof(
    fc.record({ interval: fc.constantFrom(...scale.intervals.filter(isTaken)), timezone: fc.constant('UTC') }),
    fc.record({ interval: zoned, timezone: zone }),
    fc.record({ interval: zoned }),
  );
}

const label = optionally(fc.constantFrom('start', 'end'));
const closed = optionally(fc.constantFrom('left', 'right'));
const empty = optionally(fc.constantFrom('omit', 'zero', 'hold'));
const functionName = fc.constantFrom(...aggregateFunctionNames);
const percentile = fc.oneof(
  fc.constantFrom(0, 100, 50, 37.5),
  fc.double({ min: 0, max: 100, noNaN: true }).map((x) => x + 0),
);

function stageOf(name: string, interval: string, percent: number, hold: string | undefined, fill?: string): Json {
  const maxhold = name === 'Coverage' ? (hold ?? 'PT1H') : hold;
  const isWeighted = timeWeightedNames.includes(name);
  const isState = name === 'TimeInState' || name === 'Transitions';
  // Some cases have `maxgap`, some `method: linear`, some both.
  const isLinear = (name === 'Integral' || name === 'TimeWeightedAverage') && percent > 60;
  const isGapped = isWeighted && percent % 2 >= 1;
  return present({
    method: isLinear ? 'linear' : undefined,
    maxgap: isGapped ? (hold ?? 'PT30M') : undefined,
    lower: isState ? percent - 50 : undefined,
    upper: isState && percent > 50 ? percent : undefined,
    max: (name === 'Increase' || name === 'Rate') && percent > 0 && percent < 50 ? percent : undefined,
    unit: ['Integral', 'TimeInState', 'Rate', 'Slope'].includes(name) && percent < 50 ? 'PT7M' : undefined,
    function: name === 'WeightedAverage' && interval !== 'QuarterHourly' ? 'TimeWeightedAverage' : name,
    interval,
    percentile: name === 'Percentile' ? percent : undefined,
    maxhold: isWeighted && !isLinear && (!isGapped || percent > 30) ? maxhold : undefined,
    empty: fill,
  });
}

const aggregateKind = onceAScale((scale): fc.Arbitrary<Kind> => {
  const maxhold = optionally(fc.constantFrom(...scale.durations));
  const parts = fc.tuple(functionName, windowArbitrary(scale, true), percentile, maxhold, empty, label, closed);
  return one(
    'Aggregate',
    parts.map(([name, window, percent, hold, fill, stamp, border]) => ({
      ...window,
      ...stageOf(name, String(window.interval), percent, hold, fill),
      label: stamp,
      closed: border,
    })),
  );
});

/** With more windows at one instant, most scenes exceed their limit of results, and take half of the time to do so. */
const OVERLAPS_MAX = 1000;

function isOftenEnough(size: string, every: string): boolean {
  return longestMs(parseInterval(size)!) <= OVERLAPS_MAX * longestMs(parseInterval(every)!);
}

/** Windows other than intervals, for every function. */
function otherWindowKind(scale: Scale, startMs: number): fc.Arbitrary<Kind> {
  const maxhold = optionally(fc.constantFrom(...scale.durations));
  const lengths = scale.durations.filter((text) => text !== 'PT0S');
  const sizeTexts = [...lengths, ...scale.intervals.filter((text) => !/Monthly|Yearly|P1[MY]$/.test(text))];
  const sizes = fc.constantFrom(...sizeTexts);
  const daysAlone = ['Daily', 'P3D', 'Weekly', 'Monthly', 'Yearly'];
  const instant = fc
    .integer({ min: -3, max: 20 })
    .map((steps) => Math.min(Math.max(startMs + steps * scale.stepMs, -62_135_596_800_000), 253_402_300_799_999))
    .map((timeMs) => new Date(timeMs).toISOString());
  const atBorders = windowArbitrary(scale, true).chain(({ interval: every, timezone }) => {
    const isDays = /^(Daily|P\d+D|P1W|PT24H|Weekly|Monthly|Yearly|P1[MY])$/.test(String(every));
    const known = sizeTexts.filter((size) => isOftenEnough(size, String(every)));
    const own = isDays ? fc.oneof(fc.constantFrom(...known), fc.constantFrom(...daysAlone)) : fc.constantFrom(...known);
    return own.map((size) => ({ window: { type: 'sliding', size, every }, timezone }));
  });
  const others = fc.oneof(
    { weight: 3, arbitrary: atBorders },
    sizes.map((size) => ({ window: { type: 'sliding', size } })),
    fc.constantFrom(...scale.durations).map((gap) => ({ window: { type: 'session', gap } })),
    fc.constantFrom(...scale.zonedIntervals).map((since) => ({ window: { type: 'running', since } })),
    instant.map((since) => ({ window: { type: 'running', since } })),
  );
  const names = functionName.filter((name) => name !== 'WeightedAverage');
  const parts = fc.tuple(names, others, percentile, maxhold, empty, label, closed);
  return one(
    'Aggregate',
    parts.map(([name, other, percent, hold, fill, stamp, border]) => {
      const { interval: _interval, ...stage } = stageOf(
        name,
        '',
        percent,
        hold,
        'every' in other.window ? fill : undefined,
      );
      return { ...other, ...stage, label: stamp, closed: border };
    }),
  );
}

/** A function of two inputs over windows of any kind. */
function pairKind(scale: Scale, startMs: number): fc.Arbitrary<Kind> {
  const names = fc.constantFrom('Covariance', 'Correlation');
  const align = optionally(fc.constantFrom('inner', 'hold', 'linear', 'asof'));
  const age = optionally(fc.constantFrom(...scale.durations));
  const windows = fc.oneof(
    windowArbitrary(scale, true),
    otherWindowKind(scale, startMs).map(({ parameters: { window, timezone } }) => ({ window, timezone })),
  );
  return fc.tuple(names, align, age, windows, label, closed).map(([name, mode, hold, own, stamp, border]) => {
    const maxhold = mode === 'hold' || mode === 'asof' ? hold : undefined;
    const maxgap = mode === 'linear' ? hold : undefined;
    const given = { ...own, function: name, align: mode, maxhold, maxgap, label: stamp, closed: border };
    return { operation: 'Aggregate', inputCount: 2, parameters: present(given) };
  });
}

const chains: readonly (readonly string[])[] = [
  ['PT5M', 'QuarterHourly', 'HalfHourly', 'Hourly', 'PT6H', 'Daily', 'Monthly', 'Yearly'],
  ['PT10M', 'Hourly', 'PT12H', 'PT24H', 'Weekly', 'Weekly'],
];

const pipelineKind = onceAScale((scale): fc.Arbitrary<Kind> => {
  const intervals = fc
    .constantFrom(...chains)
    .map((chain) => (scale.stepMs >= 3_600_000 ? chain.filter((text) => !/M$|Half|Quarter/.test(text)) : chain))
    .chain((chain) => fc.subarray([...chain], { minLength: 1, maxLength: 3 }));
  const stage = fc.tuple(functionName, percentile, optionally(fc.constantFrom(...scale.durations)), empty);
  const zones = optionally(fc.oneof(zone, fc.constant('UTC')));
  return one(
    'Aggregate Pipeline',
    fc
      .tuple(intervals, fc.array(stage, { minLength: 3, maxLength: 3 }), zones, label, closed)
      .map(([chain, stages, timezone, stamp, border]) => ({
        pipeline: chain.map((interval, at) => {
          const [name, percent, hold, fill] = stages[at]!;
          return stageOf(name, interval, percent, hold, fill);
        }),
        timezone,
        label: stamp,
        closed: border,
      })),
  );
});

const binaryKind = onceAScale((scale): fc.Arbitrary<Kind> => {
  const names = ['Add', 'Sub', 'Mul', 'Div', 'Eq', 'Ne', 'Lte', 'Lt', 'Gt', 'Gte', 'And', 'Or'];
  const align = optionally(fc.constantFrom('inner', 'hold', 'linear', 'asof'));
  const maxhold = optionally(fc.constantFrom(...scale.durations));
  const tolerance = optionally(fc.constantFrom(0, 0.25, 1, 1e16, 1e300));
  return fc
    .tuple(fc.constantFrom(...names), optionally(scalar), align, maxhold, tolerance)
    .map(([operation, operand, mode, hold, near]): Kind => {
      const isLogic = operation === 'And' || operation === 'Or';
      const isScalar = operand !== undefined && !isLogic;
      const isHeld = mode === 'hold' || mode === 'asof';
      const parameters = present({
        scalar: isScalar ? operand : undefined,
        align: isScalar ? undefined : mode,
        maxhold: !isScalar && isHeld ? hold : undefined,
        maxgap: !isScalar && mode === 'linear' ? hold : undefined,
        tolerance: operation === 'Eq' || operation === 'Ne' ? near : undefined,
      });
      return { operation, inputCount: isScalar ? 1 : 2, parameters };
    });
});

function rangesKind(startMs: number, scale: Scale): fc.Arbitrary<Kind> {
  const bound = fc.integer({ min: -20, max: 20 }).map((x) => x / 2 + 0);
  const values = fc
    .tuple(bound, fc.nat(10), fc.nat(2))
    .map(([lower, width, open]) =>
      present({ lower: open === 1 ? undefined : lower, upper: open === 2 ? undefined : lower + width }),
    );
  const earliestMs = Math.max(startMs, -62_135_596_800_000 + 86_400_000);
  const times = fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 9 }), fc.nat(2)).map(([from, length, open]) => {
    const text = (steps: number): string => {
      return new Date(Math.min(earliestMs + steps * scale.stepMs, 253_402_300_799_999)).toISOString();
    };
    const [starttime, endtime] = [text(from), text(from + length)];
    if (starttime >= endtime) return { starttime };
    return present({ starttime: open === 1 ? undefined : starttime, endtime: open === 2 ? undefined : endtime });
  });
  const lists = fc.tuple(fc.array(values, { maxLength: 3 }), fc.array(times, { maxLength: 2 }));
  return fc.constantFrom('Mask', 'Where').chain((operation) =>
    one(
      operation,
      lists.map(([valuerangelist, timerangelist]) => ({
        valuerangelist: valuerangelist.length + timerangelist.length === 0 ? [{ lower: 0 }] : valuerangelist,
        timerangelist: timerangelist.length === 0 ? undefined : timerangelist,
      })),
    ),
  );
}

const shiftKind = onceAScale((scale): fc.Arbitrary<Kind> => {
  const direction = fc.constantFrom('forward', 'backward');
  const byTime = fc.record({
    function: fc.constant('ShiftByTime'),
    shift: fc.constantFrom(...scale.durations, 'PT0.1S'),
    direction,
  });
  const byWindow = fc
    .tuple(windowArbitrary(scale, true), fc.integer({ min: 0, max: 4 }), direction)
    .map(([{ interval: window, timezone }, shift, to]) =>
      present({ function: 'ShiftByWindow', shift, direction: to, window, timezone }),
    );
  return one('Shift', fc.oneof(byTime, byWindow));
});

const gridKind = onceAScale((scale): fc.Arbitrary<Kind> => {
  const age = optionally(fc.constantFrom(...scale.durations));
  const hold = fc.tuple(windowArbitrary(scale, false), age).map(([window, maxhold]) => ({ ...window, maxhold }));
  const frequencies = scale.intervals.filter((text) => text.startsWith('P') && !/^P1[MY]$/.test(text));
  const sampled = fc.record({
    frequency: fc.constantFrom(...frequencies),
    method: optionally(fc.constantFrom('step', 'linear')),
    maxgap: age,
  });
  return fc.oneof(one('HoldLastValue', hold), one('Resample', sampled));
});

function plainKind(): fc.Arbitrary<Kind> {
  const digits = fc.integer({ min: -15, max: 15 }).map((x) => x + 0);
  const mode = optionally(fc.constantFrom('halfaway', 'halfeven'));
  const cleanse = fc
    .tuple(fc.constantFrom('BoundsLimitCleanse', 'BoundsLimitAnomaly'), fc.integer({ min: -9, max: 9 }), fc.nat(9))
    .map(([name, lower, width]) => ({ function: name, lowerbound: lower + 0, upperbound: lower + width }));
  return fc.oneof(
    one('Not', fc.constant({})),
    one('Abs', fc.constant({})),
    one('Round', fc.record({ roundtodigits: fc.oneof(digits, fc.integer({ min: 0, max: 3 })), mode })),
    one('Cleanse', cleanse),
  );
}

const plainKinds = plainKind();

/** Any step with any parameters. */
function kindArbitrary(scale: Scale, startMs: number): fc.Arbitrary<Kind> {
  return fc.oneof(
    { weight: 5, arbitrary: aggregateKind(scale) },
    { weight: 5, arbitrary: otherWindowKind(scale, startMs) },
    { weight: 2, arbitrary: pairKind(scale, startMs) },
    { weight: 2, arbitrary: pipelineKind(scale) },
    { weight: 5, arbitrary: binaryKind(scale) },
    { weight: 1, arbitrary: rangesKind(startMs, scale) },
    { weight: 2, arbitrary: shiftKind(scale) },
    { weight: 3, arbitrary: gridKind(scale) },
    { weight: 2, arbitrary: plainKinds },
    { weight: 10, arbitrary: extensionArbitrary(scale, startMs) },
  );
}

export function recipeArbitrary(scale: Scale, startMs: number): fc.Arbitrary<Recipe> {
  const places = fc.tuple(fc.nat(9), fc.nat(9), fc.nat(2), fc.boolean(), fc.boolean());
  return fc
    .tuple(kindArbitrary(scale, startMs), places)
    .map(([kind, [first, second, item, isWindowFound, isByAlias]]) => ({
      ...kind,
      first,
      second,
      item,
      isWindowFound,
      isByAlias,
    }));
}

interface Known {
  readonly timeseriesId: string;
  readonly metric: string;
  readonly hasWindow: boolean;
}

const WINDOWED = ['Aggregate', 'Aggregate Pipeline', 'HoldLastValue', 'Resample'];

function makesWindows({ operation, parameters }: Recipe): boolean {
  const { window } = parameters;
  if (operation !== 'Aggregate' || window === undefined) return WINDOWED.includes(operation);
  return Object(window).every !== undefined;
}

/** The items that recipes give over sources `s0`, `s1` …; a step reads series that come before it. */
export function buildRequest(recipes: readonly Recipe[], sourceCount: number, frequency?: string): Json[] {
  const known: Known[] = Array.from({ length: sourceCount }, (_, k) => {
    return { timeseriesId: `s${k}`, metric: 'Raw', hasWindow: false };
  });
  const itemOf = recipes.map(({ item }) => item);
  const items = new Map<number, Json[]>();
  for (const [index, recipe] of recipes.entries()) {
    const pick = (choice: number): Known => known[known.length - 1 - (choice % known.length)]!;
    const picks = [recipe.first, recipe.second, recipe.first + recipe.second];
    const inputs = picks.slice(0, recipe.inputCount).map(pick);
    const hasWindowAbove = inputs.some((input) => input.hasWindow);
    const { window: _window, timezone: _timezone, ...windowless } = recipe.parameters;
    const isFound = recipe.operation === 'Shift' && recipe.isWindowFound && hasWindowAbove;
    const timeseriesId = `t${index}`;
    items.set(recipe.item, [
      ...(items.get(recipe.item) ?? []),
      {
        operation: recipe.operation,
        input: inputs.map((input) => ({ timeseriesId: input.timeseriesId, metric: input.metric })),
        output: [{ timeseriesId, metric: 'Step' }],
        parameters: isFound ? windowless : recipe.parameters,
      },
    ]);
    const isLast = itemOf.lastIndexOf(recipe.item) === index;
    const metric = isLast && recipe.isByAlias ? 'Result' : 'Step';
    known.push({ timeseriesId, metric, hasWindow: hasWindowAbove || makesWindows(recipe) });
  }
  return [...items.values()].map((steps, index) => ({
    metric: 'Result',
    processingType: 'batch',
    ...(frequency === undefined || index > 0 ? {} : { frequency }),
    operations: [...steps.slice(0, -1).reverse(), ...steps.slice(-1)],
  }));
}
