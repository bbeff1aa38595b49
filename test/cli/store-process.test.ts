// `windrow backup`, `restore`, `check` and `retention` while the process of a service works on the store.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadSqlite } from '../../src/storage/sqlite/database.js';
import { readEvents } from '../service/server-sent-events.js';
import { addClient, commandPath, type Serving, serve, temporaryFolder, tokenOf, windrow } from '../service/serving.js';

const quiet = ['--log-level', 'error'];
const START_MS = Date.UTC(2026, 0, 1);
const WRITERS = ['w0', 'w1', 'w2'];
const BATCH = 100;

/** Runs the command in a process of its own. */
function windrowAlone(...words: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [commandPath, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

/** Sends batches for each writer in turn until told to stop; counts the samples acknowledged. */
function writeOn({ url }: Serving, headers: Record<string, string>) {
  const acknowledged = new Map(WRITERS.map((id) => [id, 0]));
  let isOver = false;
  const lanes = WRITERS.map(async (id) => {
    for (let count = 0; !isOver; count += BATCH) {
      const lines = Array.from({ length: BATCH }, (_, i) => {
        return `${new Date(START_MS + (count + i) * 1000).toISOString()},${id},Raw,${count + i}`;
      });
      const answer = await fetch(`${url}/core/samples`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'text/csv' },
        body: `timestamp,timeseriesId,metric,value\n${lines.join('\n')}\n`,
      });
      expect(answer.status).toBe(200);
      acknowledged.set(id, count + BATCH);
    }
  });
  return {
    acknowledged,
    end: async () => {
      isOver = true;
      await Promise.all(lanes);
    },
  };
}

async function readValues({ url }: Serving, headers: Record<string, string>, id: string): Promise<number[]> {
  const answer = await fetch(`${url}/core/timeseries/${id}/samples`, { headers: { ...headers, accept: 'text/csv' } });
  const [, ...lines] = (await answer.text()).trim().split('\n');
  return lines.map((line) => Number(line.split(',').at(-1)));
}

it('a backup of a service under load opens, passes the check, and is a prefix of what was acknowledged', async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const client = await addClient(data);
  const server = await serve(['--data-dir', data, ...quiet]);
  const writing = writeOn(server, await tokenOf(server.url, client));
  await expect.poll(() => Math.min(...writing.acknowledged.values())).toBeGreaterThan(10 * BATCH);

  const before = new Map(writing.acknowledged);
  const file = join(folder, 'backup.db');
  const made = await windrowAlone('backup', data, '--to', file);
  expect(made).toEqual({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining(`${file} is a checked backup of the store`),
  });
  const after = new Map(writing.acknowledged);
  // An existing file is not overwritten unless asked for.
  expect(await windrow('backup', data, '--to', file)).toMatchObject({ code: 2 });
  expect((await windrowAlone('check', data)).code).toBe(0);
  await writing.end();
  expect(await windrow('check', data)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('the store is whole'),
  });

  const restored = join(folder, 'restored');
  expect(await windrow('restore', file, '--to', restored)).toMatchObject({ code: 0 });
  expect(JSON.parse((await windrow('check', restored, '--json')).stdout)).toMatchObject({ faults: [], seriesCount: 3 });
  const second = await serve(['--data-dir', restored, ...quiet]);
  const headers = await tokenOf(second.url, client);
  for (const id of WRITERS) {
    const values = await readValues(second, headers, id);
    expect(values).toEqual(Array.from({ length: values.length }, (_, i) => i));
    // Requests in flight when the backup ended may be in it.
    expect([values.length >= before.get(id)!, values.length <= after.get(id)! + BATCH]).toEqual([true, true]);
  }
});

it('a backup of a store with damaged samples is made and says so, and so does a restore of it', async () => {
  const folder = temporaryFolder();
  const [data, file, restored] = ['data', 'backup.db', 'restored'].map((name) => join(folder, name));
  const client = await addClient(data!);
  const server = await serve(['--data-dir', data!, ...quiet]);
  const writing = writeOn(server, await tokenOf(server.url, client));
  await expect.poll(() => Math.min(...writing.acknowledged.values())).toBeGreaterThan(0);
  await writing.end();
  server.child.kill('SIGTERM');
  await server.ended;
  const database = (await loadSqlite())(join(data!, 'windrow.db'));
  database.exec('UPDATE "sample_log" SET "changes" = zeroblob(length("changes"))');
  database.close();
  expect(await windrowAlone('backup', data!, '--to', file!)).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/backup\.db is a backup of the store, which is damaged: .* keep the backups from/),
  });
  expect(await windrowAlone('restore', file!, '--to', restored!)).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/restored was restored, and is damaged: .* or restore another backup/),
  });
  expect((await windrowAlone('check', restored!)).code).toBe(1);
});

