import { InputError, OutputLimitError } from '../../core/errors.js';
import { filled, patternOf } from '../../core/pattern.js';
import { type Series, type SeriesReference, seriesKey, seriesName } from '../../core/series.js';
import { type Place, SourceMatcher } from '../../core/source-matcher.js';
import { operationOf } from '../../operations/index.js';
import { planEveryIn } from '../../plan/patterns.js';
import type { Plan } from '../../plan/plan.js';
import { sampleCountOf } from '../batch/inputs.js';
import { renamed } from '../batch/loaded-series.js';
import { FinishedRun, type Run } from '../batch/run.js';
import { type BatchOptions, runBatch } from '../batch/run-batch.js';
import { checkColumns, checkList } from '../check-input.js';
import { readOptions } from '../options.js';
import type { Report } from '../report.js';
import { type Part, partsOf } from './parts.js';
import { addReports, joinReports } from './reports.js';

/**
 * Runs a plan whose ids may be patterns over whole series. It runs once for each member, and gives what as many plans
 * with plain ids would give, bit for bit. A plan without patterns runs as by `runBatch`.
 *
 * @param plan from `planEvery`, or from `createPlan`.
 * @param inputs as `runBatch` takes them. Series that no pattern matches are counted as unused.
 * @returns the series of each item; an item with a pattern has one for each member, in the order of their first series.
 *   The report is the sum over all members.
 * @throws InputError as `runBatch` does, and for a pattern that no series matches.
 * @throws OutputLimitError if a step with a state would make more than `maxOutputSamples`, for all members together.
 * @example
 * const plan = planEvery([pipeline('zone-{n}').aggregate({ function: 'Average', interval: 'Daily' }).as('Mean')]);
 * const means = runEvery(plan, series).series; // zone-1/Mean, zone-2/Mean, …
 */
export function runEvery(plan: Plan, inputs: readonly Series[], options: BatchOptions = {}): Run {
  const planned = planEveryIn(plan, options);
  const { timezone, ...own } = options;
  if (planned.every === undefined) return runBatch(planned, inputs, own);
  const { clock, maxOutputSamples } = readOptions(own, planned.timezone);
  const startedMs = clock();
  checkList(inputs);
  for (const input of inputs) checkColumns(input);
  const { plain, template } = partsOf(planned);
  const ofPlain = plain && runBatch(plain.plan, inputs, own);
  const ofTemplate = template && runMembers(template, inputs, own, maxOutputSamples);
  const series = planned.items.map((): readonly Series[] => []);
  for (const [place, item] of (plain?.items ?? []).entries()) series[item] = [ofPlain!.series[place]!];
  for (const [place, item] of (template?.items ?? []).entries()) series[item] = ofTemplate!.series[place]!;
  const parts = [
    { part: plain, report: ofPlain?.report },
    { part: template, report: ofTemplate?.report },
  ];
  const report = joinReports(planned, parts, unusedOf(planned, inputs), clock() - startedMs);
  return new FinishedRun(series.flat(), report, new Set(inputs.map(({ timeMs }) => timeMs)));
}

interface Members {
  /** By item and member. */
  readonly series: readonly (readonly Series[])[];
  readonly report: Report;
}

function runMembers({ plan }: Part, inputs: readonly Series[], options: BatchOptions, limit: number): Members {
  const isShared = plan.sources.map(({ timeseriesId }) => patternOf(timeseriesId) === undefined);
  const { shared, members } = gather(plan, inputs);
  checkPresent(plan.sources, inputs, shared, members);
  const series = plan.items.map((): Series[] => []);
  let report: Report | undefined;
  for (const [member, own] of members) {
    const given = plan.sources.flatMap((source, index) => {
      const parts = (isShared[index] === true ? shared : own).get(index) ?? [];
      const nothing = { ...source, timeMs: new Float64Array(0), value: new Float64Array(0) };
      return parts.length === 0 ? [nothing] : parts.map((part) => renamed(part, source));
    });
    const run = runBatch(plan, given, options);
    for (const [item, { timeseriesId, metric, timeMs, value }] of run.series.entries()) {
      series[item]!.push({ timeseriesId: filled(timeseriesId, member), metric, timeMs, value });
    }
    report = report === undefined ? run.report : addReports(report, run.report, isShared);
    for (const { pointer, operation, samplesOut } of report.steps) {
      if (samplesOut > limit && operationOf({ operation }).shape === 'regrid')
        throw new OutputLimitError(pointer, operation, samplesOut, limit);
    }
  }
  return { series, report: report! };
}

/** Inputs by their source. */
type BySource = Map<number, Series[]>;

function gather(plan: Plan, inputs: readonly Series[]): { shared: BySource; members: Map<string, BySource> } {
  const matcher = new SourceMatcher(plan.sources);
  const shared: BySource = new Map();
  const members = new Map<string, BySource>();
  const placeIn = ({ member }: Place): BySource => {
    if (member === undefined) return shared;
    const own = members.get(member) ?? new Map();
    members.set(member, own);
    return own;
  };
  for (const input of inputs) {
    for (const place of matcher.placesOf(input)) {
      const own = placeIn(place);
      const parts = own.get(place.source);
      if (parts === undefined) own.set(place.source, [input]);
      else parts.push(input);
    }
  }
  return { shared, members };
}

function checkPresent(
  sources: readonly SeriesReference[],
  inputs: readonly Series[],
  shared: BySource,
  members: ReadonlyMap<string, BySource>,
): void {
  const present = new Set([...shared.keys(), ...[...members.values()].flatMap((own) => [...own.keys()])]);
  const lacking = sources.find((_, index) => !present.has(index));
  if (lacking === undefined) return;
  const names = [...new Map(inputs.map((input) => [seriesKey(input), seriesName(input)])).values()];
  const expected = patternOf(lacking.timeseriesId) === undefined ? 'the series' : 'series that match';
  const received = names.slice(0, 12).join(', ') || 'none';
  throw new InputError('input.missing', `inputs: expected ${expected} ${seriesName(lacking)}, received ${received}`);
}

function unusedOf(plan: Plan, inputs: readonly Series[]): number {
  const matcher = new SourceMatcher(plan.sources);
  return inputs.reduce((sum, one) => sum + (matcher.placesOf(one).length === 0 ? sampleCountOf(one) : 0), 0);
}
