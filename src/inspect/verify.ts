import { describeValue, wrongOption } from '../core/errors.js';
import type { Series, SeriesReference } from '../core/series.js';
import { SourceMatcher } from '../core/source-matcher.js';
import { loadSeries } from '../engine/batch/loaded-series.js';
import type { RunOptions } from '../engine/options.js';
import { Arena, currentArena, workIn } from '../kernels/arena.js';
import { operationOf } from '../operations/index.js';
import { planEveryIn } from '../plan/patterns.js';
import type { Plan } from '../plan/plan.js';
import { firstDifference } from './diff.js';
import {
  type Action,
  ADVANCE,
  actionsOf,
  type Engine,
  engine,
  type Feeding,
  PREVIEW,
  PUSH,
  RESTORE,
  runFeeding,
  Samples,
} from './feeding.js';

export interface VerifyOptions extends RunOptions {
  /** How many variants to run; 24 by default. */
  readonly variantCount?: number;
  /** The seed of random choices, 1 by default: the same seed makes the same variants. */
  readonly seed?: number;
  /** Called with the name of each variant before it runs. */
  readonly onVariant?: (name: string) => void;
}

/** Whether a plan gives the same results, bit for bit, whichever way it runs. */
export interface Verified {
  readonly seed: number;
  /** The names of the variants that gave the same bits as the batch. */
  readonly same: readonly string[];
  /** The first that did not, if any; verification stops there. */
  readonly different?: Difference;
}

/** A variant whose results differ from the batch's, reduced to few samples and calls that still show it. */
export interface Difference {
  readonly name: string;
  /** Whether the batch and the variant differed again when both ran anew; if not, nothing is left out of `actions`. */
  readonly recurs: boolean;
  readonly kernels: 'SIMD' | 'JavaScript';
  /** The allowed lateness in milliseconds, if it is a stream. */
  readonly latenessMs?: number;
  /** The calls in order; a batch has one push. */
  readonly actions: readonly Action[];
  /** The first result that differs; undefined on the side that lacks it. */
  readonly result: {
    readonly series: SeriesReference;
    readonly timeMs: number;
    readonly batch?: number;
    readonly variant?: number;
  };
}

/** How many variants run by default. */
export const VARIANT_COUNT = 24;

interface Variant {
  readonly name: string;
  readonly kind: 'batch' | 'loaded' | 'stream';
  readonly kernels: 'SIMD' | 'JavaScript';
  readonly latenessMs: number;
  readonly feeding: Feeding;
}

/**
 * Runs a plan over the caller's own samples in many ways, each of which must give the same bits as the batch: over
 * loaded series, with the JavaScript kernels, and as streams that are cut at random, mix their sources, get samples in
 * other orders within the allowed lateness, and are advanced, previewed and restored from checkpoints.
 *
 * @param by the engine; tests pass one with a fault.
 * @throws InputError as `runEvery` does.
 */
export function verify(
  plan: Plan,
  inputs: readonly Series[],
  options: VerifyOptions = {},
  by: Engine = engine,
): Verified {
  const variants = verifyEach(plan, inputs, options, by);
  for (;;) {
    const { done, value } = variants.next();
    if (done === true) return value;
    options.onVariant?.(value);
  }
}

/** The same as a generator, which yields the name of each variant before it runs, so that other work can go on. */
export function* verifyEach(
  plan: Plan,
  inputs: readonly Series[],
  options: VerifyOptions = {},
  by: Engine = engine,
): Generator<string, Verified> {
  const planned = planEveryIn(plan, options, ', variantCount, seed, onVariant');
  if ('warmup' in options && options.warmup !== undefined) {
    throw wrongOption('warmup', 'none, as streams have no such option and would differ', describeValue(options.warmup));
  }
  const { variantCount = VARIANT_COUNT, seed = 1, onVariant: _, ...run } = options;
  const matcher = new SourceMatcher(planned.sources);
  const samples = new Samples(inputs.filter((input) => matcher.wants(input)));
  const batch = by.runBatch(planned, samples.inputs, run).series;
  const same: string[] = [];
  const actions = isEndOpen(planned, run) ? [PUSH, RESTORE, PREVIEW] : [PUSH, ADVANCE, RESTORE, PREVIEW];
  for (const variant of variantsOf(samples, variantCount, actions, randomOf(seed))) {
    yield variant.name;
    const results = runVariant(planned, samples, variant, run, by);
    const found = firstDifference(batch, results);
    if (found !== undefined) return { seed, same, different: minimized(planned, samples, variant, found, run, by) };
    same.push(variant.name);
  }
  return { seed, same };
}

