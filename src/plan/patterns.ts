import { type Issue, RequestError } from '../core/errors.js';
import { canMeet, filled, patternOf } from '../core/pattern.js';
import { type SeriesReference, seriesKey, seriesName } from '../core/series.js';
import { SourceMatcher } from '../core/source-matcher.js';
import { finish, type InTurns } from '../core/turns.js';
import { createPlan, type PlanOptions, planInTurns } from './create-plan.js';
import { checkOptions, checkPlan, type Plan } from './plan.js';
import type { RequestLike } from './request-like.js';

/** The most different patterns in a request, as each is compared with all other ids. */
const PATTERNS_MAX = 100;

/**
 * Makes a plan as `createPlan` does, from a request whose ids may be patterns: `zone-{n}` for all zones, or `*` for all
 * series. Each way to fill in the name is a member, with sources, windows and results of its own.
 *
 * @throws RequestError as `createPlan` does, and for patterns that do not fit together.
 * @throws InputError if `timezone` is not an IANA time zone.
 */
export function planEvery<const R>(request: RequestLike<R>, options: PlanOptions = {}): Plan {
  // `as`: the signature has checked it.
  return finish(planEveryInTurns(request as unknown, options));
}

/** `planEvery` in slices, for a request of unknown type. */
export function* planEveryInTurns(request: unknown, options: PlanOptions = {}): InTurns<Plan> {
  const plan = yield* planInTurns(request, options);
  yield;
  const issues: Issue[] = [];
  const every = checkPatterns(plan, issues);
  if (issues.length > 0) throw new RequestError(issues);
  return every === undefined ? plan : Object.freeze({ ...plan, every });
}

/** The plan of the same request for a run: see `planInTimezone`. @param own see `checkOptions`. @throws InputError */
export function planEveryIn(plan: Plan, options: PlanOptions, own?: string): Plan {
  checkPlan(plan);
  checkOptions(options, own);
  const { timezone } = options;
  return timezone === undefined || timezone === plan.timezone ? plan : planEvery(plan.request, { timezone });
}

/** The members that some series belong to, by sources whose ids may be patterns, in the order of the series. */
export function membersOf(sources: readonly SeriesReference[], series: readonly SeriesReference[]): string[] {
  const matcher = new SourceMatcher(sources);
  const members = series.flatMap((one) => matcher.placesOf(one).flatMap(({ member }) => member ?? []));
  return [...new Set(members)];
}

/** The plan of one member, with the name filled in, so that all ids are plain. */
export function planOfMember({ request, timezone }: Plan, member: string): Plan {
  // Pointers into an object begin with its `items`.
  if ('items' in request) return createPlan({ items: filledRequest(request.items, member) } as unknown, { timezone });
  return createPlan(filledRequest(request, member) as unknown, { timezone });
}

/** The items of a request that was planned, with the name in its ids filled in. */
export function filledRequest(request: readonly unknown[], member: string): readonly unknown[] {
  // `as`: they were checked when they were planned.
  const fill = (references: unknown): unknown[] =>
    (references as readonly SeriesReference[]).map(({ timeseriesId, metric }) => {
      return { timeseriesId: filled(timeseriesId, member), metric };
    });
  return (request as readonly { readonly operations: readonly { input: unknown; output: unknown }[] }[]).map(
    (item) => ({
      ...item,
      operations: item.operations.map((step) => ({ ...step, input: fill(step.input), output: fill(step.output) })),
    }),
  );
}

interface Written {
  readonly reference: SeriesReference;
  readonly pointer: string;
}

/**
 * Checks patterns, each of which stands for many series: all have the same name, an output has it if and only if an
 * input does, and no two results, nor a result and a source, can be the same series.
 *
 * @returns the name, if there are patterns.
 */
function checkPatterns({ sources, steps, items }: Plan, issues: Issue[]): string | undefined {
  const readBy = steps.map(({ inputs, pointer }) =>
    inputs.map(({ from, index }, place): Written => {
      const reference = from === 'source' ? sources[index]! : steps[index]!.output;
      return { reference, pointer: `${pointer}/input/${place}` };
    }),
  );
  const inputs = readBy.flat();
  const outputs = steps.map(({ output, pointer }): Written => ({ reference: output, pointer: `${pointer}/output/0` }));
  const name = nameIn([...inputs, ...outputs], issues);
  if (name === undefined) return undefined;
  for (const [step, output] of outputs.entries()) checkOutput(readBy[step]!, output, name, issues);
  const results = items.map(({ output, step }): Written => ({ reference: output, pointer: steps[step]!.pointer }));
  checkMeetings([...outputs, ...results], inputs, issues);
  return name;
}

