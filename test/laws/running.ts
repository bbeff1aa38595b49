import fc from 'fast-check';
import { expect } from 'vitest';
import {
  type createPlan,
  OutputLimitError,
  openStream,
  type Report,
  type Run,
  type RunOptions,
  restoreStream,
  runBatch,
  type Series,
  type Stream,
  type StreamOptions,
} from '../../src/index.js';
import type { Engine } from '../../src/inspect/feeding.js';
import { joinParts } from '../conformance/conformance.js';
import { buildRequest, type Recipe, recipeArbitrary } from './requests.js';
import {
  onceAScale,
  type Samples,
  type Scale,
  samplesArbitrary,
  scales,
  startArbitrary,
  toSeries,
  valueArbitrary,
  zoneNames,
} from './samples.js';

type Plan = ReturnType<typeof createPlan>;

/** A request with its inputs in time order and the options of a run. */
export interface Scene {
  readonly request: readonly unknown[];
  readonly samples: readonly Samples[];
  readonly options: RunOptions;
}

const SOURCE_COUNT = 3;

const finer = onceAScale((scale): Scale => ({ ...scale, stepMs: scale.stepMs / 10 }));

/** Larger results are tested in `test/engine/limits.test.ts`. */
const OUTPUT_LIMIT = 4000;

export function sceneArbitrary(
  stepCountMax: number,
  value: fc.Arbitrary<number> = valueArbitrary,
): fc.Arbitrary<Scene> {
  return fc
    .constantFrom(...scales)
    .chain((scale) => fc.tuple(fc.constant(scale), startArbitrary(scale)))
    .chain(([scale, startMs]) => {
      const short = samplesArbitrary(scale, startMs, value);
      // Long enough for the loops that kernels run over many samples.
      const long = samplesArbitrary(finer(scale), startMs, value, 300);
      const series = fc.oneof({ weight: 9, arbitrary: short }, { weight: 1, arbitrary: long });
      return fc
        .record({
          recipes: fc.array(recipeArbitrary(scale, startMs), { minLength: 1, maxLength: stepCountMax, size: 'max' }),
          samples: fc.tuple(series, series, series),
          frequency: fc.constantFrom(undefined, undefined, 'PT15M', 'PT1H', 'PT24H'),
          timezone: fc.oneof(fc.constant(undefined), fc.constantFrom(...zoneNames)),
          from: fc.option(fc.nat(10), { nil: undefined, freq: 4 }),
          until: fc.option(fc.integer({ min: 11, max: 60 }), { nil: undefined, freq: 1 }),
        })
        .map((drawn) => toScene(drawn, startMs, scale.stepMs));
    });
}

interface Drawn {
  readonly recipes: readonly Recipe[];
  readonly samples: readonly Samples[];
  readonly frequency: string | undefined;
  readonly timezone: string | undefined;
  readonly from: number | undefined;
  readonly until: number | undefined;
}

function toScene(
  { recipes, samples, frequency, timezone, from, until }: Drawn,
  startMs: number,
  stepMs: number,
): Scene {
  const at = (steps: number): number => Math.min(startMs + steps * stepMs, 253_402_300_800_000);
  const isPossible = from === undefined || until === undefined || at(from) < at(until);
  return {
    request: buildRequest(recipes, SOURCE_COUNT, frequency),
    samples,
    options: {
      maxOutputSamples: OUTPUT_LIMIT,
      ...(timezone === undefined ? {} : { timezone }),
      ...(from === undefined || !isPossible ? {} : { from: at(from) }),
      ...(until === undefined ? {} : { until: at(until) }),
    },
  };
}

export function seriesOf(samples: readonly Samples[]): Series[] {
  return samples.map((own, k) => toSeries(`s${k}`, own));
}

/** The run, or undefined if a step would exceed the scene's limit. */
export function runWithin(plan: Plan, inputs: readonly Series[], options: RunOptions): Run | undefined {
  try {
    return runBatch(plan, inputs, options);
  } catch (error) {
    if (error instanceof OutputLimitError) return undefined;
    throw error;
  }
}

/** Feeds a stream: a push of `count` samples, then `after`. */
export interface Turn {
  readonly count: number;
  readonly after: 'nothing' | 'advance' | 'restore' | 'advance and restore';
}

export interface Feeding {
  readonly turns: readonly Turn[];
  /** The order in which sources are pushed: merged by time, one sample each in turn, or one source after another. */
  readonly mixing: 'by time' | 'in turn' | 'one after another';
}

export const feedingArbitrary: fc.Arbitrary<Feeding> = fc.record({
  turns: fc.array(
    fc.record({
      count: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 60 })),
      after: fc.constantFrom(
        'nothing' as const,
        'advance' as const,
        'restore' as const,
        'advance and restore' as const,
      ),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  mixing: fc.constantFrom('by time' as const, 'in turn' as const, 'one after another' as const),
});

