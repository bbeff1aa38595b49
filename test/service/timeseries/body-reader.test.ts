import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { createThreadReader } from '../../../src/service/timeseries/write/body-reader.js';
import { openTestService, type TestService } from '../app.js';

// Large JSON bodies are read in a thread; nobody may notice but by the time that it takes.

const url = new URL('../../../dist/cli/body-worker.js', import.meta.url);
const COUNT = 4000;
const opened: TestService[] = [];

async function open(workerCount: number) {
  const service = await openTestService({ settings: { workerCount } });
  opened.push(service);
  const headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
  const post = (body: string, more = {}) =>
    service.app.inject({
      method: 'POST',
      url: '/core/samples',
      headers: { ...headers, 'content-type': 'application/json', ...more },
      body,
    });
  const read = async (id: string) => {
    const { body } = await service.app.inject({ url: `/core/timeseries/${id}/samples`, headers });
    return body;
  };
  return { post, read };
}

afterEach(async () => {
  for (const service of opened.splice(0)) await service.close();
});

/** Samples of some series, with gaps, times that come again and go back, and every form of what may be there. */
function samples(change: (sample: Record<string, unknown>, i: number) => void = () => {}): string {
  const rows = Array.from({ length: COUNT }, (_, i) => {
    const minute = i % 7 === 3 ? COUNT - i : i;
    const sample: Record<string, unknown> = {
      timeseriesId: `pump-${i % 3}`,
      timestamp: i % 5 === 0 ? minute * 60_000 : new Date(minute * 60_000).toISOString(),
      val: i % 11 === 0 ? null : Math.sin(i) * 10 ** ((i % 30) - 15),
    };
    change(sample, i);
    return sample;
  });
  return JSON.stringify(rows);
}

describe.runIf(existsSync(url))('a large body of JSON', () => {
  it('is stored the same whether a thread reads it or none, and answered the same', async () => {
    const [beside, here] = [await open(1), await open(0)];
    const body = samples();
    expect(body.length).toBeGreaterThan(100_000);
    const answers = [await beside.post(body), await here.post(body)];
    expect(answers[0]!.statusCode).toBe(200);
    expect(answers[0]!.json()).toEqual(answers[1]!.json());
    expect(answers[0]!.json().data.missing).toBeGreaterThan(0);
    for (const id of ['pump-0', 'pump-1', 'pump-2']) expect(await beside.read(id)).toBe(await here.read(id));
  });

  it('that has a fault, a key twice, a name too long or no end is refused with the same words', async () => {
    const [beside, here] = [await open(1), await open(0)];
    const faulty = samples((sample, i) => {
      if (i === 3210) sample.val = 'high';
    });
    const bodies = [
      faulty,
      samples().replace('"val":', '"val":1,"val":'),
      samples((sample, i) => {
        sample.timeseriesId = `${'long '.repeat(60)}${i}`;
      }),
      samples().slice(0, -20),
      `{"samples":${samples()}}`,
      samples().replace('"pump-1"', '"pump-\\ud800"'),
    ];
    for (const body of bodies) {
      const [one, other] = [await beside.post(body), await here.post(body)];
      expect(one.statusCode).toBe(400);
      expect(one.json()).toEqual(other.json());
    }
  });

  it('of a queue is taken once', async () => {
    const { post } = await open(1);
    const origin = { source: 'queue', partition: '0', offset: '7' };
    expect((await post(samples(), origin)).json().data).toMatchObject({ isRepeated: false });
    expect((await post(samples(), origin)).json().data).toMatchObject({ isRepeated: true, samples: 0 });
  });

  it('is left to the caller once the reader is closed, and where it is small', async () => {
    const reader = createThreadReader(url);
    const bytes = Buffer.from(samples());
    expect((await reader.read(bytes, {}, 10))!.changes).toHaveLength(3);
    expect(await reader.read(bytes, {}, 2)).toBeUndefined();
    expect(await reader.read(Buffer.from('[]'), {}, 10)).toBeUndefined();
    await reader.close();
    expect(await reader.read(bytes, {}, 10)).toBeUndefined();
  });
});
