import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { addClient, commandPath, serve, temporaryFolder, tokenOf } from '../service/serving.js';
import { addStep, eventually, missingBrowser, useBrowser } from './browser.js';

describe.skipIf(missingBrowser !== undefined)('the workbench when its service fails', () => {
  const open = useBrowser();

  it('says so, goes on with live data once it is back, and keeps what was typed until a new sign-in', async () => {
    const folder = temporaryFolder();
    const credentials = await addClient(folder);
    const words = ['--data-dir', folder, '--log-level', 'error'];
    const first = await serve(words);
    const write = async (url: string, timestamp: string, val: number): Promise<void> => {
      const headers = { ...(await tokenOf(url, credentials)), 'content-type': 'application/json' };
      const body = JSON.stringify([{ timeseriesId: 'meter', timestamp, val }]);
      expect((await fetch(`${url}/core/samples`, { method: 'POST', headers, body })).status).toBe(200);
    };
    await write(first.url, '2024-03-01T00:00:00Z', 1);
    await write(first.url, '2024-03-01T01:00:00Z', 2);
    const link = `${first.url}/#sign-in=${credentials.clientId}:${credentials.clientSecret}`;
    const { page } = await open(link);
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    const live = page.getByRole('button', { name: 'Live meter/Raw' });
    await live.click();
    await page.getByRole('button', { name: 'Read again meter/Raw' }).waitFor();

    // A request with a fault cannot be run: the page says why.
    await page.getByRole('button', { name: 'Build' }).click();
    await addStep(page, 'aggregate');
    await page.getByLabel('interval').fill('Dayly');
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    await page.getByText('The pipeline has a problem: see Build.').waitFor();

    first.child.kill('SIGKILL');
    await first.ended;
    const series = page.getByRole('region', { name: 'Stored series' });
    await series.getByText('The service does not answer').waitFor();
    expect(await live.getAttribute('aria-pressed')).toBe('true');
    await page.getByLabel('Collection').fill('events');
    await page.getByRole('button', { name: 'Read events' }).click();
    await page.getByRole('region', { name: 'Events' }).getByText('The service does not answer').waitFor();

    const port = new URL(first.url).port;
    const second = await serve([...words, '--port', port]);
    await eventually(() => series.getByText('The service does not answer').count()).toBe(0);
    await write(second.url, '2024-03-05T00:00:00Z', 3);
    await eventually(() => page.getByRole('application').getAttribute('aria-label')).toContain('2024-03-05');

    const removal = ['client', 'remove', credentials.clientId, '--data-dir', folder];
    expect(spawnSync(process.execPath, [commandPath, ...removal]).status).toBe(0);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('region', { name: 'Sign in to the service' }).getByText('The sign-in has ended').waitFor();
    const next = await addClient(folder);
    const field = page.getByLabel('Client id');
    await eventually(() => field.evaluate((input) => input.matches(':focus'))).toBe(true);
    await page.keyboard.type(next.clientId);
    await page.keyboard.press('Tab');
    await page.keyboard.type(next.clientSecret);
    await page.keyboard.press('Enter');
    await eventually(() => page.locator('.service').evaluate((panel) => panel.matches(':focus'))).toBe(true);
    expect(await page.getByLabel('Collection').inputValue()).toBe('events');
    await page.close();
  });
});
