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
  expect(await limit('0')).toBe('query limit: expected at least 1, received 0');
});

it('a choice is one fault that names all that can be chosen', async () => {
  const message = await messageOf('/core/retention', { keep: 'P1D', kind: 'result' });
  expect(message).toBe('body kind: expected one of samples, results, received "result"');
});

it('a length has a limit', async () => {
  const message = await messageOf(`/core/timeseries/${'a'.repeat(300)}/samples`);
  expect(message).toMatch(/^path timeseriesId: expected at most 256 characters, received "a+/);
});
