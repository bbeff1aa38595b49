import { describe, expect, test } from 'vitest';
import { parseInstant } from '../../src/core/instant.js';
import { createPlan, openStream, runBatch, type Series } from '../../src/index.js';
import { operationsByName } from '../../src/operations/index.js';
import { operations } from '../../src/operations/info.js';
import type { Example, ExampleSample, Operation } from '../../src/operations/operation.js';
import { aboutByName, describeStep, textsOf } from '../../src/operations/texts/index.js';
import { cutInTime, joinParts } from '../conformance/conformance.js';
import { runOracle } from '../oracle/index.js';

type Pair = readonly [timeMs: number, value: number];

const OUTPUT = { timeseriesId: 'out', metric: 'Result' };

function timeOf(text: string): number {
  const timeMs = parseInstant(/^\d\d:/.test(text) ? `2024-03-01T${text}Z` : text);
  if (timeMs === undefined) throw new Error(`the example has the time ${text}`);
  return timeMs;
}

function seriesOf(samples: readonly ExampleSample[], index: number): Series {
  return {
    timeseriesId: `in${index}`,
    metric: 'Raw',
    timeMs: Float64Array.from(samples, ([text]) => timeOf(text)),
    value: Float64Array.from(samples, ([, value]) => value),
  };
}

function requestOf({ name }: Operation, { parameters, inputs }: Example): unknown[] {
  const input = inputs.map((_, index) => ({ timeseriesId: `in${index}`, metric: 'Raw' }));
  const step = { operation: name, input, output: [OUTPUT], parameters };
  return [{ metric: 'Result', processingType: 'stream', operations: [step] }];
}

function pairsOf({ timeMs, value }: Series): Pair[] {
  return [...timeMs].map((t, i) => [t, value[i]!]);
}

const examples = [...operationsByName.values()].flatMap((operation) =>
  operations
    .get(operation.name)!
    .examples.map((example) => [`${operation.name}: ${example.title}`, operation, example] as const),
);

describe('an example gives the results it states', () => {
  test.each(examples)('%s', (_title, operation, example) => {
    const request = requestOf(operation, example);
    const inputs = example.inputs.map(seriesOf);
    const expected = example.output.map(([text, value]): Pair => [timeOf(text), value]);
    const plan = createPlan(request);
    expect(pairsOf(runBatch(plan, inputs).series[0]!)).toEqual(expected);
    for (const chunkLength of [1, 2, 7]) {
      const stream = openStream(plan);
      const parts = cutInTime(inputs, chunkLength).flatMap((part) => stream.push(part));
      expect(pairsOf(joinParts(OUTPUT, [...parts, ...stream.close().series]))).toEqual(expected);
    }
    const oracle = runOracle(
      request,
      inputs.map((series) => ({ ...series, samples: pairsOf(series).map(([t, x]): [number, number] => [t, x]) })),
    );
    expect(oracle.series[0]!.samples).toEqual(expected);
  });
});

test('the list of texts names every operation once, in the order of the interface', () => {
  expect(Object.keys(aboutByName)).toEqual([...operationsByName.keys()]);
});

test.each([...operationsByName.values()].map((operation) => [operation.name, operation] as const))(
  '%s describes each of its parameters and no other',
  (name, operation) => {
    expect(Object.keys(textsOf(name).parameters).sort()).toEqual(Object.keys(operation.parameters).sort());
  },
);

test.each(Object.entries(aboutByName))(
  '%s has at least three examples, each with its own title',
  (_name, [{ examples: own }]) => {
    expect(own.length).toBeGreaterThanOrEqual(3);
    expect(new Set(own.map(({ title }) => title)).size).toBe(own.length);
  },
);

test.each([...operationsByName.values()].map((operation) => [operation.name, operation] as const))(
  '%s explains every example',
  (_name, operation) => {
    for (const example of operations.get(operation.name)!.examples) {
      const plan = createPlan(requestOf(operation, example));
      const described = describeStep(operation.name, plan.steps[0]!.parameters);
      expect(described.does).toMatch(/^[a-z1(]/);
      for (const words of [described.does, described.keeps, described.final])
        expect(words).not.toMatch(/undefined|NaN|\[object/);
    }
  },
);
