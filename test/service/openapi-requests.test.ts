// The bodies that /openapi.json describes are those that the service takes: gateways and generated clients go by it.
import { Compile } from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/inspect/index.js';
import { createAdministration } from '../../src/service/identity/administration.js';
import { shownStep } from '../../src/service/operations/shown-step.js';
import { openTestService, type TestService } from './app.js';

let service: TestService;
let headers: Record<string, string>;
let document: { readonly components: object; readonly paths: Readonly<Record<string, unknown>> };

beforeAll(async () => {
  service = await openTestService();
  const client = await service.addClient({ organisation: 'acme', scopes: 'core_read core_write core_admin' });
  const collection = { organisation: 'acme', collectionId: 'main', clientIds: [client.clientId] };
  await createAdministration(service.service.context).addCollection(collection);
  headers = { ...(await service.bearer(client)), ercollectionid: 'main', 'content-type': 'application/json' };
  document = (await service.app.inject({ url: '/openapi.json' })).json();
});

afterAll(() => service.close());

function schemaOf(path: string) {
  const route = Object(document.paths[path]).post;
  // References are from the root of the document.
  return Compile({ ...route.requestBody.content['application/json'].schema, components: document.components });
}

async function isTaken(url: string, body: unknown): Promise<boolean> {
  const { statusCode } = await service.app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) });
  expect([200, 201, 202, 400]).toContain(statusCode);
  return statusCode !== 400;
}

const input = { timeseriesId: 'in', metric: 'Raw' };
const inputs = [input, { ...input, metric: 'B' }, { ...input, metric: 'C' }];
const output = { timeseriesId: 'out', metric: 'Result' };

function itemOf(operation: string, parameters: unknown, inputCount = 1): Record<string, unknown> {
  const step = { operation, input: inputs.slice(0, inputCount), output: [output], parameters };
  return { metric: 'Result', processingType: 'Batch', operations: [step] };
}

describe('a request of operations', () => {
  it.each([...operations.values()].map((one) => [one.name, one] as const))(
    '%s',
    async (name, { aliases, examples }) => {
      const schema = schemaOf('/operations');
      for (const { parameters, inputs: series } of examples) {
        for (const spelling of [name, ...aliases]) {
          const request = [itemOf(spelling, parameters, series.length)];
          const step = { operation: spelling, parameters };
          expect(shownStep({ ...step, operation: spelling.toUpperCase() })).toEqual(step);
          expect([schema.Check(request), await isTaken('/operations?dryRun=true', request)]).toEqual([true, true]);
        }
        const unknown = [itemOf(name, { ...parameters, unknown: 1 }, series.length)];
        expect([schema.Check(unknown), await isTaken('/operations?dryRun=true', unknown)]).toEqual([false, false]);
      }
    },
  );

  const good = itemOf('Round', { roundtodigits: 1 });
  const named = (metric: string) => ({
    ...good,
    metric,
    operations: [{ operation: 'Abs', input: [input], output: [{ ...output, metric }] }],
  });
  it.each<[string, unknown, boolean]>([
    [
      'every spelling of its type',
      ['stream', 'Stream', 'batch', 'Batch'].map((t) => [{ ...good, processingType: t }]),
      true,
    ],
    ['a frequency', [[{ ...good, frequency: 'PT15M' }]], true],
    ['a name of 256 characters', [[named('x'.repeat(256))]], true],
    ['a name of 257 characters', [[named('x'.repeat(257))]], false],
    ['another frequency', [[{ ...good, frequency: 'PT5M' }]], false],
    ['another field', [[{ ...good, name: 'x' }]], false],
    ['a step with another field', [[{ ...good, operations: [{ ...Object(good.operations)[0], note: '' }] }]], false],
    ['no step', [[{ ...good, operations: [] }]], false],
    ['no item', [[]], false],
    ['an object in place of the array', [good], false],
    ['an operation that there is not', [[itemOf('Rund', {})]], false],
    ['two inputs of one', [[itemOf('Abs', {}, 2)]], false],
    ['a parameter missing', [[itemOf('Round', {})]], false],
    ['a frequency of a stream', [[{ ...good, processingType: 'stream', frequency: 'PT15M' }]], false],
    ['a result that is called Raw', [[named('Raw')]], false],
    ['an interval as a duration', [[itemOf('Aggregate', { function: 'WeightedAverage', interval: 'PT15M' })]], true],
  ])('%s', async (_, requests, isGood) => {
    const schema = schemaOf('/core/operations');
    for (const request of requests as readonly unknown[]) {
      const taken = await isTaken('/core/operations?dryRun=true', request);
      expect([schema.Check(request), taken]).toEqual([isGood, isGood]);
    }
  });
});