/** Whether some results depend on the last advance, by definition: then variants must not advance. */
function isEndOpen({ steps }: Plan, { until }: RunOptions): boolean {
  return until === undefined && steps.some((step) => operationOf(step).endsByAdvance === true);
}

function runVariant(
  plan: Plan,
  samples: Samples,
  variant: Variant,
  options: RunOptions,
  by: Engine,
): readonly Series[] {
  const { kind, kernels, latenessMs, feeding } = variant;
  return workIn(kernels === 'SIMD' ? currentArena() : new Arena(undefined), () => {
    if (kind === 'stream') return runFeeding(plan, samples, feeding, latenessMs, options, by);
    const given = samples.pick(
      feeding.filter((entry) => entry >= 0),
      true,
    );
    return by.runBatch(plan, kind === 'loaded' ? loadSeries(given) : given, options).series;
  });
}

/** Reduces a variant to few samples and calls that still differ from the batch. @param found the difference of all. */
function minimized(
  plan: Plan,
  samples: Samples,
  variant: Variant,
  found: NonNullable<ReturnType<typeof firstDifference>>,
  options: RunOptions,
  by: Engine,
): Difference {
  const differenceOf = (feeding: Feeding) => {
    // In the order of the inputs, as a batch takes them.
    const given = samples.pick(feeding.filter((entry) => entry >= 0).sort(), true);
    const batch = by.runBatch(plan, given, options).series;
    return firstDifference(batch, runVariant(plan, samples, { ...variant, feeding }, options, by));
  };
  const least = leastOf(variant.feeding, (some) => differenceOf(some) !== undefined);
  const again = differenceOf(least);
  const feeding = again === undefined ? variant.feeding : least;
  const { series, timeMs, before, after } = again ?? found;
  const { name, kind, kernels, latenessMs } = variant;
  return {
    name,
    recurs: again !== undefined,
    kernels,
    ...(kind === 'stream' ? { latenessMs } : {}),
    actions: [...actionsOf(samples, feeding)],
    result: {
      series,
      timeMs,
      ...(before === undefined ? {} : { batch: before }),
      ...(after === undefined ? {} : { variant: after }),
    },
  };
}

const ATTEMPTS_MAX = 2000;

/**
 * Leaves out ever smaller parts as long as `holds` is true of the rest.
 * Source: Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28 (2002).
 */
function leastOf(feeding: Feeding, holds: (some: Feeding) => boolean): Feeding {
  let least = feeding;
  let partCount = 2;
  for (let attempts = 0; least.length > 1 && attempts < ATTEMPTS_MAX; ) {
    const length = Math.ceil(least.length / partCount);
    let isLess = false;
    for (let from = 0; from < least.length && attempts < ATTEMPTS_MAX; ) {
      attempts++;
      const rest = least.filter((_, at) => at < from || at >= from + length);
      if (holds(rest)) {
        least = rest;
        isLess = true;
      } else from += length;
    }
    if (!isLess && length === 1) break;
    partCount = Math.min(isLess ? partCount : 2 * partCount, Math.max(2, least.length));
  }
  return least;
}

/** `below`: a whole number from 0 up to `limit` (exclusive). `part`: a double from 0 to 1 (exclusive). */
interface Random {
  below(limit: number): number;
  part(): number;
}

/** mulberry32, by Tommy Ettinger. */
function randomOf(seed: number): Random {
  let state = seed;
  const part = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
  return { part, below: (limit) => Math.floor(part() * limit) };
}

