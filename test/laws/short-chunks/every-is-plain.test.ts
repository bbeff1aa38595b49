import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { filled } from '../../../src/core/pattern.js';
import { openEvery, planEvery, restoreEvery, runEvery } from '../../../src/engine/every/index.js';
import {
  createPlan,
  loadSeries,
  OutputLimitError,
  type Plan,
  type Report,
  type Series,
  type SeriesReference,
  type Stream,
  type StreamOptions,
} from '../../../src/index.js';
import { expectSame, type Feeding, feedingArbitrary, runFed, runWithin, sceneArbitrary } from '../running.js';
import { delayed, type Samples, toSeries } from '../samples.js';

// Short chunks, so that even short series have several.
vi.mock('../../../src/core/chunk.js', () => ({ CHUNK_LENGTH: 64 }));

interface Step {
  readonly input: readonly SeriesReference[];
  readonly output: readonly SeriesReference[];
}
type Item = Readonly<Record<string, unknown>> & { readonly metric: string; readonly operations: readonly Step[] };

/** How ids become patterns: a named part in different places, or all of them `*`, told apart by their metrics. */
type Form = 'behind' | 'before' | 'star';

const FORMS: readonly ((id: string) => string)[] = [(id) => `${id}:{n}`, (id) => `${id}/{n}`, (id) => `${id}-{n}.x`];

function patternFor(form: Form, { timeseriesId, metric }: SeriesReference): SeriesReference {
  if (form === 'star') return { timeseriesId: '*', metric: `${timeseriesId} ${metric}` };
  if (form === 'before') return { timeseriesId: `{n}/${timeseriesId}`, metric };
  return { timeseriesId: FORMS[Number(timeseriesId.slice(1)) % FORMS.length]!(timeseriesId), metric };
}

/** The request with patterns for all series except those in `shared` and those computed from `shared` alone. */
function templateOf(request: readonly Item[], form: Form, shared: ReadonlySet<string>): Item[] {
  const steps = request.flatMap(({ operations }) => operations);
  const plain = new Set(shared);
  for (let before = -1; before !== plain.size; ) {
    before = plain.size;
    for (const { input, output } of steps) {
      if (input.every(({ timeseriesId }) => plain.has(timeseriesId))) plain.add(output[0]!.timeseriesId);
    }
  }
  const of = (reference: SeriesReference): SeriesReference =>
    plain.has(reference.timeseriesId) ? reference : patternFor(form, reference);
  return request.map((item) => {
    const operations = item.operations.map((step) => ({
      ...step,
      input: step.input.map(of),
      output: step.output.map(of),
    }));
    const last = item.operations.at(-1)!.output[0]!;
    return { ...item, operations, metric: of({ ...last, metric: item.metric }).metric };
  });
}

function filledIn(request: readonly Item[], member: string): Item[] {
  const of = ({ timeseriesId, metric }: SeriesReference) => ({ timeseriesId: filled(timeseriesId, member), metric });
  return request.map((item) => ({
    ...item,
    operations: item.operations.map((step) => ({ ...step, input: step.input.map(of), output: step.output.map(of) })),
  }));
}

const MEMBERS = ['1', '20', ' é'];

interface Case {
  readonly template: readonly Item[];
  readonly inputs: readonly Series[];
}

// Members have different samples, and one of them may lack a source.
function caseOf(
  request: readonly Item[],
  samples: readonly Samples[],
  form: Form,
  shared: ReadonlySet<string>,
  lacking: number,
): Case {
  const template = templateOf(request, form, shared);
  const inputs = samples.flatMap((_own, source): Series[] => {
    const id = `s${source}`;
    if (shared.has(id)) return [toSeries(id, samples[source]!)];
    const reference = patternFor(form, { timeseriesId: id, metric: 'Raw' });
    return MEMBERS.flatMap((member, k) => {
      if (k === lacking && source === 1) return [];
      const series = toSeries(id, samples[(source + k) % samples.length]!);
      return [{ ...series, timeseriesId: filled(reference.timeseriesId, member), metric: reference.metric }];
    });
  });
  return { template, inputs };
}

/** The results and counts of one plain request for each member, added up; undefined if a run would exceed the limit. */
function expectedOf({ template, inputs }: Case, options: Parameters<typeof runWithin>[2]) {
  // What is computed from shared series alone is the same for all members.
  const results = new Map<string, Series>();
  const reports: Report[] = [];
  for (const member of membersIn(template, inputs)) {
    const plan = createPlan(filledIn(template, member), options);
    const given = plan.sources.map(
      (source) =>
        inputs.find(({ timeseriesId, metric }) => timeseriesId === source.timeseriesId && metric === source.metric) ?? {
          ...source,
          timeMs: new Float64Array(0),
          value: new Float64Array(0),
        },
    );
    const run = runWithin(plan, given, options);
    if (run === undefined) return undefined;
    for (const one of run.series) {
      const known = results.get(nameOf(one));
      if (known !== undefined) expectSame([one], [known]);
      results.set(nameOf(one), one);
    }
    reports.push(run.report);
  }
  return { series: byName([...results.values()]), reports };
}