it('a restore replaces a store only with --force, and never one that a service has open', async () => {
  const folder = temporaryFolder();
  const [data, file] = [join(folder, 'data'), join(folder, 'backup.db')];
  // Not in this process, which lets go of a file only when the collector has taken the last of its statements.
  const add = async () => {
    const words = ['client', 'add', 'a', '--org', 'acme', '--scope', 'core_read core_write', '--json'];
    return JSON.parse((await windrowAlone(...words, '--data-dir', data)).stdout);
  };
  await add();
  expect((await windrowAlone('backup', data, '--to', file)).code).toBe(0);
  const late = await add();
  const server = await serve(['--data-dir', data, ...quiet]);
  for (const [words, said, code] of [
    [[], 'there is already a store', 2],
    [['--force'], 'a process has the store open', 1],
  ] as const) {
    const refused = await windrowAlone('restore', file, '--to', data, ...words);
    expect(refused).toMatchObject({ stderr: expect.stringContaining(said), stdout: '', code });
  }
  await tokenOf(server.url, late);
  server.child.kill('SIGTERM');
  await server.ended;
  expect((await windrowAlone('restore', file, '--to', data, '--force')).code).toBe(0);
  expect(JSON.parse((await windrowAlone('client', 'list', '--json', '--data-dir', data)).stdout)).toHaveLength(1);
});

it('after a restore, followers and pages of before begin anew, however much was written since', async () => {
  const folder = temporaryFolder();
  const [data, file] = [join(folder, 'data'), join(folder, 'backup.db')];
  // Not in this process, as above.
  const words = ['client', 'add', 'a', '--org', 'acme', '--scope', 'core_read core_write', '--json'];
  const client = JSON.parse((await windrowAlone(...words, '--data-dir', data)).stdout);
  const allowed = ['collection', 'add', 'alarms', '--org', 'acme', '--allow', client.clientId];
  expect((await windrowAlone(...allowed, '--data-dir', data)).code).toBe(0);
  const collection = { ercollectionid: 'alarms' };
  const post = async ({ url }: Serving, path: string, body: object, headers: Record<string, string>) => {
    const json = { ...headers, ...collection, 'content-type': 'application/json' };
    expect((await fetch(url + path, { method: 'POST', headers: json, body: JSON.stringify(body) })).ok).toBe(true);
  };
  /** A commit of samples and one of events for each of these numbers. */
  const write = async (server: Serving, headers: Record<string, string>, from: number, count: number) => {
    for (let i = from; i < from + count; i++) {
      const timestamp = new Date(START_MS + i * 1000).toISOString();
      await post(server, '/core/samples', [{ timeseriesId: 'a', timestamp, val: i }], headers);
      await post(server, '/core/events', { id: `e${i % 10}`, name: String(i) }, headers);
    }
  };
  const follow = async ({ url }: Serving, headers: Record<string, string>) => {
    const answer = await fetch(`${url}/core/timeseries/a/live`, { headers });
    return readEvents(answer.body!);
  };
  const first = await serve(['--data-dir', data, ...quiet]);
  const before = await tokenOf(first.url, client);
  await write(first, before, 0, 10);
  expect((await windrowAlone('backup', data, '--to', file)).code).toBe(0);
  await write(first, before, 10, 5);
  const followed = await follow(first, before);
  const place = (await followed.next())!.lastEventId;
  await followed.close();
  const page = await fetch(`${first.url}/core/events?$orderby=id`, {
    headers: { ...before, ...collection, PageSize: '3' },
  });
  const { paging } = (await page.json()) as { paging: { continuationToken: string } }; // `as`: what is tested below
  first.child.kill('SIGTERM');
  await first.ended;

  expect((await windrowAlone('restore', file, '--to', data, '--force')).code).toBe(0);
  const second = await serve(['--data-dir', data, ...quiet]);
  const after = await tokenOf(second.url, client);
  // More commits than were lost.
  await write(second, after, 100, 20);
  const resumed = await follow(second, { ...after, 'last-event-id': place });
  expect([(await resumed.next())!.type, (await resumed.next())!.type]).toEqual(['reset', 'samples']);
  await write(second, after, 200, 1);
  const next = (await resumed.next())!;
  expect(next.data.samples.map(({ val }) => val)).toEqual([200]);
  await resumed.close();
  const continued = { ...after, ...collection, continuationToken: paging.continuationToken };
  expect((await fetch(`${second.url}/core/events?$orderby=id`, { headers: continued })).status).toBe(400);
  // What it says itself is good.
  await write(second, after, 201, 1);
  const again = await follow(second, { ...after, 'last-event-id': next.lastEventId });
  expect([(await again.next())!, (await again.next())!].map(({ data }) => data.samples.length)).toEqual([0, 1]);
  await again.close();
});