function* variantsOf(samples: Samples, count: number, actions: readonly number[], random: Random): Generator<Variant> {
  const all = Int32Array.from({ length: samples.count }, (_, sample) => sample);
  const whole = { latenessMs: 0, feeding: all } as const;
  const batches: readonly Variant[] = [
    { name: 'batch, JavaScript kernels', kind: 'batch', kernels: 'JavaScript', ...whole },
    { name: 'batch, loaded series', kind: 'loaded', kernels: 'SIMD', ...whole },
  ];
  yield* batches.slice(0, count);
  const sorted = all.sort((a, b) => samples.timeMs(a) - samples.timeMs(b) || a - b);
  const [firstMs, lastMs] = sorted.length === 0 ? [0, 0] : [samples.timeMs(sorted[0]!), samples.timeMs(sorted.at(-1)!)];
  for (let number = batches.length; number < count; number++) {
    const isLate = number % 2 === 1;
    const latenessMs = isLate ? Math.ceil((lastMs - firstMs) * random.part() ** 4) : 0;
    const kernels = number % 3 === 2 ? 'JavaScript' : 'SIMD';
    const order = isLate ? shuffled(samples, sorted, latenessMs, random) : mixed(samples, sorted, random);
    const words = isLate ? 'other orders within the lateness' : 'cut at random';
    const name = `stream ${number - batches.length + 1}, ${words}, ${kernels} kernels`;
    yield { name, kind: 'stream', kernels, latenessMs, feeding: cut(order, samples.inputs.length, actions, random) };
  }
}

/** Another order of arrival, in which no sample is later than allowed. Samples of one time keep their order. */
function shuffled(samples: Samples, sorted: Int32Array, latenessMs: number, random: Random): Int32Array {
  const keys = new Float64Array(samples.count);
  for (const [at, sample] of sorted.entries()) {
    // Samples of one input and time are adjacent here.
    const before = sorted[at - 1];
    const isSamePlace =
      before !== undefined &&
      samples.timeMs(before) === samples.timeMs(sample) &&
      samples.inputOf(before) === samples.inputOf(sample);
    keys[sample] = isSamePlace ? keys[before]! : samples.timeMs(sample) + random.part() * latenessMs;
  }
  return sorted.slice().sort((a, b) => keys[a]! - keys[b]! || samples.timeMs(a) - samples.timeMs(b) || a - b);
}

/** Each source in its own order, with some of them lagging behind others. */
function mixed(samples: Samples, sorted: Int32Array, random: Random): Int32Array {
  const behind = samples.inputs.map(() => (random.below(2) === 0 ? 0 : random.below(samples.count + 1)));
  const keys = new Float64Array(samples.count);
  for (const [at, sample] of sorted.entries()) keys[sample] = at + behind[samples.inputOf(sample)]!;
  return sorted.slice().sort((a, b) => keys[a]! - keys[b]! || a - b);
}

/** How many samples the restores and previews of one variant go through, if the stream holds all that came. */
const HELD_SAMPLES_MAX = 2 ** 22;

/** Puts calls between samples: after each one, or after thousands. */
function cut(order: Int32Array, seriesCount: number, actions: readonly number[], random: Random): Feeding {
  const longest = Math.max(1, Math.ceil(2 ** (random.part() * Math.log2(order.length + 1))));
  const least = Math.ceil(order.length / 10_000);
  const cuts = order.length / Math.max(least, (1 + longest) / 2);
  // An advance touches every series, a restore and a preview also what the stream holds: at worst, every sample. So the
  // work stays linear in samples.
  const advanceShare = order.length / seriesCount / cuts;
  const share = Math.min(advanceShare, HELD_SAMPLES_MAX / order.length / cuts);
  const feeding: number[] = [];
  for (let from = 0; from < order.length; ) {
    const until = Math.min(order.length, from + Math.max(least, 1 + random.below(longest)));
    for (let at = from; at < until; at++) feeding.push(order[at]!);
    const action = actions[random.below(actions.length)]!;
    feeding.push(action === PUSH || random.part() < (action === ADVANCE ? advanceShare : share) ? action : PUSH);
    from = until;
  }
  return Int32Array.from(feeding);
}