interface Place {
  readonly series: number;
  readonly at: number;
}

function placesOf(inputs: readonly Series[], mixing: Feeding['mixing']): Place[] {
  const places = inputs.flatMap(({ timeMs }, series) => [...timeMs.keys()].map((at) => ({ series, at })));
  if (mixing === 'one after another') return places;
  if (mixing === 'in turn') return places.sort((a, b) => a.at - b.at || a.series - b.series);
  // The greatest time so far. Merging by it keeps the order of arrival within each source.
  const reached = inputs.map(({ timeMs }) => {
    let greatest = Number.NEGATIVE_INFINITY;
    return [...timeMs].map((t) => {
      greatest = Math.max(greatest, t);
      return greatest;
    });
  });
  const key = ({ series, at }: Place): number => reached[series]![at]!;
  return places.sort((a, b) => key(a) - key(b) || a.series - b.series || a.at - b.at);
}

function pick(inputs: readonly Series[], places: readonly Place[]): Series[] {
  const parts = inputs.map((input, series) => {
    const own = places.filter((place) => place.series === series);
    const timeMs = Float64Array.from(own, ({ at }) => input.timeMs[at]!);
    return { ...input, timeMs, value: Float64Array.from(own, ({ at }) => input.value[at]!) };
  });
  return parts.filter(({ timeMs }) => timeMs.length > 0);
}

/**
 * A stream over all inputs, fed as given. Each checkpoint is restored into a new stream, which replaces the old one.
 */
export function runFed(
  plan: Plan,
  inputs: readonly Series[],
  options: StreamOptions,
  feeding: Feeding,
  by: Pick<Engine, 'openStream' | 'restoreStream'> = { openStream, restoreStream },
): Pick<Run, 'series' | 'report'> {
  const places = placesOf(inputs, feeding.mixing);
  const earliestFrom = earliestToCome(inputs, places);
  const parts: Series[] = [];
  let stream: Stream = by.openStream(plan, options);
  for (let from = 0, turn = 0; from < places.length; turn++) {
    const { count, after } = feeding.turns[turn % feeding.turns.length]!;
    parts.push(...stream.push(pick(inputs, places.slice(from, from + count))));
    if (stream.late.length > 0) throw new Error('a sample within the allowed lateness came out late');
    from += count;
    const nextMs = earliestFrom[from];
    if (after.startsWith('advance') && nextMs !== undefined) parts.push(...stream.advance(nextMs));
    if (after.endsWith('restore')) stream = by.restoreStream(plan, stream.checkpoint(), options);
  }
  const { series, report } = stream.close();
  return {
    series: series.map(({ timeseriesId, metric }) => joinParts({ timeseriesId, metric }, [...parts, ...series])),
    report,
  };
}

function earliestToCome(inputs: readonly Series[], places: readonly Place[]): number[] {
  const earliest: number[] = new Array(places.length);
  let least = Number.POSITIVE_INFINITY;
  for (let i = places.length - 1; i >= 0; i--) {
    const { series, at } = places[i]!;
    least = Math.min(least, inputs[series]!.timeMs[at]!);
    earliest[i] = least;
  }
  return earliest;
}

type NamedColumns = Pick<Series, 'timeseriesId' | 'metric' | 'timeMs' | 'value'>;

/** Series as lines of text, -0 distinct from 0, so that whole results compare with a readable difference. */
export function linesOf(series: readonly NamedColumns[]): string[] {
  return series.flatMap(({ timeseriesId, metric, timeMs, value }) => [
    `${timeseriesId}/${metric}: ${timeMs.length}`,
    ...[...timeMs].map((t, i) => `${t} ${Object.is(value[i], -0) ? '-0' : value[i]}`),
  ]);
}

/** Fails unless both have the same bits. Writes them out only if they differ. */
export function expectSame(found: readonly NamedColumns[], expected: readonly NamedColumns[]): void {
  if (!hasSameBits(found, expected)) expect(linesOf(found)).toEqual(linesOf(expected));
}

function hasSameBits(a: readonly NamedColumns[], b: readonly NamedColumns[]): boolean {
  const bytes = ({ buffer, byteOffset, byteLength }: Float64Array): Buffer =>
    Buffer.from(buffer, byteOffset, byteLength);
  return (
    a.length === b.length &&
    a.every(({ timeseriesId, metric, timeMs, value }, i) => {
      const other = b[i]!;
      return (
        timeseriesId === other.timeseriesId &&
        metric === other.metric &&
        bytes(timeMs).equals(bytes(other.timeMs)) &&
        bytes(value).equals(bytes(other.value))
      );
    })
  );
}

/** A report without the field that is not a count. */
export function countsOf({ sources, steps, unused }: Report): Omit<Report, 'durationMs'> {
  return { sources, steps, unused };
}
