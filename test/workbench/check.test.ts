import { expect, it } from 'vitest';
import { createPlan, RequestError } from '../../src/index.js';
import { wordsOf } from '../../src/workbench/formats/reading.js';
import { checkDraft } from '../../src/workbench/request/check.js';
import { type Draft, readDraft } from '../../src/workbench/request/draft.js';

const reference = (timeseriesId: string, metric = 'Raw') => ({ timeseriesId, metric });

it('a plain step of an item with a pattern comes once, and so does its result', () => {
  const round = {
    operation: 'Round',
    input: [reference('outside')],
    output: [reference('outside', 'Rounded')],
    parameters: { roundtodigits: 1 },
  };
  const sub = {
    operation: 'Sub',
    input: [reference('zone-{n}'), reference('outside', 'Rounded')],
    output: [reference('zone-{n}', 'Excess')],
    parameters: {},
  };
  const draft: Draft = [{ metric: 'Excess', processingType: 'batch', operations: [round, sub] }];
  const loaded = ['zone-1', 'zone-2', 'outside'].map((id) => reference(id));
  const { issues, request, results } = checkDraft(draft, 'UTC', loaded);
  expect(issues).toEqual([]);
  expect(createPlan(request as unknown).steps.map(({ output }) => output.timeseriesId)).toEqual([
    'outside',
    'zone-1',
    'zone-2',
  ]);
  expect(results).toEqual([reference('zone-1', 'Excess'), reference('zone-2', 'Excess')]);
});

it('a series of a file does not stand in for the result of a step at fault', () => {
  const itemOf = (metric: string, input: string, parameters: object): Draft[number] => {
    const operations = [
      {
        operation: 'Round',
        input: [reference('a', input)],
        output: [reference('a', metric)],
        parameters: { ...parameters },
      },
    ];
    return { metric, processingType: 'batch', operations };
  };
  const draft = [
    itemOf('M', 'Raw', { roundtodigits: 'many' }),
    itemOf('D', 'M', { roundtodigits: 1 }),
    itemOf('E', 'Raw', { roundtodigits: 1 }),
  ];
  const { issues, steps } = checkDraft(draft, 'UTC', [reference('a'), reference('a', 'M')]);
  expect(issues).toHaveLength(1);
  expect(steps.map(({ metric }) => metric)).toEqual(['E']);
});

it.each([[[]], ['x'], [5], [false], [null]])(
  'parameters that are %j are refused, as the command refuses them',
  (parameters) => {
    const request = [
      {
        metric: 'M',
        processingType: 'batch',
        operations: [{ operation: 'Abs', input: [reference('a')], output: [reference('a', 'M')], parameters }],
      },
    ];
    expect(() => createPlan(request as unknown)).toThrow(RequestError);
    expect(readDraft(request)).toEqual({ problem: expect.stringContaining('/0/operations') });
  },
);

it('each value of a list has the flag before it, so that none is taken for another flag', () => {
  expect(wordsOf({ states: ['on=1', '---=0'], decimal: ',' })).toEqual([
    ...['--states', 'on=1', '--states', '---=0'],
    ...['--decimal', ','],
  ]);
});
