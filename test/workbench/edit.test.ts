import { expect, it } from 'vitest';
import { createPlan } from '../../src/index.js';
import { changeInput } from '../../src/workbench/request/edit.js';

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