/** The name that all patterns have; undefined if there are none, or there is a problem. */
function nameIn(written: readonly Written[], issues: Issue[]): string | undefined {
  const names = new Set<string>();
  const ids = new Set<string>();
  for (const { reference, pointer } of written) {
    const { timeseriesId } = reference;
    const refuse = (expected: string, suggestion?: string): void => {
      const told = { pointer: `${pointer}/timeseriesId`, expected, received: JSON.stringify(timeseriesId) };
      issues.push({ code: 'request.value', ...told, ...(suggestion === undefined ? {} : { suggestion }) });
    };
    const pattern = patternOf(timeseriesId);
    if (pattern === undefined ? timeseriesId.includes('*') : patternOf(pattern.after) !== undefined) {
      const mended = timeseriesId.replace(/\*.*\*|\*|\{\w+\}.*\{\w+\}/, '{n}');
      refuse('an id, `*` alone for all, or a pattern with one name, such as `zone-{n}`', `say \`${mended}\``);
    } else if (pattern !== undefined) {
      names.add(pattern.name);
      ids.add(timeseriesId);
      if (names.size > 1) refuse(`the one name of the request, ${shown([...names][0]!)}, in all its patterns`);
      else if (ids.size > PATTERNS_MAX) refuse(`at most ${PATTERNS_MAX} patterns in a request`);
    }
    if (issues.length > 0) return undefined;
  }
  return [...names][0];
}

function shown(name: string): string {
  return name === '*' ? '`*`' : `\`{${name}}\``;
}

function checkOutput(read: readonly Written[], { reference, pointer }: Written, name: string, issues: Issue[]): void {
  const pattern = read.find((one) => patternOf(one.reference.timeseriesId) !== undefined)?.reference.timeseriesId;
  if ((pattern === undefined) === (patternOf(reference.timeseriesId) === undefined)) return;
  const received = JSON.stringify(reference.timeseriesId);
  const told = { pointer: `${pointer}/timeseriesId`, code: 'request.value', received } as const;
  if (pattern === undefined) issues.push({ ...told, expected: `an id without ${shown(name)}, which no input has` });
  else {
    const expected = `an id with ${shown(name)}, as every series of the input has a result`;
    issues.push({ ...told, expected, suggestion: `say \`${pattern}\`` });
  }
}

/** Ids of results with their pointers: patterns, and plain ids. */
interface Ids {
  readonly patterns: Map<string, string>;
  readonly plain: Map<string, string>;
}

// Two ids can be the same series if they are written alike, or if one is a pattern that matches the other.
function checkMeetings(outputs: readonly Written[], inputs: readonly Written[], issues: Issue[]): void {
  const byMetric = new Map<string, Ids>();
  const made = new Set(outputs.map(({ reference }) => seriesKey(reference)));
  const meeting = ({ reference: { timeseriesId, metric } }: Written): string | undefined => {
    const { patterns = [], plain = [] } = byMetric.get(metric) ?? {};
    const isPattern = patternOf(timeseriesId) !== undefined;
    for (const [other, pointer] of isPattern ? [...patterns, ...plain] : patterns) {
      if (other === timeseriesId || !canMeet(other, timeseriesId)) continue;
      const name = seriesName({ timeseriesId: other, metric });
      return `${seriesName({ timeseriesId, metric })} and, at ${pointer}, ${name}`;
    }
    return undefined;
  };
  for (const output of outputs) {
    const received = meeting(output);
    const expected = 'outputs that cannot be one series';
    if (received !== undefined) issues.push({ pointer: output.pointer, code: 'request.duplicate', expected, received });
    const { timeseriesId, metric } = output.reference;
    const ofMetric = byMetric.get(metric) ?? { patterns: new Map(), plain: new Map() };
    byMetric.set(metric, ofMetric);
    const ids = patternOf(timeseriesId) === undefined ? ofMetric.plain : ofMetric.patterns;
    if (!ids.has(timeseriesId)) ids.set(timeseriesId, output.pointer);
  }
  for (const input of inputs) {
    const received = made.has(seriesKey(input.reference)) ? undefined : meeting(input);
    if (received === undefined) continue;
    const expected = 'an input that is written as the output which gives it, or that no output can be';
    const suggestion = 'write both alike, or give the output another metric';
    issues.push({ pointer: input.pointer, code: 'request.conflict', expected, received, suggestion });
  }
}
