import { describe, expect, it } from 'vitest';
import { serve, temporaryFolder, tokenOf } from '../service/serving.js';
import {
  addStep,
  eventually,
  fileHtml,
  missingBrowser,
  nameResult,
  requestText,
  useBrowser,
  violations,
} from './browser.js';

const demoIsReady = /\/core\/events"\n\n$/;

describe.skipIf(missingBrowser !== undefined)('the workbench of windrow serve', () => {
  const open = useBrowser();

  it('signs in, draws stored series, runs the pipeline in the service and reads events', async () => {
    const demo = await serve(['--demo', '--data-dir', temporaryFolder(), '--log-level', 'error'], demoIsReady);
    const [clientId = '', clientSecret = ''] = ['CLIENT', 'SECRET'].map(
      (name) => new RegExp(`WINDROW_${name}=(\\S+)`).exec(demo.stderr)?.[1],
    );
    const answer = await fetch(`${demo.url}/`);
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(await answer.text()).toBe(fileHtml());
    const plain = await fetch(`${demo.url}/`, { headers: { 'accept-encoding': 'identity' } });
    expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, fileHtml()]);
    const refused = await fetch(`${demo.url}/`, { headers: { 'accept-encoding': 'br, gzip;q=0' } });
    expect(refused.headers.get('content-encoding')).toBeNull();

    const { page, faults } = await open(`${demo.url}/`);
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    await page.getByLabel('Client id').fill(clientId);
    await page.getByLabel('Client secret').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await eventually(() => page.getByRole('alert').textContent()).toContain('invalid_client');
    // Both lines of a terminal at once.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const lines = `clientId      ${clientId}\nclientSecret  ${clientSecret}\n`;
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(lines)})`);
    await page.getByLabel('Client id').press('Control+v');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Draw office-temperature/Celsius' }).click();
    await eventually(() => page.locator('.legend').textContent()).toContain('office-temperature/Celsius');
    expect(await violations(page)).toEqual([]);
    // At 200 % too, the names of stored series and what to do with them are side by side.
    await page.setViewportSize({ width: 640, height: 450 });
    const stored = page.locator('.table-scroll', {
      has: page.getByRole('table', { name: 'Series of your organisation' }),
    });
    expect(await stored.evaluate((table) => table.scrollWidth - table.clientWidth)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    // Where it comes from is told beside this chart, too.
    await page.getByRole('application').focus();
    await page.keyboard.press('.');
    await page.getByRole('button', { name: 'Why this value of office-temperature/Celsius?' }).waitFor();
    await page.keyboard.press('Enter');
    const why = page.getByRole('region', { name: /^Why office-temperature\/Celsius / });
    await why.getByText('It is stored in the service.').waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => page.evaluate('document.activeElement.role')).toBe('application');

    await page.getByRole('button', { name: 'Build' }).click();
    await addStep(page, 'gte');
    await page.getByLabel('scalar').fill('21');
    await nameResult(page, 'IsComfortable');
    await page.getByRole('combobox', { name: /^How the service computes/ }).selectOption('stream ');
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await eventually(() => page.getByText('Dry run: nothing was stored').count()).toBe(1);
    await page.getByText(/IsComfortable: reads [\d,]+ samples, gives at most/).waitFor();
    await page.getByRole('button', { name: 'Submit' }).click();
    const timeline = page.locator('.timeline');
    await eventually(() => timeline.textContent()).toMatch(/Active.*office-temperature\/IsComfortable/);
    // Its result is in the list without a reload.
    await eventually(() => page.getByRole('button', { name: 'Draw office-temperature/IsComfortable' }).count()).toBe(1);
    expect(JSON.parse(await requestText(page))[0].processingType).toBe('stream');

    // Screen readers announce what changes in a place that was there before.
    expect(await page.getByRole('region', { name: 'Events' }).getByRole('status').textContent()).toBe('');
    await page.getByLabel('Collection').fill('demo-building');
    await page.getByLabel('Filter').fill("severity eq 'Low'");
    await page.getByLabel('A page has').selectOption('10');
    await page.getByRole('button', { name: 'Read events' }).click();
    await eventually(() => page.getByText('5 events match').count()).toBe(1);
    // More events than fit on a page; the second page does not repeat the first.
    const authorized = await tokenOf(demo.url, { clientId, clientSecret });
    const more = Array.from({ length: 12 }, (_, i) => ({
      occurredAt: new Date(Date.UTC(2026, 0, 1, i)).toISOString(),
      name: 'Door open',
      descr: `Door ${i}`,
    }));
    const posted = await fetch(`${demo.url}/core/events`, {
      method: 'POST',
      headers: { ...authorized, 'content-type': 'application/json', ercollectionid: 'demo-building' },
      body: JSON.stringify(more),
    });
    expect(posted.status, await posted.text()).toBe(201);
    await page.getByLabel('Filter').fill("name eq 'Door open'");
    await page.getByLabel('Order').fill('occurredAt asc');
    await page.getByRole('button', { name: 'Read events' }).click();
    await page.getByText('12 events match, 1 to 10 are shown').waitFor();
    // What is typed meanwhile is for the next reading.
    await page.getByLabel('Filter').fill("name eq 'Door");
    await page.getByRole('button', { name: 'Next events' }).press('Enter');
    await page.getByText('12 events match, 11 to 12 are shown').waitFor();
    // After the last page there is no button to go on with.
    await eventually(() => page.evaluate('document.activeElement.ariaLabelledByElements[0].textContent')).toBe(
      'Events',
    );
    expect(await page.getByRole('cell', { name: /^Door \d/ }).allTextContents()).toEqual(['Door 10', 'Door 11']);
    expect(await page.getByRole('button', { name: 'Next events' }).isDisabled()).toBe(true);
    // At 400 % the tables scroll, by the keyboard too.
    await page.setViewportSize({ width: 320, height: 256 });
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByLabel('Order').fill('');
    await page.getByLabel('Filter').fill("severty eq 'Low'");
    await page.getByRole('button', { name: 'Read events' }).click();
    await eventually(() => page.getByText(/did you mean `severity`/).count()).toBe(1);
    expect(await violations(page)).toEqual([]);

    // The message of the service has the first ten of its problems; the page has them all.
    await page.getByRole('button', { name: 'Build' }).click();
    const celsius = { timeseriesId: 'office-temperature', metric: 'Celsius' };
    const misnamed = Array.from({ length: 12 }, (_, i) => {
      const output = [{ ...celsius, metric: `\u0001${i}` }];
      return {
        metric: `\u0001${i}`,
        processingType: 'batch',
        operations: [{ operation: 'Abs', input: [celsius], output }],
      };
    });
    await page.getByLabel('Request as JSON').fill(JSON.stringify(misnamed));
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    await page.getByRole('button', { name: 'Dry run' }).click();
    const problems = page.getByRole('alert').filter({ hasText: 'the request has 12 problems' });
    await eventually(() => problems.getByRole('listitem').count()).toBe(13);
    expect(await problems.textContent()).toContain('/11/metric: expected a text of 1 to');
    expect(await problems.textContent()).not.toContain('data.issues');

    // The browser reports the responses that had to fail.
    expect(faults.filter((fault) => !/status of (400|401)/.test(fault))).toEqual([]);
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')).toBe(
      '[{},{},""]',
    );

    // The readers of other formats come from the service, with the first such file.
    const answered = await fetch(`${demo.url}/workbench-formats.js`);
    expect(answered.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    await page.getByRole('button', { name: 'Build' }).click();
    await page
      .getByLabel('Files to open')
      .setInputFiles({ name: 'x.parquet', mimeType: '', buffer: Buffer.from('PAR1') });
    await eventually(() => page.locator('.message').textContent()).toContain('cannot be read as a Parquet file');
    await page.getByRole('button', { name: 'Service', exact: true }).click();

    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: 'Draw office-temperature/IsComfortable' }).waitFor();
    await page.getByRole('button', { name: 'Live office-temperature/Raw' }).click();
    await eventually(() => page.locator('.legend').textContent()).toContain('office-temperature/Raw');
    const headers = { ...(await tokenOf(demo.url, { clientId, clientSecret })), 'content-type': 'application/json' };
    const sample = { timeseriesId: 'office-temperature', timestamp: '2026-01-01T00:00:00Z', val: 70 };
    const written = await fetch(`${demo.url}/core/samples`, {
      method: 'POST',
      headers,
      body: JSON.stringify([sample]),
    });
    expect(written.status).toBe(200);
    await eventually(() => page.getByRole('application').getAttribute('aria-label')).toContain('2026-01-01');
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    await eventually(() => page.evaluate('document.activeElement.name')).toBe('client');
  });
});
