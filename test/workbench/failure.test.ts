import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { addClient, type Credentials, commandPath, serve, temporaryFolder, tokenOf } from '../service/serving.js';
import { addStep, eventually, missingBrowser, openCsv, useBrowser } from './browser.js';

async function writeSample(url: string, credentials: Credentials, timestamp: string, val: number): Promise<void> {
  const headers = { ...(await tokenOf(url, credentials)), 'content-type': 'application/json' };
  const body = JSON.stringify([{ timeseriesId: 'meter', timestamp, val }]);
  expect((await fetch(`${url}/core/samples`, { method: 'POST', headers, body })).status).toBe(200);
}

describe.skipIf(missingBrowser !== undefined)('the workbench when its service fails', () => {
  const open = useBrowser();

  /** A service with two samples of meter/Raw, and the page signed in to it. */
  async function openService() {
    const folder = temporaryFolder();
    const credentials = await addClient(folder);
    const { url } = await serve(['--data-dir', folder, '--log-level', 'error']);
    const write = (timestamp: string, val: number) => writeSample(url, credentials, timestamp, val);
    await write('2024-03-01T00:00:00Z', 1);
    await write('2024-03-01T01:00:00Z', 2);
    const { page } = await open(`${url}/#sign-in=${credentials.clientId}:${credentials.clientSecret}`);
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    await page.getByRole('button', { name: 'Draw meter/Raw' }).waitFor();
    return { page, write };
  }

  it('says so, goes on with live data once it is back, and keeps what was typed until a new sign-in', async () => {
    const folder = temporaryFolder();
    const credentials = await addClient(folder);
    const words = ['--data-dir', folder, '--log-level', 'error'];
    const first = await serve(words);
    const write = (url: string, timestamp: string, val: number) => writeSample(url, credentials, timestamp, val);
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

  it('follows a series without a gap, whatever is written while it is read', async () => {
    const { page, write } = await openService();
    const label = () => page.getByRole('application').getAttribute('aria-label');
    // Each answer is held until something else has been written.
    let meanwhile = async (): Promise<void> => undefined;
    await page.route('**/samples?*', async (route) => {
      const response = await route.fetch();
      await meanwhile();
      await route.fulfill({ response });
    });
    meanwhile = () => write('2024-03-05T00:00:00Z', 3);
    await page.getByRole('button', { name: 'Live meter/Raw' }).click();
    await eventually(label).toContain('2024-03-05');

    meanwhile = () => write('2024-03-07T00:00:00Z', 4);
    await page.getByRole('button', { name: 'Read again meter/Raw' }).click();
    await eventually(label).toContain('2024-03-07');
    await page.close();
  });

  it('no longer follows a series that was taken off the page', async () => {
    const { page, write } = await openService();
    const live = page.getByRole('button', { name: 'Live meter/Raw' });
    await live.click();
    await page.getByRole('button', { name: 'Read again meter/Raw' }).waitFor();
    await page.getByRole('button', { name: 'Build' }).click();
    await page.getByRole('button', { name: 'Remove stored meter/Raw' }).click();
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    await page.getByRole('button', { name: 'Draw meter/Raw' }).waitFor();
    await write('2024-03-05T00:00:00Z', 3);
    await eventually(() => live.getAttribute('aria-pressed')).toBe('false');
    // It does not come back with the new sample alone.
    expect(await page.getByRole('button', { name: 'Draw meter/Raw' }).count()).toBe(1);
    await page.close();
  });

  it('asks no more about a request once it has signed out', async () => {
    const { page } = await openService();
    await page.getByRole('button', { name: 'Build' }).click();
    await openCsv(page, 'pump.csv', 'timestamp,value\n2024-03-01T00:00:00Z,1\n');
    await addStep(page, 'abs');
    const held: (() => Promise<void>)[] = [];
    let count = 0;
    await page.route('**/core/status/*', async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      json.data.state = 'Running';
      count++;
      held.push(() => route.fulfill({ response, json }));
    });
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    await page.getByRole('button', { name: 'Send the samples and run it there' }).click();
    await eventually(async () => count).toBe(1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Client id').waitFor();
    // The answer that was under way; its items are not asked for any more.
    await held[0]?.();
    await page.waitForTimeout(1500);
    expect(count).toBe(1);
    await page.close();
  });

  it('sends no more, and registers nothing, once it has signed out', async () => {
    const { page } = await openService();
    await page.getByRole('button', { name: 'Build' }).click();
    await openCsv(page, 'pump.csv', 'timestamp,value\n2024-03-01T00:00:00Z,1\n');
    await addStep(page, 'abs');
    let release: (() => Promise<void>) | undefined;
    let answered = false;
    await page.route('**/core/samples', async (route) => {
      const response = await route.fetch();
      release = () => route.fulfill({ response });
    });
    const registered: string[] = [];
    page.on('request', (request) => {
      if (/\/operations$/.test(request.url())) registered.push(request.method());
    });
    page.on('response', (response) => {
      if (/\/core\/samples$/.test(response.url())) answered = true;
    });
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    await page.getByRole('button', { name: 'Send the samples and run it there' }).click();
    await eventually(async () => release !== undefined).toBe(true);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Client id').waitFor();
    await release?.();
    await eventually(async () => answered).toBe(true);
    await page.waitForTimeout(1000);
    expect(registered).toEqual([]);
    await page.close();
  });

  it('says so where an answer breaks off, and where something else answers in its place', async () => {
    const { page } = await openService();
    const series = page.getByRole('region', { name: 'Stored series' });
    const draw = page.getByRole('button', { name: 'Draw meter/Raw' });
    const cut = 'new ReadableStream({ start: (body) => body.error(new TypeError("network error")) })';
    await page.evaluate(`globalThis.fetch = async () => new Response(${cut})`);
    await draw.click();
    await series.getByText('The answer broke off: try again.').waitFor();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await series.getByText('The answer broke off: try again.').waitFor();

    const html = '"<h1>Sign in to the network</h1>", { headers: { "content-type": "text/html; charset=utf-8" } }';
    await page.evaluate(`globalThis.fetch = async () => new Response(${html})`);
    await draw.click();
    await series.getByText('the service answered 200').waitFor();
    await page.close();
  });

  it('takes a password as it is, with the spaces around it', async () => {
    const folder = temporaryFolder();
    const run = (words: string[], input = ''): string => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [commandPath, ...words, '--org', 'acme', '--data-dir', folder],
        { input, encoding: 'utf8' },
      );
      expect(status, stderr).toBe(0);
      return stdout;
    };
    const client = ['client', 'add', 'portal', '--scope', 'core_read', '--grant', 'password', '--json'];
    const { clientId, clientSecret } = JSON.parse(run(client));
    run(['user', 'add', 'zoe', '--password-stdin'], ' in spaces \n');
    const { url } = await serve(['--data-dir', folder, '--log-level', 'error']);
    const { page } = await open(url);
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    await page.getByLabel('Client id').fill(clientId);
    await page.getByLabel('Client secret').fill(clientSecret);
    await page.getByText('As a user').click();
    await page.getByLabel('User name').fill('zoe');
    await page.getByLabel('Password').fill(' in spaces ');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Signed in').waitFor();
    await page.close();
  });
});
