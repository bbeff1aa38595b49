// The JSON Schema that editors use accepts what createPlan accepts and refuses what it refuses.
import { readdirSync, readFileSync } from 'node:fs';
import { Compile } from 'typebox/schema';
import { describe, expect, test } from 'vitest';
import { createPlan, RequestError } from '../../src/index.js';
import { operations } from '../../src/inspect/index.js';
import { requestSchema } from '../../src/plan/request-schema.js';

const schema = Compile(requestSchema());
const series = { timeseriesId: 'a', metric: 'Raw' };

const session = { type: 'session', gap: 'PT1H' };

function requestOf(operation: string, parameters: unknown, inputCount = 1): unknown[] {
  const input = [series, { ...series, metric: 'B' }].slice(0, inputCount);
  const step = { operation, input, output: [{ ...series, metric: 'C' }], parameters };
  return [{ metric: 'C', processingType: 'batch', operations: [step] }];
}

function isPlanned(request: unknown): boolean {
  try {
    createPlan(request);
    return true;
  } catch (error) {
    if (error instanceof RequestError) return false;
    throw error;
  }
}

function at(schema: unknown, path: string): unknown {
  return path.split('.').reduce((found, key) => (found as Record<string, unknown>)[key], schema);
}

function fieldsOf(path: string, schema: unknown): { place: string; text: string | undefined }[] {
  const { properties } = schema as { properties: Record<string, { description?: string }> };
  return Object.entries(properties).map(([name, { description }]) => ({ place: `${path}/${name}`, text: description }));
}

describe('the schema of a request', () => {
  test('describes every field of a request and every parameter, as editors show it', () => {
    const { $defs, description } = requestSchema() as { $defs: Record<string, object>; description: string };
    expect(description).toContain('which time zones there are');
    const fields = ['items.items', 'series', 'step'].flatMap((path) => fieldsOf(path, at($defs, path)));
    const steps = (at($defs, 'step') as { allOf: { if: object; then: object }[] }).allOf;
    const parameters = steps.flatMap((step) => {
      const [name] = at(step, 'if.properties.operation.enum') as string[];
      return fieldsOf(name!, at(step, 'then.properties.parameters'));
    });
    expect([fields.length >= 10, parameters.length > 100]).toEqual([true, true]);
    expect([...fields, ...parameters].filter(({ text }) => text === undefined).map(({ place }) => place)).toEqual([]);
  });

  test('says which functions are extensions of the interface, as the list of operations does', () => {
    const extensions = ['Mode', 'DistinctCount', 'Increase', 'Rate', 'Slope', 'TimeOfMin', 'TimeOfMax', 'Integral'];
    const all = [...extensions, 'Coverage', 'TimeInState', 'Transitions', 'Covariance', 'Correlation'];
    const schemaOf = (value: unknown): string => JSON.stringify(value);
    expect(operations.get('Aggregate')?.parameters).toMatchObject({
      properties: { function: { 'x-extensions': all } },
    });
    expect(schemaOf(requestSchema())).toContain(`"x-extensions":${schemaOf(all)}`);
  });

  test.each([...operations.values()].map((one) => [one.name, one] as const))(
    '%s: accepts its examples',
    (name, { examples }) => {
      for (const { parameters, inputs } of examples) {
        const request = requestOf(name, parameters, inputs.length);
        expect([isPlanned(request), schema.Check(request)]).toEqual([true, true]);
        expect(schema.Check(requestOf(name, { ...parameters, unknown: 1 }, inputs.length))).toBe(false);
      }
    },
  );

  test('accepts a duration in place of the name of an interval', () => {
    const request = requestOf('Aggregate', { function: 'WeightedAverage', interval: 'PT15M' });
    expect([schema.Check(request), isPlanned(request)]).toEqual([true, true]);
  });

  test('accepts the request files of the documentation', () => {
    const folder = new URL('../../docs/examples/', import.meta.url);
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    for (const name of files) {
      const request: unknown = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
      expect([name, schema.Check(request)]).toEqual([name, isPlanned(request)]);
    }
    expect(files.length).toBeGreaterThan(2);
  });

  test('lets a file name its schema', () => {
    const items = requestOf('Abs', {});
    const file = { $schema: './node_modules/windrow/dist/request.schema.json', items };
    expect([schema.Check(file), isPlanned(file)]).toEqual([true, true]);
    expect([schema.Check({ ...file, more: 1 }), isPlanned({ ...file, more: 1 })]).toEqual([false, false]);
  });

  test.each([
    ['an unknown operation', requestOf('Agregate', {})],
    ['no list', requestOf('Abs', {})[0]],
    ['nothing', []],
    ['a parameter that is missing', requestOf('Aggregate', { function: 'Average' })],
    ['an interval and a window', requestOf('Aggregate', { function: 'Sum', interval: 'Hourly', window: session })],
    ['a window without its size', requestOf('Aggregate', { function: 'Sum', window: { type: 'sliding' } })],
    ['a window with more', requestOf('Aggregate', { function: 'Sum', window: { ...session, size: 'PT1H' } })],
    ['a function that there is not', requestOf('Aggregate', { function: 'Averge', interval: 'Hourly' })],
    ['a frequency that there is not', [{ ...(requestOf('Abs', {})[0] as object), frequency: '15M' }]],
  ])('%s is refused by both', (_, request) => {
    expect([schema.Check(request), isPlanned(request)]).toEqual([false, false]);
  });
});
