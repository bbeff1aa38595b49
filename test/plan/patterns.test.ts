import { expect, test } from 'vitest';
import { openEvery, planEvery, runEvery } from '../../src/engine/every/index.js';
import { type Issue, openStream, RequestError, runBatch, type SeriesReference } from '../../src/index.js';
import { explain } from '../../src/inspect/index.js';

const series = (timeseriesId: string, metric = 'Raw'): SeriesReference => ({ timeseriesId, metric });

function item(input: readonly SeriesReference[], output: SeriesReference) {
  const operation = input.length === 1 ? 'Abs' : 'Sub';
  return { metric: output.metric, processingType: 'batch', operations: [{ operation, input, output: [output] }] };
}

function issuesOf(request: unknown): readonly Issue[] {
  try {
    planEvery(request);
  } catch (error) {
    if (error instanceof RequestError) return error.issues;
    throw error;
  }
  return [];
}

const one = (from: string, to: string) => [item([series(from)], series(to, 'M'))];

test.each([
  ['a star in an id', one('zone-*', 'zone-*'), '/0/operations/0/input/0/timeseriesId', 'say `zone-{n}`'],
  ['two names', one('{a}-{b}', '{a}-{b}'), '/0/operations/0/input/0/timeseriesId', 'say `{n}`'],
  ['an output without the name', one('zone-{n}', 'zones'), '/0/operations/0/output/0/timeseriesId', 'say `zone-{n}`'],
  ['a name that no input has', one('zone', 'zone-{n}'), '/0/operations/0/output/0/timeseriesId', undefined],
  ['another name', one('zone-{n}', 'zone-{m}'), '/0/operations/0/output/0/timeseriesId', undefined],
  [
    'results that could be one series',
    [item([series('a-{n}')], series('a-{n}', 'M')), item([series('b')], series('a-1', 'M'))],
    '/1/operations/0/output/0',
    undefined,
  ],
  [
    'a result that could be a source',
    [item([series('{n}', 'M')], series('{n}-x', 'M'))],
    '/0/operations/0/input/0',
    'write both alike, or give the output another metric',
  ],
])('%s is refused, with its place and a suggestion', (_, request, pointer, suggestion) => {
  const [issue] = issuesOf(request);
  expect({ pointer: issue?.pointer, suggestion: issue?.suggestion }).toEqual({ pointer, suggestion });
});

test('braces and stars that form no pattern are plain ids; a plan without patterns is that of createPlan', () => {
  const plan = planEvery(one('{3F2504E0-4F89}', '{}'));
  expect(plan.every).toBeUndefined();
  expect(plan.sources).toEqual([series('{3F2504E0-4F89}')]);
});

test('explain names patterns as they are written', () => {
  expect(explain(planEvery(one('zone-{n}', 'zone-{n}')))).toContain('result  zone-{n}/M from step 1');
});

test('a runner of plain ids refuses a plan with patterns and names what runs it', () => {
  const plan = planEvery(one('*', '*'));
  for (const open of [() => runBatch(plan, []), () => openStream(plan)]) expect(open).toThrow('windrow/every');
  expect(() => runEvery(plan, [])).toThrow('series that match */Raw');
  expect(openEvery(plan).close().series).toEqual([]);
});
