import fc from 'fast-check';
import { createPlan, type Run, type RunOptions, runBatch, type Series } from '../../src/index.js';
import { type Samples, samplesArbitrary, scales, startArbitrary, tameValue, toSeries } from './samples.js';

/** Runs of single steps over one or two series, for the laws of single operations. */

export type Parameters = Readonly<Record<string, unknown>>;

export function runStep(
  operation: string,
  parameters: Parameters,
  inputs: readonly Series[],
  options?: RunOptions,
): Run {
  const step = {
    operation,
    parameters,
    input: inputs.map(({ timeseriesId, metric }) => ({ timeseriesId, metric })),
    output: [{ timeseriesId: 'out', metric: 'Step' }],
  };
  const request = [{ metric: 'Result', processingType: 'batch', operations: [step] }];
  const plan = createPlan(request, options?.timezone === undefined ? {} : { timezone: options.timezone });
  return runBatch(plan, inputs, options);
}

/** The samples of a step's result, as pairs. */
export function resultOf(
  operation: string,
  parameters: Parameters,
  inputs: readonly Series[],
  options?: RunOptions,
): Pair[] {
  return pairsOf(runStep(operation, parameters, inputs, options).series[0]!);
}

/** The samples of a chain of steps. */
export function chainOf(
  steps: readonly (readonly [string, Parameters])[],
  input: Series,
  options?: RunOptions,
): Pair[] {
  let series = input;
  for (const [operation, parameters] of steps) {
    const { timeMs, value } = runStep(operation, parameters, [series], options).series[0]!;
    series = { ...input, timeMs, value };
  }
  return pairsOf(series);
}

export type Pair = readonly [timeMs: number, value: number];

export function pairsOf({ timeMs, value }: Pick<Series, 'timeMs' | 'value'>): Pair[] {
  return [...timeMs].map((t, i) => [t, value[i]!]);
}

/** Samples as they are inside a run: times strictly ascending, values finite. */
export function risingArbitrary(value: fc.Arbitrary<number> = tameValue): fc.Arbitrary<Series> {
  return scaledArbitrary(value).map(({ series }) => series);
}

/** The same, with intervals that suit its times. */
export function scaledArbitrary(value: fc.Arbitrary<number> = tameValue) {
  return fc.constantFrom(...scales).chain((scale) =>
    startArbitrary(scale)
      .chain((startMs) => samplesArbitrary(scale, startMs, value))
      .map((samples) => ({ scale, series: toSeries('s', withoutDuplicates(samples)) })),
  );
}

function withoutDuplicates({ timeMs, value }: Samples): Samples {
  const kept = [...timeMs.keys()].filter((at) => at === 0 || timeMs[at]! > timeMs[at - 1]!);
  return { timeMs: kept.map((at) => timeMs[at]!), value: kept.map((at) => value[at]!) };
}

/** The distance of a double to the next one away from zero. */
export function ulpOf(x: number): number {
  const size = Math.abs(x);
  if (size < 2 ** -1022) return 2 ** -1074;
  return 2 ** (Math.max(-1022, Math.floor(Math.log2(size))) - 52);
}
