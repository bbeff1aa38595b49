import type { Issue } from '../core/errors.js';
import { canMeet, patternOf } from '../core/pattern.js';
import { type SeriesReference, seriesKey, seriesName } from '../core/series.js';
import type { RequestItem, RequestStep } from './read-request.js';

/** Different patterns of a request: each is compared with all other ids. */
const PATTERNS_MAX = 100;

interface Written {
  readonly reference: SeriesReference;
  readonly pointer: string;
}

/**
 * Checks the patterns of a request, each of which stands for many series: they have one name, an output has it where an
 * input does, and no two results, nor a result and a source, can be one series.
 *
 * @returns the name, if there are patterns.
 */
export function checkPatterns(items: readonly RequestItem[], issues: Issue[]): string | undefined {
  const steps = items.flatMap((item) => item.steps);
  const inputs = steps.flatMap(({ inputs: read, pointer }) =>
    read.map((reference, index): Written => ({ reference, pointer: `${pointer}/input/${index}` })),
  );
  const outputs = steps.map(({ output, pointer }): Written => ({ reference: output, pointer: `${pointer}/output/0` }));
  const names = new Set<string>();
  const ids = new Set<string>();
  for (const { reference, pointer } of [...inputs, ...outputs]) {
    const { timeseriesId } = reference;
    const place = `${pointer}/timeseriesId`;
    const received = JSON.stringify(timeseriesId);
    const pattern = patternOf(timeseriesId);
    if (pattern === undefined ? timeseriesId.includes('*') : patternOf(pattern.after) !== undefined) {
      const suggestion = `say \`${timeseriesId.replaceAll(/\*|\{\w+\}.*\{\w+\}/g, '{n}')}\``;
      issues.push({ pointer: place, code: 'request.value', expected: EXPECTED, received, suggestion });
    } else if (pattern !== undefined) {
      names.add(pattern.name);
      ids.add(timeseriesId);
      if (names.size < 2 && ids.size <= PATTERNS_MAX) continue;
      const expected =
        names.size > 1 ? `the one name of the request, ${shown(names)}` : `at most ${PATTERNS_MAX} patterns`;
      issues.push({ pointer: place, code: 'request.value', expected, received });
      return undefined;
    }
  }
  const [name] = names;
  if (name === undefined) return undefined;
  for (const step of steps) checkOutput(step, name, issues);
  const results = items.flatMap(({ steps: own, metric, pointer }): Written[] => {
    const last = own.at(-1)?.output;
    return last === undefined || metric === undefined ? [] : [{ reference: { ...last, metric }, pointer }];
  });
  checkMeetings([...outputs, ...results], inputs, issues);
  return name;
}

const EXPECTED = 'an id, `*` alone for all, or a pattern with one name to fill in, such as `zone-{n}`';

function shown(names: ReadonlySet<string>): string {
  const [first = ''] = names;
  return first === '*' ? '`*`' : `\`{${first}}\``;
}

function checkOutput({ inputs, output, pointer }: RequestStep, name: string, issues: Issue[]): void {
  const read = inputs.find(({ timeseriesId }) => patternOf(timeseriesId) !== undefined);
  if ((read === undefined) === (patternOf(output.timeseriesId) === undefined)) return;
  const one = shown(new Set([name]));
  issues.push({
    pointer: `${pointer}/output/0/timeseriesId`,
    code: 'request.value',
    expected:
      read === undefined ? `an id without ${one}, which no input has` : `an id with ${one}, for each has a result`,
    received: JSON.stringify(output.timeseriesId),
    ...(read === undefined ? {} : { suggestion: `say \`${read.timeseriesId}\`` }),
  });
}

// Ids that are written alike are one series in any case.
function checkMeetings(outputs: readonly Written[], inputs: readonly Written[], issues: Issue[]): void {
  const byMetric = new Map<string, Map<string, string>>();
  const made = new Set(outputs.map(({ reference }) => seriesKey(reference)));
  const meeting = ({ reference: { timeseriesId, metric } }: Written): string | undefined => {
    const isPattern = patternOf(timeseriesId) !== undefined;
    for (const [other, pointer] of byMetric.get(metric) ?? []) {
      if (other === timeseriesId || !(isPattern || patternOf(other) !== undefined)) continue;
      if (canMeet(other, timeseriesId)) return `${seriesName({ timeseriesId, metric })}, and ${other} of ${pointer}`;
    }
    return undefined;
  };
  for (const output of outputs) {
    const received = meeting(output);
    const expected = 'outputs that cannot be one series';
    if (received !== undefined) issues.push({ pointer: output.pointer, code: 'request.duplicate', expected, received });
    const { timeseriesId, metric } = output.reference;
    const ofMetric = byMetric.get(metric) ?? new Map<string, string>();
    byMetric.set(metric, ofMetric.set(timeseriesId, ofMetric.get(timeseriesId) ?? output.pointer));
  }
  for (const input of inputs) {
    const received = made.has(seriesKey(input.reference)) ? undefined : meeting(input);
    if (received === undefined) continue;
    const expected = 'an input that is written as the output that gives it, or that no output can be';
    const suggestion = 'write both alike, or give the output another metric';
    issues.push({ pointer: input.pointer, code: 'request.conflict', expected, received, suggestion });
  }
}
