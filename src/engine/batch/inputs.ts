import { InputError } from '../../core/errors.js';
import { concatenate, type Series, seriesKey, seriesName } from '../../core/series.js';
import { type Arena, currentArena } from '../../kernels/arena.js';
import type { Plan } from '../../plan/plan.js';
import { checkColumns, checkTimes } from '../check-input.js';
import type { SourceCounts } from '../graph/counts.js';
import type { RunSettings } from '../options.js';
import { loadedOf } from './loaded-series.js';
import { type BatchInput, sortInput } from './sort-input.js';

/** The inputs of a plan in the order of its sources, and the count of samples that it does not read. */
export function chooseInputs(plan: Plan, inputs: readonly Series[]): { given: BatchInput[]; unused: number } {
  const parts = new Map<string, Series[]>(plan.sources.map((source) => [seriesKey(source), []]));
  let unused = 0;
  for (const input of inputs) {
    checkColumns(input);
    const wanted = parts.get(seriesKey(input));
    if (wanted === undefined) unused += sampleCountOf(input);
    else wanted.push(input);
  }
  const given = plan.sources.map((source) => {
    const [first, ...more] = parts.get(seriesKey(source)) ?? [];
    if (first !== undefined) return asInput([first, ...more]);
    const names = inputs.map(seriesName).join(', ') || 'none';
    throw new InputError('input.missing', `inputs: expected the series ${seriesName(source)}, received ${names}`);
  });
  return { given, unused };
}

/** How many samples a series brings; of a loaded one this includes those that loading left out. */
export function sampleCountOf(series: Series): number {
  const loaded = loadedOf(series);
  return series.timeMs.length + (loaded === undefined ? 0 : loaded.missing + loaded.duplicateMs.length);
}

function asInput(parts: readonly [Series, ...Series[]]): BatchInput {
  const [first] = parts;
  const series = parts.length === 1 ? first : { ...first, ...concatenate(parts) };
  const loaded = parts.flatMap((part) => loadedOf(part) ?? []);
  const missing = loaded.reduce((sum, one) => sum + one.missing, 0);
  return { series, missing, outOfRun: 0, duplicateMs: loaded.flatMap((one) => one.duplicateMs) };
}

/** The arena of the loaded series; of the longest one if they lie in several. */
export function arenaOf(given: readonly BatchInput[]): Arena {
  let arena: Arena | undefined;
  let length = -1;
  for (const { series } of given) {
    const loaded = loadedOf(series);
    if (loaded === undefined || series.timeMs.length <= length) continue;
    arena = loaded.arena;
    length = series.timeMs.length;
  }
  return arena ?? currentArena();
}

/** The same input in time order, each time once. A loaded series has that already. @throws InputError */
export function sorted(input: BatchInput, { fromMs, untilMs = Number.POSITIVE_INFINITY }: RunSettings): BatchInput {
  if (loadedOf(input.series) !== undefined) return input;
  checkTimes(input.series);
  const own = sortInput(input.series, fromMs, untilMs);
  const duplicateMs = [...input.duplicateMs, ...own.duplicateMs];
  return { ...own, missing: input.missing + own.missing, duplicateMs };
}

/** Counts what sorting or loading left out of an input. */
export function countLeftOut(
  counts: SourceCounts,
  { missing, outOfRun, duplicateMs }: BatchInput,
  settings: RunSettings,
): void {
  const duplicate = countWithin(duplicateMs, settings);
  counts.samplesIn += missing + outOfRun + duplicateMs.length;
  counts.missing += missing;
  counts.outOfRun += outOfRun + duplicateMs.length - duplicate;
  counts.duplicate += duplicate;
}

function countWithin(timesMs: readonly number[], { fromMs, untilMs = Number.POSITIVE_INFINITY }: RunSettings): number {
  let count = 0;
  for (const t of timesMs) if (t >= fromMs && t < untilMs) count++;
  return count;
}
