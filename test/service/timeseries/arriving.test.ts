// Bodies over a real connection: with their heads in one packet, in pieces, or ahead of the answers before them.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestService, type TestService } from '../app.js';

const BODY_BYTES_MAX = 600;

describe('a JSON body', () => {
  let service: TestService;
  let url: string;
  let headers: { readonly authorization: string };

  beforeAll(async () => {
    service = await openTestService({ settings: { bodyBytesMax: BODY_BYTES_MAX } });
    url = await service.app.listen({ port: 0 });
    headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
  });
  afterAll(() => service.close());

  const bodyOf = (timeseriesId: string, count: number) =>
    JSON.stringify(
      Array.from({ length: count }, (_, i) => ({
        timeseriesId,
        timestamp: new Date(i * 1000).toISOString(),
        val: i / 7,
      })),
    );
  const requestOf = (body: string) =>
    `POST /core/samples HTTP/1.1\r\nhost: x\r\nauthorization: ${headers.authorization}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

  const storedOf = async (timeseriesId: string): Promise<readonly unknown[]> => {
    const answer = await service.app.inject({ url: `/core/timeseries/${timeseriesId}/samples`, headers });
    return answer.statusCode === 404 ? [] : answer.json().data;
  };

  let seriesCount = 0;
  // 2 to 6 samples fit; 20 do not, nor does an empty body.
  const counts = fc.array(fc.constantFrom(undefined, 2, 6, 20), { minLength: 1, maxLength: 6 });
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 });

  it('is stored or refused as a whole, and the next request answered, however the bytes arrive', async () => {
    await fc.assert(fc.asyncProperty(counts, cuts, check), { numRuns: 60 });
  });

  async function check(sampleCounts: readonly (number | undefined)[], places: readonly number[]): Promise<void> {
    const bodies = sampleCounts.map((count) => ({ count, timeseriesId: `series-${++seriesCount}` }));
    const text = bodies
      .map(({ count, timeseriesId }) => requestOf(count === undefined ? '' : bodyOf(timeseriesId, count)))
      .join('');
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.setNoDelay(true);
    let received = '';
    socket.on('data', (data) => {
      received += data;
    });
    await once(socket, 'connect');
    let from = 0;
    for (const until of [
      ...places.map((place) => Math.floor(place * text.length)).sort((a, b) => a - b),
      text.length,
    ]) {
      socket.write(text.slice(from, until));
      from = until;
      await turn();
    }
    const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
    await expect.poll(() => statuses().length, { interval: 2 }).toBe(bodies.length);
    expect(statuses()).toEqual(bodies.map(({ count }) => (count === undefined ? 400 : count === 20 ? 413 : 200)));
    socket.destroy();
    for (const { count = 0, timeseriesId } of bodies) {
      expect(await storedOf(timeseriesId)).toHaveLength(count === 20 ? 0 : count);
    }
  }
});
