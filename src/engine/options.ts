import { parseDuration } from '../core/duration.js';
import { describeValue, wrongOption } from '../core/errors.js';
import { type Instant, instantMs, readInstant } from '../core/instant.js';
import { TIME_MS_END, TIME_MS_MIN } from '../core/series.js';
import { isUtc, zoneOf } from '../core/zone.js';

export interface RunOptions {
  /** An IANA time zone for windows and local times; by default the plan's. */
  readonly timezone?: string;
  /** Samples before this instant are left out, and counted. */
  readonly from?: Instant;
  /** Samples at or after this instant are left out, and counted; HoldLastValue ticks up to it. */
  readonly until?: Instant;
  /**
   * The most samples that a step with a state (windows, grids, memory) may make: 100,000,000 by default. In a stream it
   * bounds each call.
   */
  readonly maxOutputSamples?: number;
  /** A clock in milliseconds, for `durationMs` in the report; without one it is 0. */
  readonly clock?: () => number;
}

export interface StreamOptions extends RunOptions {
  /** How far behind the greatest time a sample may arrive, an ISO 8601 duration: `PT0S` by default. */
  readonly allowedLateness?: string;
}

/** Options as the engine uses them. */
export interface RunSettings {
  readonly fromMs: number;
  readonly untilMs: number | undefined;
  readonly maxOutputSamples: number;
  readonly clock: () => number;
  readonly allowedLatenessMs: number;
  /** Up to where a batch warms up, as by an `advance`. */
  readonly warmUntilMs?: number | undefined;
}

const MAX_OUTPUT_SAMPLES = 100_000_000;

/** Checks the values of options and fills in their defaults. @throws InputError */
export function readOptions(options: StreamOptions, timezone: string): RunSettings {
  const fromMs = options.from === undefined ? Number.NEGATIVE_INFINITY : toMs('from', options.from, timezone);
  const untilMs = options.until === undefined ? undefined : toMs('until', options.until, timezone);
  if (untilMs !== undefined && untilMs <= fromMs) {
    throw wrongOption('until', 'an instant after from', String(options.until));
  }
  const { maxOutputSamples = MAX_OUTPUT_SAMPLES, allowedLateness = 'PT0S' } = options;
  if (typeof maxOutputSamples !== 'number' || !(maxOutputSamples >= 0)) {
    throw wrongOption('maxOutputSamples', 'a number of at least 0', describeValue(maxOutputSamples));
  }
  const allowedLatenessMs = parseDuration(allowedLateness);
  if (allowedLatenessMs === undefined) {
    throw wrongOption('allowedLateness', 'an ISO 8601 duration like PT5M', describeValue(allowedLateness));
  }
  const { clock = () => 0 } = options;
  if (typeof clock !== 'function') throw wrongOption('clock', 'a function', describeValue(clock));
  return { fromMs, untilMs, maxOutputSamples, clock, allowedLatenessMs };
}

/** How long before `from` a run reads samples to warm up, in milliseconds. @throws InputError */
export function readWarmup({ warmup, from }: { readonly warmup?: string; readonly from?: Instant }): number {
  const lengthMs = warmup === 'all' ? Number.POSITIVE_INFINITY : parseDuration(warmup ?? 'PT0S');
  if (lengthMs !== undefined && (warmup === undefined || from !== undefined)) return lengthMs;
  throw wrongOption('warmup', 'a duration like P1D, or all, and an instant from', describeValue(warmup));
}

/** An instant in epoch milliseconds. @throws InputError naming the option `name` if it is not an instant. */
export function toMs(name: string, instant: Instant, timezone: string): number {
  const expected = 'an ISO 8601 instant like 2024-01-31T12:00:00Z, or epoch ms';
  const timeMs = instantMs(instant);
  if (timeMs !== undefined || typeof instant !== 'string') {
    if (timeMs !== undefined && timeMs >= TIME_MS_MIN && timeMs <= TIME_MS_END) return timeMs;
    throw wrongOption(name, expected, timeMs === undefined ? describeValue(instant) : String(timeMs));
  }
  const reading = readInstant(instant, isUtc(timezone) ? undefined : zoneOf(timezone));
  if ('timeMs' in reading) return reading.timeMs;
  throw wrongOption(name, expected, `${describeValue(instant)}, which ${reading.problem}`);
}
