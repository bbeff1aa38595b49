import { describe, expect, it } from 'vitest';
import { createPlan } from '../../src/index.js';
import type { Draft } from '../../src/workbench/request/draft.js';
import { changeInput, removeStep, renameResult } from '../../src/workbench/request/edit.js';

it.each([
  { align: 'hold', maxhold: 'PT1H' },
  { align: 'linear', maxgap: 'PT1H' },
])('a step that loses its second input keeps nothing of how the two met: $align', (parameters) => {
  const of = (metric: string) => ({ timeseriesId: 'room', metric });
  const step = { operation: 'Add', input: [of('Raw'), of('Other')], output: [of('Total')], parameters };
  const draft = [{ metric: 'Total', processingType: 'batch', operations: [step] }];
  const changed = changeInput(draft, { item: 0, step: 0 }, 1, undefined);
  expect(changed[0]?.operations[0]).toMatchObject({ input: [of('Raw')], parameters: { scalar: 1 } });
  expect(createPlan(JSON.parse(JSON.stringify(changed))).steps[0]?.parameters).toEqual({ scalar: 1 });
});

const of = (metric: string) => ({ timeseriesId: 'room', metric });

function itemOf(metric: string, ...input: string[]): Draft[number] {
  const step = { operation: 'Abs', input: input.map(of), output: [of(metric)], parameters: {} };
  return { metric, processingType: 'batch', operations: [step] };
}

const inputsOf = (draft: Draft) => draft.map(({ operations }) => operations[0]?.input.map(({ metric }) => metric));

it('what read the step before the last one reads the result that it becomes when the last one is removed', () => {
  const step = (operation: string, input: string, output: string) => {
    return { operation, input: [of(input)], output: [of(output)], parameters: {} };
  };
  const operations = [step('Round', 'Raw', 'Rounded'), step('Abs', 'Rounded', 'Size')];
  const draft = [{ metric: 'Size', processingType: 'batch', operations }, itemOf('Other', 'Rounded')];
  const left = removeStep(draft, { item: 0, step: 1 });
  expect(left[0]!.operations).toEqual([{ ...operations[0], output: [of('Size')] }]);
  expect(inputsOf(left)).toEqual([['Raw'], ['Size']]);
});

it('where the last step gave a series of another id, its readers follow, too', () => {
  const round = { operation: 'Round', input: [of('Raw')], output: [of('Rounded')], parameters: {} };
  const other = { timeseriesId: 'hall', metric: 'Size' };
  const abs = { operation: 'Abs', input: [of('Rounded')], output: [other], parameters: {} };
  const reader = { ...itemOf('Other', 'Rounded'), operations: [{ ...round, input: [other], output: [of('Other')] }] };
  const draft = [{ metric: 'Size', processingType: 'batch', operations: [round, abs] }, reader];
  const [first, second] = removeStep(draft, { item: 0, step: 1 });
  expect(first!.operations[0]!.output).toEqual([of('Size')]);
  expect(second!.operations[0]!.input).toEqual([of('Size')]);
});

describe('a result that is renamed', () => {
  const draft = [itemOf('Ten', 'Raw'), itemOf('Hundred', 'Raw'), itemOf('Twice', 'Ten')];

  it('is followed by the steps that read it', () => {
    const renamed = renameResult(draft, { item: 0, step: 0 }, 'Tenfold', [of('Raw')]);
    expect(renamed.map(({ metric }) => metric)).toEqual(['Tenfold', 'Hundred', 'Twice']);
    expect(inputsOf(renamed)).toEqual([['Raw'], ['Raw'], ['Tenfold']]);
  });

  it('takes no readers of another result, or of a file, along', () => {
    const taken = renameResult(draft, { item: 1, step: 0 }, 'Ten', [of('Raw')]);
    const renamed = renameResult(taken, { item: 1, step: 0 }, 'Total', [of('Raw')]);
    expect(renamed.map(({ metric }) => metric)).toEqual(['Ten', 'Total', 'Twice']);
    expect(inputsOf(renamed)).toEqual([['Raw'], ['Raw'], ['Ten']]);
    const raw = renameResult(draft, { item: 1, step: 0 }, 'Raw', [of('Raw')]);
    expect(inputsOf(renameResult(raw, { item: 1, step: 0 }, 'RawAbs', [of('Raw')]))).toEqual(inputsOf(draft));
  });
});

it('a first input is chosen, also where another step has none', () => {
  const changed = changeInput([itemOf('A', 'Raw'), itemOf('B')], { item: 0, step: 0 }, 0, {
    timeseriesId: 'hall',
    metric: 'Raw',
  });
  expect(changed[0]?.operations[0]?.input).toEqual([{ timeseriesId: 'hall', metric: 'Raw' }]);
});
