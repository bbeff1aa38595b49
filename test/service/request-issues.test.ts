// What is said of a request that does not fit its schema: what was expected and received, once for each fault.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestService, type TestService } from './app.js';

let service: TestService;
let headers: Record<string, string>;

beforeAll(async () => {
  service = await openTestService();
  headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
});
afterAll(() => service.close());

async function messageOf(url: string, payload?: object): Promise<string> {
  const method = payload === undefined ? 'GET' : 'POST';
  const answer = await service.app.inject({ method, url, headers, ...(payload && { payload }) });
  expect(answer.statusCode).toBe(400);
  return answer.json().status.message;
}

it('a number that is none, or not whole, is refused and not made to fit', async () => {
  const limit = (text: string) => messageOf(`/core/timeseries/a/samples?limit=${text}`);
  expect(await limit('')).toBe('query limit: expected an integer, received ""');
  expect(await limit('1.5')).toBe('query limit: expected an integer, received "1.5"');
  for (const text of ['0x10', '1e1', '%201', '%2B1']) {
    const received = JSON.stringify(decodeURIComponent(text));
    expect(await limit(text)).toBe(`query limit: expected an integer, received ${received}`);
  }
  expect(await limit('0')).toBe('query limit: expected at least 1, received 0');
});

it('a flag is true or false, by one rule for all', async () => {
  for (const text of ['1', 'TRUE', '']) {
    const message = (name: string) => `query ${name}: expected true or false, received "${text}"`;
    expect(await messageOf(`/core/timeseries/a/samples?finalOnly=${text}`)).toBe(message('finalOnly'));
    expect(await messageOf(`/operations?dryRun=${text}`, [])).toBe(message('dryRun'));
  }
});

it('a parameter that no endpoint has is refused, whatever its name', async () => {
  for (const name of ['constructor', '__proto__', 'prototype', 'toString']) {
    const message = `query ${name}: expected one of timeseriesId, received "${name}"`;
    expect(await messageOf(`/core/timeseries?${name}=1`)).toBe(message);
    expect(await messageOf(`/core/timeseries?timeseriesId=a&${name}=1`)).toBe(message);
  }
});

it('a choice is one fault that names all that can be chosen', async () => {
  const message = await messageOf('/core/retention', { keep: 'P1D', kind: 'result' });
  expect(message).toBe('body kind: expected one of samples, results, received "result"');
});

it('a name that no series can have is told with its place, also of an input and of a step between', async () => {
  const of = (timeseriesId: string, metric: string) => [{ timeseriesId, metric }];
  const operations = [
    { operation: 'Abs', input: of('a\u0000', 'Raw'), output: of('a', 'm'.repeat(300)) },
    { operation: 'Abs', input: of('a', 'm'.repeat(300)), output: of('a\ud800', 'Result') },
  ];
  const payload = [{ metric: 'Result', processingType: 'stream', operations }];
  const answer = await service.app.inject({ method: 'POST', url: '/operations', headers, payload });
  expect(answer.statusCode).toBe(400);
  const { issues } = answer.json().data;
  const expected = 'a text of 1 to 256 characters, none of them a control character';
  expect(issues.map((one: { pointer: string; expected: string }) => [one.pointer, one.expected])).toEqual([
    ['/0/operations/0/input/0/timeseriesId', expected],
    ['/0/operations/0/output/0/metric', expected],
    ['/0/operations/1/input/0/metric', expected],
    ['/0/operations/1/output/0/timeseriesId', expected],
  ]);
});

it('a length has a limit', async () => {
  const message = await messageOf(`/core/timeseries/${'a'.repeat(300)}/samples`);
  expect(message).toMatch(/^path timeseriesId: expected at most 256 characters, received "a+/);
});

it('a query that is not percent-encoded UTF-8 is refused with its parameter, and stores nothing', async () => {
  const [sample] = [{ timeseriesId: 'a', timestamp: '2026-01-01', val: 1 }];
  for (const [text, received] of [
    ['%', '%'],
    ['100%25%zz', '100%25%zz'],
    ['b%FCro', 'b%FCro'],
    ['%ED%A0%80', '%ED%A0%80'],
  ]) {
    expect(await messageOf(`/core/samples?metric=${text}`, [sample!])).toBe(
      `query metric: expected percent-encoded UTF-8, a % itself as %25, received "${received}"`,
    );
  }
  expect(await messageOf('/core/samples?timeseries_ids=a&%zz=1')).toMatch(/^query %zz: /);
  const listed = await service.app.inject({ url: '/core/timeseries', headers });
  expect(listed.json().data).toEqual([]);
  const payload = [sample!];
  const url = '/core/samples?metric=100%25+b%C3%BCro';
  expect((await service.app.inject({ method: 'POST', url, headers, payload })).statusCode).toBe(200);
  const { data } = (await service.app.inject({ url: '/core/timeseries', headers })).json();
  expect(data[0].metrics[0].metric).toBe('100% büro');
});

it('a path with NUL is refused with its parameter, and not with a column of the store', async () => {
  for (const [path, name] of [
    ['operations', 'itemId'],
    ['status', 'transactionId'],
  ]) {
    const message = await messageOf(`/core/${path}/a%00`);
    expect(message).toBe(`path ${name}: expected text without NUL (%00), received "a\\u0000"`);
  }
  const answer = await service.app.inject({ method: 'DELETE', url: '/core/events/%00', headers });
  expect(answer.json().status.message).toMatch(/^path id: /);
});
