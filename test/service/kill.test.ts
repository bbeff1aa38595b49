// A service killed at a random moment and started again: everything it acknowledged is there, complete.

import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPlan, runBatch, type Series } from '../../src/index.js';
import { FrameReader, writeFrame } from '../../src/service/timeseries/columns-format.js';
import { addClient, type Serving, serve, temporaryFolder, tokenOf } from './serving.js';

const ROUNDS = 3;
const quiet = ['--log-level', 'error'];
const START_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
/** Set SEED to repeat the same moments. */
const seed = Number(process.env.SEED ?? randomInt(2 ** 31));

// mulberry32; only moments depend on it.
function createRandom(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function killAfter(server: Serving, ms: number): Promise<void> {
  await wait(ms);
  server.child.kill('SIGKILL');
  await server.ended;
}

type Headers = Record<string, string>;

async function send(url: string, headers: Headers, body: string | Uint8Array, contentType: string): Promise<number> {
  const all = { ...headers, 'content-type': contentType };
  return (await fetch(url, { method: 'POST', headers: all, body: Buffer.from(body) })).status;
}

async function readSeries(url: string, headers: Headers, timeseriesId: string, metric: string): Promise<Series> {
  const accept = 'application/vnd.windrow.columns';
  const path = `${url}/core/timeseries/${timeseriesId}/samples?metric=${metric}`;
  const answer = await fetch(path, { headers: { ...headers, accept } });
  const frames = answer.ok ? [...new FrameReader().push(new Uint8Array(await answer.arrayBuffer()))] : [];
  const joined = (of: (frame: Series) => Float64Array) => Float64Array.from(frames.flatMap((frame) => [...of(frame)]));
  return { timeseriesId, metric, timeMs: joined(({ timeMs }) => timeMs), value: joined(({ value }) => value) };
}

describe(`killed at random moments (SEED=${seed})`, () => {
  it('while many connections write: every acknowledged sample is there, and no request is stored by half', async () => {
    const random = createRandom(seed);
    const data = join(temporaryFolder(), 'data');
    const client = await addClient(data);
    const BATCH = 50;
    const WRITERS = 6;
    // For each writer: the batches acknowledged, and how many were sent.
    const acknowledged = new Map<string, number[]>();
    const sentCount = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      const server = await serve(['--data-dir', data, ...quiet]);
      const headers = await tokenOf(server.url, client);
      const writers = Array.from({ length: WRITERS }, async (_, writer) => {
        const id = `w${writer}`;
        for (;;) {
          const batch = sentCount.get(id) ?? 0;
          sentCount.set(id, batch + 1);
          const rows = Array.from({ length: BATCH }, (_row, i) => ({
            timeseriesId: id,
            timestamp: new Date(START_MS + (batch * BATCH + i) * 1000).toISOString(),
            val: batch,
          }));
          const status = await send(
            `${server.url}/core/samples`,
            headers,
            JSON.stringify(rows),
            'application/json',
          ).catch(() => 0);
          if (status !== 200) return;
          acknowledged.set(id, [...(acknowledged.get(id) ?? []), batch]);
        }
      });
      // However slow the machine is, each writer has one batch acknowledged before the first kill.
      await expect.poll(() => acknowledged.size, { interval: 5 }).toBe(WRITERS);
      await killAfter(server, random() * 1200);
      await Promise.all(writers);
    }
    const last = await serve(['--data-dir', data, ...quiet]);
    const headers = await tokenOf(last.url, client);
    expect(acknowledged.size).toBe(WRITERS);
    for (const [id, batches] of acknowledged) {
      const { value } = await readSeries(last.url, headers, id, 'Raw');
      const counts = new Map<number, number>();
      for (const batch of value) counts.set(batch, (counts.get(batch) ?? 0) + 1);
      expect([id, [...counts.values()].every((count) => count === BATCH)]).toEqual([id, true]);
      expect([id, batches.filter((batch) => !counts.has(batch))]).toEqual([id, []]);
      expect([...counts.keys()].every((batch) => batch < sentCount.get(id)!)).toBe(true);
    }
  });

  it('while items compute their history and samples arrive: results equal one batch, and no item is lost', async () => {
    const random = createRandom(seed + 1);
    const data = join(temporaryFolder(), 'data');
    const client = await addClient(data);
    const ids = ['a', 'b', 'c'];
    const reference = (timeseriesId: string, metric: string) => [{ timeseriesId, metric }];
    const requestOf = (id: string) => [
      {
        metric: 'Hourly',
        processingType: 'stream',
        operations: [
          {
            operation: 'Mul',
            input: reference(id, 'Raw'),
            output: reference(id, 'Scaled'),
            parameters: { scalar: 1.1 },
          },
          {
            operation: 'Aggregate',
            input: reference(id, 'Scaled'),
            output: reference(id, 'Hourly'),
            parameters: { function: 'Average', interval: 'Hourly' },
          },
        ],
      },
    ];
    const HISTORY = 200_000;
    let server = await serve(['--data-dir', data, ...quiet]);
    let headers: Headers = await tokenOf(server.url, client);
    for (const [i, timeseriesId] of ids.entries()) {
      const timeMs = Float64Array.from({ length: HISTORY }, (_, at) => START_MS + at * MINUTE_MS);
      const value = timeMs.map((_, at) => Math.sin(at / 100 + i) * 10 + at / 1e4);
      const body = writeFrame({ timeseriesId, metric: 'Raw', timeMs, value });
      expect(await send(`${server.url}/core/samples`, headers, body, 'application/vnd.windrow.columns')).toBe(200);
    }
    for (const id of ids) {
      const body = JSON.stringify(requestOf(id));
      expect(await send(`${server.url}/core/operations`, headers, body, 'application/json')).toBe(202);
    }
    let minute = HISTORY;
    for (let round = 0; round < ROUNDS; round++) {
      const live = (async () => {
        for (;;) {
          // In order, and sometimes late: an old sample again with another value.
          const late = Math.floor(random() * HISTORY);
          const rows = ids.flatMap((timeseriesId) =>
            [minute, minute + 1, late].map((at) => ({
              timeseriesId,
              timestamp: new Date(START_MS + at * MINUTE_MS).toISOString(),
              val: at / 7 + round,
            })),
          );
          minute += 2;
          const url = `${server.url}/core/samples`;
          if ((await send(url, headers, JSON.stringify(rows), 'application/json').catch(() => 0)) !== 200) return;
        }
      })();
      await killAfter(server, 30 + random() * 800);
      await live;
      server = await serve(['--data-dir', data, ...quiet]);
      headers = await tokenOf(server.url, client);
    }
    const itemsOf = async () => {
      const answer = await fetch(`${server.url}/core/operations`, { headers });
      // `as`: the comparisons below check the content
      const { data } = (await answer.json()) as { data: { timeseriesId: string; state: string }[] };
      return data;
    };
    await expect
      .poll(async () => (await itemsOf()).map(({ timeseriesId, state }) => `${timeseriesId} ${state}`).sort())
      .toEqual(ids.map((id) => `${id} Active`));
    for (const id of ids) {
      const isEqual = async () => {
        const raw = await readSeries(server.url, headers, id, 'Raw');
        const [expected] = runBatch(createPlan(requestOf(id)), [raw]).series;
        const stored = await readSeries(server.url, headers, id, 'Hourly');
        return { stored, expected: { ...stored, timeMs: expected!.timeMs, value: expected!.value } };
      };
      // Late samples are processed shortly after they are acknowledged.
      await expect
        .poll(
          async () => {
            const { stored, expected } = await isEqual();
            return (
              stored.value.length === expected.value.length &&
              stored.value.every((v, i) => Object.is(v, expected.value[i]))
            );
          },
          { interval: 200 },
        )
        .toBe(true);
      const { stored, expected } = await isEqual();
      expect(stored).toEqual(expected);
      expect(stored.value.length).toBeGreaterThan(HISTORY / 60);
    }
  });
});
