import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createPlan } from '../../src/index.js';
import { why } from '../../src/inspect/index.js';
import {
  addStep,
  eventually,
  fileUrl,
  missingBrowser,
  nameResult,
  openCsv,
  requestText,
  useBrowser,
  violations,
} from './browser.js';

const heating = readFileSync(
  fileURLToPath(new URL('../../docs/examples/heating-circuit.csv', import.meta.url)),
  'utf8',
);
const meter = [
  'timestamp,value',
  '2024-03-01T00:00:00Z,1',
  '2024-03-01T00:20:00Z,2',
  '2024-03-01T00:20:00Z,3',
  '2024-03-01T01:10:00Z,8',
  '',
].join('\n');

describe.skipIf(missingBrowser !== undefined)('why, on the page', () => {
  const open = useBrowser();
  const panel = (page: Page) => page.getByRole('region', { name: /^Why / });

  it('goes from a result in the table back to the samples, with what was dropped, as the library does', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'meter.csv', meter);
    await addStep(page, 'aggregate');
    await page.getByLabel('interval').fill('Hourly');
    await addStep(page, 'mul');
    await page.getByLabel('scalar').fill('10');
    await nameResult(page, 'Tenfold');
    const step = page.getByRole('listitem', { name: 'Step 2, Mul' });
    await step.getByText('Data table').click();
    await step.getByRole('button', { name: 'Why the value at 2024-03-01 00:00:00?' }).press('Enter');
    await eventually(() => panel(page).getByRole('heading', { level: 2 }).textContent()).toBe(
      'Why meter/Tenfold is 20 at 2024-03-01 00:00:00',
    );
    const request = JSON.parse(await requestText(page));
    const input = { timeseriesId: 'meter', metric: 'Raw' };
    const times = ['00:00', '00:20', '00:20', '01:10'].map((time) => Date.parse(`2024-03-01T${time}Z`));
    const series = { ...input, timeMs: Float64Array.from(times), value: Float64Array.of(1, 2, 3, 8) };
    const told = why(
      createPlan(request),
      [series],
      { timeseriesId: 'meter', metric: 'Tenfold' },
      '2024-03-01T00:00:00Z',
    );
    const stages = panel(page).getByRole('listitem');
    await eventually(() => stages.getByRole('heading').allTextContents()).toEqual([
      ...told.steps.map(({ operation, does }) => `${operation}: ${does}`),
      'Input meter/Raw',
    ]);
    await eventually(() => stages.nth(1).textContent()).toContain(
      'Window from 2024-03-01 00:00:00 to 2024-03-01 01:00:00 (UTC)',
    );
    const source = panel(page).getByRole('listitem').last();
    await eventually(() => source.getByRole('table').allTextContents()).toEqual([
      'used 2 samples of meter/Raw2024-03-01 00:00:001sample 12024-03-01 00:20:003sample 3',
      'left out 1 sample of meter/Raw' + '2024-03-01 00:20:002sample 2: a later sample of the same time replaced it',
    ]);
    expect(await violations(page)).toEqual([]);
    // The focus goes there, and back again.
    await eventually(() => page.evaluate('document.activeElement.id')).toBe('why-title');
    await page.keyboard.press('Escape');
    await eventually(() => panel(page).count()).toBe(0);
    await eventually(() => page.evaluate('document.activeElement.ariaLabel')).toBe(
      'Why the value at 2024-03-01 00:00:00?',
    );
    expect(faults).toEqual([]);
  });

  it('answers a click on the chart and Enter at its cursor, and follows a changed step', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'heating-circuit.csv', heating);
    await addStep(page, 'sub');
    await page.getByLabel('input 2').selectOption({ label: 'return/Raw' });
    await addStep(page, 'aggregate');
    await page.getByLabel('interval').fill('Hourly');
    await nameResult(page, 'Spread');
    await eventually(() => page.getByRole('button', { name: 'Take supply/Spread off the chart' }).count()).toBe(1);
    for (const name of ['supply/Raw', 'return/Raw'])
      await page.getByRole('button', { name: `Take ${name} off the chart` }).click();
    await page.locator('.chart-host .u-over').click({ position: { x: 200, y: 200 } });
    const title = panel(page).getByRole('heading', { level: 2 });
    await eventually(() => title.textContent()).toMatch(/^Why supply\/Spread is [\d.]+ at 2024-01-1\d \d\d:00:00$/);
    await eventually(() => panel(page).getByRole('listitem').count()).toBe(4);
    const dropped = panel(page).getByRole('table', { name: /^dropped \d+ samples? of supply\/Raw/ });
    await eventually(() => dropped.textContent()).toContain('Sub has no result at this time');
    const before = await title.textContent();
    await page.getByRole('listitem', { name: 'Step 2, Aggregate' }).getByLabel('function').selectOption('Max');
    await eventually(() => title.textContent()).not.toBe(before);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    const chart = page.getByRole('application');
    await chart.focus();
    await page.keyboard.press('.');
    await eventually(() => page.getByRole('button', { name: 'Why this value of supply/Spread?' }).count()).toBe(1);
    await page.keyboard.press('Enter');
    await eventually(() => title.textContent()).toMatch(/^Why supply\/Spread is [\d.]+ at/);
    expect(faults).toEqual([]);
  });

  it('writes a missing value as the tables do', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', meter.replace('00:20:00Z,2', '00:10:00Z,NaN'));
    await addStep(page, 'aggregate');
    await page.getByLabel('interval').fill('Hourly');
    const step = page.getByRole('listitem', { name: 'Step 1, Aggregate' });
    await step.getByText('Data table').click();
    await step.getByRole('button', { name: 'Why the value at 2024-03-01 00:00:00?' }).press('Enter');
    await eventually(() => panel(page).getByRole('listitem').last().getByRole('table').allTextContents()).toContain(
      'left out 1 sample of meter/Raw2024-03-01 00:10:00–sample 2: it has no value',
    );
  });

  it('says of a source sample where it was read from', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', meter);
    await page.locator('.chart-host .u-over').click({ position: { x: 20, y: 200 } });
    await eventually(() => panel(page).textContent()).toContain('It was read from meter.csv.');
  });
});
