import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, deflateRawSync, gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commandPath } from '../service/serving.js';
import {
  addStep,
  downloaded,
  eventually,
  fileUrl,
  missingBrowser,
  nameResult,
  openCsv,
  requestText,
  useBrowser,
  violations,
} from './browser.js';

const header = 'timestamp,timeseriesId,value\n';
const january = `${header}2024-01-30T00:00:00Z,boiler,1\n2024-01-31T00:00:00Z,boiler,3\n`;
const february = `${header}2024-01-31T00:00:00Z,boiler,4\n2024-02-01T00:00:00Z,boiler,8\n`;

describe.skipIf(missingBrowser !== undefined)('files on the page', () => {
  const open = useBrowser();

  async function choose(page: Page, files: Readonly<Record<string, string | Buffer>>): Promise<void> {
    const payloads = Object.entries(files).map(([name, data]) => {
      return { name, mimeType: 'application/octet-stream', buffer: Buffer.from(data) };
    });
    await page.getByLabel('Files to open').setInputFiles(payloads);
  }

  /** 1.4 MB of rows in 4 kB, so often: 800 take seconds to read. They have no end, which is an error. */
  function largeGzip(partCount = 800): Buffer {
    const rows = '2024-03-01T00:00:00Z,1\n'.repeat(65_000);
    const [head, part] = ['timestamp,value\n', rows].map((text) =>
      deflateRawSync(text, { finishFlush: constants.Z_FULL_FLUSH }),
    );
    return Buffer.concat([gzipSync('').subarray(0, 10), head!, ...Array.from({ length: partCount }, () => part!)]);
  }

  /** Downloads the results, and runs the line on the page over the same files. */
  async function expectSameFromCommand(page: Page, files: Readonly<Record<string, string>>): Promise<void> {
    const results = await downloaded(page, () => page.getByRole('button', { name: 'Download results.csv' }).click());
    const folder = mkdtempSync(join(tmpdir(), 'windrow-workbench-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, 'request.json'), await requestText(page));
    const line = await page.getByRole('region', { name: 'Run it with the command' }).locator('pre').textContent();
    const words = String(line).split(' ').slice(2);
    expect(spawnSync(process.execPath, [commandPath, ...words], { cwd: folder }).status).toBe(0);
    expect(results.bytes.toString()).toBe(readFileSync(join(folder, 'results.csv'), 'utf8'));
  }

  it('are joined where they have the same series, as the command joins them', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'january.csv', january);
    await openCsv(page, 'february.csv', february);
    await addStep(page, 'mul');
    await page.getByLabel('scalar').fill('10');
    await nameResult(page, 'Tenfold');
    const rows = () =>
      page.getByRole('region', { name: 'What became of every sample' }).getByRole('row').allTextContents();
    await eventually(rows).toContainEqual(
      expect.stringMatching(/^boiler\/Raw43.*1 replaced by a later sample of the same time/),
    );
    expect(await page.locator('.legend').getByText('boiler/Raw').count()).toBe(1);
    await expectSameFromCommand(page, { 'january.csv': january, 'february.csv': february });
    // What one of them is taken away leaves is that of the other.
    await page.getByRole('button', { name: 'Remove february.csv' }).click();
    await eventually(rows).toContainEqual('boiler/Raw22');
    expect(faults).toEqual([]);
  });

  it('are told of one by one where they cannot be read; a request is taken as the pipeline', async () => {
    const { page } = await open(fileUrl);
    const message = () => page.locator('.message').textContent();
    const packed = gzipSync(january);
    await choose(page, {
      'a.csv': 'x,y\n1,2\n',
      'b.csv.gz': packed.subarray(0, 40),
      'c.csv': '',
      'good.csv.gz': packed,
    });
    await eventually(message).toMatch(
      /^a\.csv: say under Data how [\s\S]*\nb\.csv\.gz: [\s\S]*\nc\.csv: the file is empty/,
    );
    await page.getByRole('region', { name: 'good.csv.gz' }).waitFor();
    await choose(page, { 'other.json': '{"operations": []}' });
    await eventually(message).toMatch(/^other\.json: expected an array of items/);
    await addStep(page, 'abs');
    await eventually(() => requestText(page)).toContain('Abs');
    const request = await requestText(page);
    await page.getByRole('button', { name: 'Step 1, Abs: remove' }).click();
    await choose(page, { 'request.json': request });
    await eventually(() => requestText(page)).toBe(request);
    await eventually(() => page.locator('.message').count()).toBe(0);
    // Data whose texts are words of a request. This page has no reader of it, and says so.
    const series = { timeseriesId: 'operations', metric: 'Raw' };
    const rows = [0, 1].map((value) => ({ timestamp: `2024-01-0${1 + value}T00:00:00Z`, ...series, value }));
    await choose(page, { 'rooms.json': JSON.stringify(rows) });
    await eventually(message).toMatch(/^rooms\.json: /);
    expect(await requestText(page)).toBe(request);
  });

  it('are opened where they are dropped, but folders are told of, and texts go where they are dropped', async () => {
    const { page } = await open(fileUrl);
    const folder = mkdtempSync(join(tmpdir(), 'windrow-workbench-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const files = [join(folder, 'year'), join(folder, 'january.csv')];
    mkdirSync(files[0]!);
    writeFileSync(files[1]!, january);
    const browser = await page.context().newCDPSession(page);
    const drag = async (
      x: number,
      y: number,
      data: { items: { mimeType: string; data: string }[]; files?: string[] },
    ) => {
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        await browser.send('Input.dispatchDragEvent', { type, x, y, data: { ...data, dragOperationsMask: 1 } });
      }
    };
    await drag(600, 300, { items: [], files });
    await page.getByRole('region', { name: 'january.csv' }).waitFor();
    const message = () => page.locator('.message').textContent();
    await eventually(message).toMatch(/^year: this is a folder; drop the files in it/);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    const json = (await page.getByLabel('Request as JSON').boundingBox())!;
    await drag(json.x + 20, json.y + 10, { items: [{ mimeType: 'text/plain', data: 'moved' }] });
    await eventually(() => requestText(page)).toContain('moved');
    expect(await page.locator('html').getAttribute('data-dragging')).toBe(null);
    expect(await page.locator('.message').count()).toBe(0);
  });

  it('of one name that are opened together are told of, as the last of them counts', async () => {
    const { page } = await open(fileUrl);
    const buffers = [january, february].map((text) => Buffer.from(text));
    const files = buffers.map((buffer) => ({ name: 'month.csv', mimeType: 'text/csv', buffer }));
    await page.getByLabel('Files to open').setInputFiles([...files, { ...files[0]!, name: 'other.csv' }]);
    await page.getByRole('region', { name: 'other.csv' }).waitFor();
    const told = 'month.csv: another file of this name replaces it';
    await eventually(() => page.locator('.message').textContent()).toMatch(told);
    expect(await page.getByRole('region', { name: 'month.csv' }).count()).toBe(1);
  });

  it('that have moved since they were opened are named when they are read again', async () => {
    const { page } = await open(fileUrl);
    const folder = mkdtempSync(join(tmpdir(), 'windrow-workbench-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const files = ['january.csv', 'february.csv.gz'].map((name) => join(folder, name));
    writeFileSync(files[0]!, january);
    writeFileSync(files[1]!, gzipSync(february));
    await page.getByLabel('Files to open').setInputFiles(files);
    await eventually(() => page.getByRole('checkbox', { name: /^Draw / }).count()).toBe(2);
    await eventually(() => page.locator('main').getAttribute('data-busy')).toBe('false');
    for (const file of files) rmSync(file);
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await eventually(() => page.locator('.message').textContent()).toMatch(
      /^january\.csv: the file has moved or changed: open it again\nfebruary\.csv\.gz: the file has moved or changed/,
    );
  });

  it('are no longer read after Cancel: their series are not there, and what was open stays', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'january.csv', january);
    await choose(page, { 'large.csv.gz': largeGzip() });
    await page.getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('Enter');
    await eventually(() => page.locator('.message').textContent()).toContain('large.csv.gz was not read to its end');
    expect(await page.locator('main').getAttribute('data-busy')).toBe('false');
    expect(await page.getByRole('checkbox', { name: /^Draw / }).count()).toBe(1);
    await openCsv(page, 'february.csv', january);
    await eventually(() => page.locator('.message').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('are read one after the other: Cancel stops all, and what is wrong with each is told at the end', async () => {
    const { page, faults } = await open(fileUrl);
    const cancel = page.getByRole('button', { name: 'Cancel' });
    await choose(page, { 'large.csv.gz': largeGzip() });
    await cancel.waitFor();
    await choose(page, { 'larger.csv.gz': largeGzip() });
    await cancel.focus();
    await page.keyboard.press('Enter');
    const message = () => page.locator('.message').textContent();
    await eventually(message).toContain('large.csv.gz was not read to its end');
    await eventually(() => page.locator('main').getAttribute('data-busy')).toBe('false');
    expect(await page.getByRole('region', { name: 'larger.csv.gz' }).count()).toBe(0);

    await choose(page, { 'damaged.csv.gz': largeGzip(400) });
    await cancel.waitFor();
    await openCsv(page, 'january.csv', january);
    await eventually(message).toContain('damaged.csv.gz');
    expect(faults).toEqual([]);
  });

  it('are read in the zone of the page, also if that changes while they are read', async () => {
    const { page } = await open(fileUrl);
    const rows = '2024-03-01T00:00:00,1\n'.repeat(4_000_000);
    await choose(page, { 'local.csv.gz': gzipSync(`timestamp,value\n${rows}`) });
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    await page.getByLabel('Time zone').fill('Asia/Tokyo');
    await eventually(() => page.locator('main').getAttribute('data-busy')).toBe('false');
    const name = page.getByRole('region', { name: 'local.csv.gz' }).locator('.name');
    expect(await name.getAttribute('title')).toContain('2024-03-01 00:00:00');
  });

  it('are read again in the zone of a later link, and replayed also where they have no samples', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'local.csv', 'timestamp,timeseriesId,value\n2024-03-01T00:00:00,a,1\n2024-03-01T00:00:00,b,\n');
    const title = () => page.getByRole('region', { name: 'local.csv' }).locator('.name').first().getAttribute('title');
    await eventually(title).toContain('2024-03-01 00:00:00');
    const operations = [
      {
        operation: 'Abs',
        input: [{ timeseriesId: 'b', metric: 'Raw' }],
        output: [{ timeseriesId: 'b', metric: 'Abs' }],
        parameters: {},
      },
    ];
    const shared = { draft: [{ metric: 'Abs', processingType: 'batch', operations }], timezone: 'Asia/Tokyo' };
    const letters = deflateRawSync(JSON.stringify(shared)).toString('base64url');
    await page.evaluate(`location.hash = '#1.${letters}'`);
    await eventually(title).toBe('2024-03-01 00:00:00 to 2024-03-01 00:00:00 (Asia/Tokyo)');
    await page.getByRole('button', { name: 'Stream' }).click();
    await page.getByRole('button', { name: 'Play' }).click();
    await eventually(() => page.locator('.verdict').textContent()).toContain('The end is the same');
    expect(faults).toEqual([]);
  });

  it('keep their own samples where a file that had the same series is read again without it', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'january.csv', january);
    await openCsv(page, 'february.csv', february);
    const span = () => page.getByRole('region', { name: 'february.csv' }).locator('.name').getAttribute('title');
    await eventually(span).toContain('2024-01-30');
    await choose(page, { 'january.csv': january.replaceAll('boiler', 'pump') });
    await page.getByText('pump/Raw').first().waitFor();
    expect(await span()).toContain('2024-01-31 00:00:00 to 2024-02-01');
  });

  it('may have long names on a narrow page', async () => {
    const { page } = await open(fileUrl, { viewport: { width: 320, height: 800 } });
    const name = `${'consumption_of_building_17_'.repeat(4)}.csv`;
    await choose(page, { [name]: 'created,updated,value\n03/04/2024,04/04/2024,1\n' });
    await page.getByRole('button', { name: `Read ${name} like this` }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  it('that do not say what they hold are asked about, and read as the command reads them', async () => {
    const { page, faults } = await open(fileUrl);
    const text = 'created,updated,value\n03/04/2024,04/04/2024,1,5\n04/04/2024,05/04/2024,2\n05/04/2024,06/04/2024,4\n';
    await choose(page, { 'two.csv': text });
    const message = () => page.locator('.message').textContent();
    await eventually(message).toContain('two.csv: say under Data how to read it');
    const file = page.getByRole('region', { name: 'two.csv' });
    const problem = () => file.locator('.problems').textContent();
    await eventually(problem).toContain('the columns "created", "updated" hold times');
    expect(await violations(page)).toEqual([]);
    await file.getByRole('button', { name: 'Add to time' }).click();
    await file.getByLabel('time 1 required').selectOption('created');
    const read = file.getByRole('button', { name: 'Read two.csv like this' });
    await read.click();
    await eventually(problem).toContain('may begin with the day or with the month');
    await file.getByLabel('time-format').selectOption('dmy');
    await file.getByText(/^value, series/).click();
    await file.getByRole('button', { name: 'Add to value' }).click();
    await file.getByLabel('value 1 required').selectOption('value');
    await read.click();
    await eventually(problem).toMatch(/^two\.csv, line 2: /);
    await file.getByLabel('on-bad-row').selectOption('skip');
    await read.press('Enter');
    await eventually(() => file.textContent()).toContain('rows left out: 1');
    expect(await read.evaluate((button) => button.matches(':focus'))).toBe(true);
    await addStep(page, 'mul');
    await page.getByLabel('scalar').fill('10');
    await nameResult(page, 'Tenfold');
    await expectSameFromCommand(page, { 'two.csv': text });
    await openCsv(page, 'january.csv', january);
    await page.getByText('These files are read in different ways').waitFor();
    expect(faults).toEqual([]);
  });

  it('are read in Windows-1252 where that is sure, and asked about where it is not', async () => {
    const { page, faults } = await open(fileUrl);
    const text = (name: string) => Buffer.from(`time;${name}\n01.01.2024 24:00;1,5\n13.01.2024 24:00;2\n`, 'latin1');
    await choose(page, { 'sure.csv': text('B\xfcro'), 'open.csv': text('relev\xe9 \xe0 10 m') });
    await eventually(() => page.getByRole('region', { name: 'sure.csv' }).textContent()).toMatch(
      /text in windows-1252.*B\xfcro/,
    );
    const file = page.getByRole('region', { name: 'open.csv' });
    await eventually(() => file.locator('.problems').textContent()).toContain('relev\xe9 \xe0 10 m in windows-1252');
    expect(await violations(page)).toEqual([]);
    await file.getByLabel('encoding').selectOption('windows-1252');
    await file.getByRole('button', { name: 'Read open.csv like this' }).click();
    await eventually(() => file.textContent()).toContain('relev\xe9 \xe0 10 m/Raw');
    expect(faults).toEqual([]);
  });

  it('are asked for where a link holds the pipeline alone; a link that was cut off is told of', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'january.csv', january);
    await addStep(page, 'abs');
    await eventually(async () => page.url()).toContain('#1.');
    const other = await open(page.url());
    await eventually(() => other.page.locator('.chart-panel').textContent()).toContain(
      'the series that the pipeline reads: boiler/Raw',
    );
    const cut = await open(page.url().slice(0, -20));
    await eventually(() => cut.page.locator('.message').textContent()).toContain('This link is not whole');
  });

  it('have a recipe twice, with names of their own', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'january.csv', january);
    await addStep(page, 'comfort');
    await page.getByRole('button', { name: 'Add another result' }).click();
    await page.keyboard.type('comfort');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Result ComfortHours 2' }).waitFor();
    await eventually(() => page.locator('.problems').count()).toBe(0);
  });
});