it('a request whose parameters and inputs do not fit together is left to the planner', async () => {
  const request = [itemOf('Add', { scalar: 1 }, 2)];
  expect([schemaOf('/operations').Check(request), await isTaken('/operations?dryRun=true', request)]).toEqual([
    true,
    false,
  ]);
});

const sample = { timestamp: '2024-01-31T12:00:00Z', val: 1 };

describe.each([
  ['/core/samples', '/core/samples', { timeseriesId: 'a' }],
  ['/core/timeseries/{timeseriesId}/samples', '/core/timeseries/a/samples', {}],
])('samples for %s', (path, url, named) => {
  it.each<[string, unknown, boolean]>([
    ['a sample', { ...named, ...sample }, true],
    ['without a metric', { ...named, ...sample, metric: null }, true],
    ['of a metric', { ...named, ...sample, metric: 'B' }, true],
    ['missing', { ...named, ...sample, val: null }, true],
    ['with a number for its time', { ...named, ...sample, timestamp: 1_706_702_400 }, true],
    ['without a value', { ...named, timestamp: sample.timestamp }, false],
    ['without a time', { ...named, val: 1 }, false],
    ['with another field', { ...named, ...sample, unit: 'K' }, false],
    ['with a text for its value', { ...named, ...sample, val: '1' }, false],
    ['with a metric of 257 characters', { ...named, ...sample, metric: 'x'.repeat(257) }, false],
    ['with an empty metric', { ...named, ...sample, metric: '' }, false],
    ['with a number for its name', { ...sample, timeseriesId: 1 }, false],
  ])('%s', async (_, one, isGood) => {
    expect([schemaOf(path).Check([one]), await isTaken(url, [one])]).toEqual([isGood, isGood]);
  });

  it('a sample alone', async () => {
    expect([schemaOf(path).Check({ ...named, ...sample }), await isTaken(url, { ...named, ...sample })]).toEqual([
      false,
      false,
    ]);
  });
});

describe('events', () => {
  it.each<[string, unknown, boolean]>([
    ['one', { name: 'a' }, true],
    ['several', [{ name: 'a' }, { name: 'b', latitude: 1.5, isUserEvent: null }], true],
    ['a date without a time', { occurredAt: '2024-01-31' }, true],
    ['its origin', { sourceEvent: { Type: 'x', Event: { any: 1 } }, eventDetails: { any: [1] } }, true],
    ['an id of 256 characters', { id: 'x'.repeat(256) }, true],
    ['an id of 257 characters', { id: 'x'.repeat(257) }, false],
    ['an empty id', { id: '' }, false],
    ['another field', { nme: 'a' }, false],
    ['an origin with another field', { sourceEvent: { Type: 'x', Event: {}, more: 1 } }, false],
    ['an origin without an event', { sourceEvent: { Type: 'x' } }, false],
    ['a number for its name', { name: 1 }, false],
    ['none', [], false],
  ])('%s', async (_, body, isGood) => {
    expect([schemaOf('/core/events').Check(body), await isTaken('/core/events', body)]).toEqual([isGood, isGood]);
  });
});