const nameOf = ({ timeseriesId, metric }: SeriesReference): string => JSON.stringify([timeseriesId, metric]);

function byName(series: readonly Series[]): Series[] {
  return [...series].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function membersIn(template: readonly Item[], inputs: readonly Series[]): string[] {
  const { sources } = planEvery(template);
  return MEMBERS.filter((member) =>
    sources.some(
      ({ timeseriesId, metric }) =>
        filled(timeseriesId, member) !== timeseriesId &&
        inputs.some((input) => input.timeseriesId === filled(timeseriesId, member) && input.metric === metric),
    ),
  );
}

const numbersIn = (data: unknown): number[] => (JSON.stringify(data).match(/-?\d+(?=[,}\]])/g) ?? []).map(Number);

function countsOf(parts: readonly { samplesIn: number; samplesOut: number; dropped: unknown }[]): number[][] {
  return parts.map(({ samplesIn, samplesOut, dropped }) => [samplesIn, samplesOut, ...numbersIn(dropped)]);
}

// Series with patterns are counted for each member, all others once.
function summed(template: readonly Item[], reports: readonly Report[]): { sources: number[][]; steps: number[][] } {
  const plan = planEvery(template);
  const add = (of: (report: Report) => number[][], names: readonly string[]): number[][] =>
    names.map((name, k) => {
      const isOfAll = name === '*' || name.includes('{n}');
      const own = reports.slice(0, isOfAll ? undefined : 1).map((report) => of(report)[k]!);
      return own[0]!.map((_, at) => own.reduce((sum, counts) => sum + counts[at]!, 0));
    });
  const idOf = ({ timeseriesId }: SeriesReference): string => timeseriesId;
  return {
    sources: add(({ sources }) => countsOf(sources), plan.sources.map(idOf)),
    steps: add(
      ({ steps }) => countsOf(steps),
      plan.steps.map(({ output }) => idOf(output)),
    ),
  };
}

// A batch knows members without samples; a stream has to be told of them. All other members join as samples come.
function opened(plan: Plan, options: StreamOptions | undefined, inputs: readonly Series[]): Stream {
  const stream = openEvery(plan, options);
  stream.push(inputs.filter(({ timeMs }) => timeMs.length === 0));
  return stream;
}

const formArbitrary = fc.constantFrom<Form>('behind', 'before', 'star');
const sharedArbitrary = fc.constantFrom<readonly string[]>([], [], ['s0'], ['s2'], ['s0', 's1']);

function isEndOpen(request: readonly unknown[], options: { until?: unknown }): boolean {
  return options.until === undefined && JSON.stringify(request).includes('HoldLastValue');
}

function withoutAdvance({ turns, mixing }: Feeding): Feeding {
  return {
    mixing,
    turns: turns.map(({ count, after }) => ({ count, after: after.endsWith('restore') ? 'restore' : 'nothing' })),
  };
}

test('patterns give the bits and counts of plain requests, one for each member, in batch and stream', () => {
  const drawn = fc.tuple(sceneArbitrary(5), formArbitrary, sharedArbitrary, fc.nat(4), feedingArbitrary);
  const lateness = fc.constantFrom(['PT0S', 0], ['PT2H', 7_200_000]) as fc.Arbitrary<readonly [string, number]>;
  let compared = 0;
  const property = fc.property(
    drawn,
    lateness,
    ([scene, form, shared, lacking, feeding], [allowedLateness, lateMs]) => {
      // `as`: buildRequest writes items.
      const request = scene.request as readonly Item[];
      const samples = scene.samples.map((own) => delayed(own, [0.9, 0.1, 0.5], lateMs));
      const one = caseOf(request, samples, form, new Set(shared), lacking);
      const plan = planEvery(one.template, scene.options);
      const present = plan.sources.every(({ timeseriesId, metric }) =>
        one.inputs.some(
          (input) => MEMBERS.some((m) => filled(timeseriesId, m) === input.timeseriesId) && input.metric === metric,
        ),
      );
      const expected = expectedOf(one, scene.options);
      if (expected === undefined || expected.reports.length === 0 || !present) return;
      try {
        const batch = runEvery(plan, one.inputs, scene.options);
        const loaded = runEvery(plan, loadSeries(one.inputs), scene.options);
        const fed = isEndOpen(request, scene.options) ? withoutAdvance(feeding) : feeding;
        const options = { ...scene.options, allowedLateness };
        const stream = runFed(plan, one.inputs, options, fed, {
          openStream: (own, settings) => opened(own, settings, one.inputs),
          restoreStream: restoreEvery,
        });
        for (const { series, report } of [batch, loaded, stream]) {
          expectSame(byName(series), expected.series);
          const counts = { sources: countsOf(report.sources), steps: countsOf(report.steps) };
          expect(counts).toEqual(summed(one.template, expected.reports));
        }
        compared++;
      } catch (error) {
        if (!(error instanceof OutputLimitError)) throw error;
      }
    },
  );
  fc.assert(property, { numRuns: 150 });
  expect(compared).toBeGreaterThan(100);
});