it('check names damage and exits with 1; a path that is not a store is reported', async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const client = await addClient(data);
  const server = await serve(['--data-dir', data, ...quiet]);
  const headers = await tokenOf(server.url, client);
  const rows = Array.from({ length: 500 }, (_, i) => ({ timeseriesId: 'pump', timestamp: START_MS + i, val: i % 7 }));
  const all = { ...headers, 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/core/samples`, {
    method: 'POST',
    headers: all,
    body: JSON.stringify(rows),
  });
  expect(answer.status).toBe(200);
  server.child.kill('SIGTERM');
  await server.ended;
  const path = join(data, 'windrow.db');
  const bytes = readFileSync(path);
  expect((await windrow('check', data)).code).toBe(0);
  bytes[placeOfValues(bytes)]! ^= 1;
  writeFileSync(path, bytes);
  const found = await windrow('check', data);
  expect(found).toMatchObject({ code: 1, stdout: expect.stringMatching(/DAMAGED +500 samples of acme.*"pump" Raw/) });
  expect(found.stdout).toMatch(/^1 fault$/m);
  writeFileSync(path, bytes.subarray(0, 4096));
  expect(await windrow('check', data)).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /windrow\.db: this file is damaged, or not an SQLite file \(.+\); restore a backup$/m,
    ),
  });
  expect(await windrow('check', folder)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no store of windrow'),
  });
});

/** Where the samples of the log's only row are in the file: their values repeat 0 to 6. */
function placeOfValues(bytes: Buffer): number {
  const pattern = Buffer.from([0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6]);
  const at = bytes.indexOf(pattern);
  expect(at).toBeGreaterThan(0);
  return at + 5;
}

it('retention rules are set, listed and removed beside a service, which applies them at once', async () => {
  const data = join(temporaryFolder(), 'data');
  const client = await addClient(data);
  const server = await serve(['--data-dir', data, ...quiet]);
  const headers = await tokenOf(server.url, client);
  const known = async () => {
    const answer = await fetch(`${server.url}/core/retention`, { headers });
    return ((await answer.json()) as { data: unknown }).data;
  };
  const of = ['--org', 'acme', '--data-dir', data];
  expect(await windrow('retention', 'set', '--keep', 'P90D', ...of)).toEqual({
    code: 0,
    stdout: '',
    stderr: 'windrow: acme: samples of all series are kept for P90D\n',
  });
  expect((await windrow('retention', 'set', '--results', '--metric', 'Hourly', '--keep', 'P3650D', ...of)).code).toBe(
    0,
  );
  expect(await known()).toEqual([
    { kind: 'results', metric: 'Hourly', keep: 'P3650D' },
    { kind: 'samples', keep: 'P90D' },
  ]);
  expect((await windrow('retention', 'list', '--data-dir', data)).stdout).toMatch(
    /acme +samples +\(all\) +\(all\) +P90D/,
  );
  expect((await windrow('retention', 'remove', ...of)).code).toBe(0);
  expect(await windrow('retention', 'remove', ...of)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no such rule of acme'),
  });
  expect(await known()).toHaveLength(1);
  const wrong = await windrow('retention', 'set', '--keep', 'soon', ...of);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--keep: expected a duration such as P90D') });
});
