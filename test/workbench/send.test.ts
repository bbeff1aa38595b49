import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createPlan, runBatch } from '../../src/index.js';
import { serve, temporaryFolder, tokenOf } from '../service/serving.js';
import {
  addStep,
  eventually,
  missingBrowser,
  nameResult,
  openCsv,
  requestText,
  useBrowser,
  violations,
} from './browser.js';

const demoIsReady = /\/core\/events"\n\n$/;
const examples = fileURLToPath(new URL('../../docs/examples/', import.meta.url));
const office = readFileSync(`${examples}office-temperature.csv`, 'utf8');

/** More samples than fit into two parts: one a second; the last time comes twice, one has no value. */
const SAMPLES = 201_000;
const START_MS = Date.parse('2024-03-01T00:00Z');
const times = Array.from({ length: SAMPLES }, (_, i) => new Date(START_MS + 1000 * Math.min(i, SAMPLES - 2)));
const rows = times.map((time, i) => `${time.toISOString()},${i === 5 ? '' : i % 1000}`);
const meter = ['timestamp,value', ...rows, ''].join('\n');

describe.skipIf(missingBrowser !== undefined)('a file of the page, in the service', () => {
  const open = useBrowser();
  const sendButton = (page: Page) => page.getByRole('button', { name: /run it there$/ });
  const verdict = (page: Page) => page.locator('.verdict');

  async function openDemo() {
    const demo = await serve(['--demo', '--data-dir', temporaryFolder(), '--log-level', 'error'], demoIsReady);
    const [clientId = '', clientSecret = ''] = ['CLIENT', 'SECRET'].map(
      (name) => new RegExp(`WINDROW_${name}=(\\S+)`).exec(demo.stderr)?.[1],
    );
    return { url: demo.url, clientId, clientSecret, ...(await open(`${demo.url}/`)) };
  }

  async function signIn(page: Page, { clientId, clientSecret }: { clientId: string; clientSecret: string }) {
    await page.getByRole('button', { name: 'Send it to the service…' }).click();
    await page.getByLabel('Client id').fill(clientId);
    await page.getByLabel('Client secret').fill(clientSecret);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  it('arrives complete, over a broken connection and after a stop, with the results of the page', async () => {
    const demo = await openDemo();
    const { page, faults } = demo;
    await openCsv(page, 'meter.csv', meter);
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await addStep(page, 'aggregate');
    await page.getByLabel('interval').fill('Daily');
    await nameResult(page, 'Mean');
    await signIn(page, demo);
    await page.getByRole('combobox', { name: 'How the service computes Mean' }).selectOption('stream ');

    let count = 0;
    let release = (): void => undefined;
    await page.route('**/core/samples', async (route) => {
      count++;
      if (count === 2) return route.abort('connectionreset');
      if (count === 3) await new Promise<void>((resolve) => (release = resolve));
      await route.continue().catch(() => undefined); // the cancelled one
    });
    await sendButton(page).click();
    await eventually(() => page.getByRole('alert').allTextContents()).toContainEqual(
      expect.stringMatching(/does not answer/),
    );
    await eventually(() => page.getByText('meter/Raw: sent').textContent()).toContain(
      'sent 100,000 of 201,000 samples; the service left out 1 missing',
    );
    await eventually(() => sendButton(page).textContent()).toBe('Go on sending, and run it there');
    await sendButton(page).click();
    // Only a request that is under way can be held and cancelled.
    await eventually(async () => count).toBe(3);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Stopped: what was sent stays in the service').waitFor();
    release();
    expect(await violations(page)).toEqual([]);
    await sendButton(page).click();
    await eventually(() => verdict(page).textContent()).toMatch(/bit for bit: 3 of 3\.$/);
    await eventually(() => page.getByText('meter/Raw: sent').textContent()).toMatch(
      /sent 201,000 of 201,000 samples; the service left out 1 missing, 1 replaced by a later sample of the same time$/,
    );
    await eventually(() => page.locator('.legend').textContent()).toContain('meter/Mean, stored');
    await eventually(() => page.locator('.timeline').textContent()).toContain('Active');
    expect(await violations(page)).toEqual([]);

    const headers = { ...(await tokenOf(demo.url, demo)), accept: 'text/csv' };
    const stored = await fetch(`${demo.url}/core/timeseries/meter/samples?metric=Mean`, { headers });
    const series = {
      timeseriesId: 'meter',
      metric: 'Raw',
      timeMs: Float64Array.from(times, Number),
      value: Float64Array.from(times, (_, i) => (i === 5 ? Number.NaN : i % 1000)),
    };
    const plan = createPlan(JSON.parse(await requestText(page)), { timezone: 'Europe/Berlin' });
    const [own] = runBatch(plan, [series]).series;
    const expected = Array.from(own!.timeMs, (ms, i) => `${new Date(ms).toISOString()},meter,Mean,${own!.value[i]}`);
    expect((await stored.text()).trim().split('\n').slice(1)).toEqual(expected);
    expect(faults.filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([]);
  });

  it('asks before it replaces stored samples, and shows where the results differ', async () => {
    const demo = await openDemo();
    const { page, faults } = demo;
    // The first thousand samples that the demo has stored, the first of them changed.
    const [header = '', , ...others] = office.split('\n').slice(0, 1001);
    await openCsv(page, 'office-temperature.csv', [header, '2013-07-04 00:00:00,99', ...others, ''].join('\n'));
    await addStep(page, 'gte');
    await page.getByLabel('scalar').fill('70');
    await nameResult(page, 'IsWarmer');
    await signIn(page, demo);
    await sendButton(page).click();
    const met = page.getByRole('alert').filter({ hasText: 'The service has' });
    await eventually(() => met.textContent()).toContain('7,267 samples of office-temperature/Raw, 2013-07-04T00:00:00');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Do not send' }).click();
    await eventually(() => page.getByText('to be sent from this page').count()).toBe(1);
    await sendButton(page).click();
    await page.getByRole('button', { name: 'Send all the same' }).click();
    await eventually(() => verdict(page).textContent()).toMatch(/^6,267 of 7,267 results differ/);
    expect(faults).toEqual([]);
  });

  it('is not compared where the pipeline has changed since it was sent', async () => {
    const demo = await openDemo();
    const { page } = demo;
    await openCsv(page, 'pump.csv', 'timestamp,value\n2024-03-01T00:00:00Z,1\n');
    await addStep(page, 'mul');
    await page.getByLabel('scalar').fill('2');
    await signIn(page, demo);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/core/status/*', async (route) => {
      await released;
      await route.continue();
    });
    await sendButton(page).click();
    await page.getByText('pump/Raw: sent 1 of 1 sample').waitFor();
    await page.getByRole('button', { name: 'Build' }).click();
    await page.getByLabel('scalar').fill('3');
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    await page.getByRole('heading', { name: 'What became of it' }).waitFor();
    release();
    await eventually(() => page.locator('.timeline').textContent()).toContain('Completedpump/Mul');
    await page.getByRole('button', { name: 'Draw pump/Mul' }).waitFor();
    expect(await verdict(page).count()).toBe(0);
  });

  it('opens signed in by the link that the demo prints, and does not send what is stored already', async () => {
    const { url, stderr } = await serve(
      ['--demo', '--data-dir', temporaryFolder(), '--log-level', 'error'],
      demoIsReady,
    );
    const [link = '', clientId = ''] = /http\S+#sign-in=([\w-]+):\S+/.exec(stderr) ?? [];
    const { page, faults } = await open(link);
    expect(page.url()).toBe(`${url}/`);
    await openCsv(page, 'office-temperature.csv', office);
    await addStep(page, 'timein');
    await page.getByLabel('lower').fill('68');
    await page.getByLabel('upper').fill('75');
    await page.getByRole('button', { name: 'Send it to the service…' }).click();
    await page.route('**/core/samples', (route) => route.abort());
    await sendButton(page).click();
    await eventually(() => verdict(page).textContent()).toMatch(/bit for bit: 7,888 of 7,888\.$/);
    await eventually(() => page.getByText('the service has these 7,267 samples already').count()).toBe(1);
    // Lines keep their places and so their colours; the stored one comes last.
    const names = await page.locator('.legend tbody th').allTextContents();
    expect(names).toEqual(['Raw', 'Aggregate', 'Aggregate, stored'].map((metric) => `office-temperature/${metric}`));
    expect(await violations(page)).toEqual([]);
    expect(faults).toEqual([]);

    // The link of an earlier start does not sign in, and the page says so; its content leaves the address all the same.
    const old = await open(`${url}/#sign-in=${clientId}:of-an-earlier-start`);
    expect(old.page.url()).toBe(`${url}/`);
    await old.page.getByRole('button', { name: 'Service', exact: true }).click();
    await eventually(() => old.page.getByRole('alert').textContent()).toContain('invalid_client');
  });
});
