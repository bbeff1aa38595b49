import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync, inflateRawSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPlan } from '../../src/index.js';
import { explain, operations } from '../../src/inspect/index.js';
import { commandPath } from '../service/serving.js';
import {
  addStep,
  downloaded,
  eventually,
  fileHtml,
  fileUrl,
  missingBrowser,
  nameResult,
  openCsv,
  requestText,
  useBrowser,
  violations,
} from './browser.js';

const examples = fileURLToPath(new URL('../../docs/examples/', import.meta.url));
const office = readFileSync(join(examples, 'office-temperature.csv'), 'utf8');
const csv = 'timestamp,value\n2024-03-01T00:00:00Z,1\n2024-03-01T00:30:00Z,3\n2024-03-01T01:10:00Z,8\n';

/** The command that runs the request. */
function commandLine(page: Page): Promise<string | null> {
  return page.getByRole('region', { name: 'Run it with the command' }).locator('pre').textContent();
}

/** What a link contains. */
function linkText(url: string): string {
  const [, letters = ''] = url.split('#1.');
  return letters === '' ? '' : inflateRawSync(Buffer.from(letters, 'base64url')).toString();
}

describe.skipIf(missingBrowser !== undefined)('the workbench, as a file', () => {
  const open = useBrowser();

  it('is one file under 150 kB compressed, and its policy names its content', () => {
    const html = fileHtml();
    expect(gzipSync(html, { level: 9 }).length).toBeLessThanOrEqual(150_000);
    const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe-inline|unsafe-eval|https?:/);
    expect(html).not.toMatch(/<(script|link|img)[^>]+(src|href)="(?!data:)/);
  });

  it('goes from a file to comfort hours, and gives the CSV that the command gives', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'office-temperature.csv', office);
    await addStep(page, 'gte');
    await page.getByLabel('scalar').fill('70');
    await addStep(page, 'aggregate');
    await page.getByLabel('function').selectOption('Average');
    await page.getByLabel('interval').fill('Daily');
    await nameResult(page, 'Comfort');
    await eventually(() => page.getByRole('listitem', { name: 'Step 2, Aggregate' }).getByRole('img').count()).toBe(1);
    expect(await violations(page)).toEqual([]);

    const line = await commandLine(page);
    expect(line).toBe('npx windrow run request.json --input office-temperature.csv --output results.csv');
    const request = await downloaded(page, () => page.getByRole('button', { name: 'Download', exact: true }).click());
    const results = await downloaded(page, () => page.getByRole('button', { name: 'Download results.csv' }).click());
    expect([request.name, results.name]).toEqual(['request.json', 'results.csv']);
    const folder = mkdtempSync(join(tmpdir(), 'windrow-workbench-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'request.json'), request.bytes);
    writeFileSync(join(folder, 'office-temperature.csv'), office);
    const words = String(line).split(' ').slice(2);
    expect(spawnSync(process.execPath, [commandPath, ...words], { cwd: folder }).status).toBe(0);
    expect(readFileSync(join(folder, 'results.csv'), 'utf8')).toBe(results.bytes.toString());
    expect(faults).toEqual([]);
  });

  it('finds recipes by their purpose, and adds their steps over the open series', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'office.csv', office);
    await addStep(page, 'comfort');
    const result = page.getByRole('region', { name: 'Result ComfortHours' });
    await eventually(() => result.getByRole('listitem', { name: 'Step 1, Aggregate' }).getByRole('img').count()).toBe(
      1,
    );
    expect(await page.getByLabel('lower').inputValue()).toBe('68');
    // A recipe of several steps: one of them reads the series and another step's result.
    await page.getByRole('button', { name: 'Add another result' }).click();
    await page.keyboard.type('last week');
    await page.getByRole('option', { name: /^Last week compared/, selected: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await eventually(() => page.getByRole('listitem', { name: 'Step 2, Sub' }).getByRole('img').count()).toBe(1);
    const [, second] = JSON.parse(await requestText(page));
    expect(second.operations.map(({ input }: { input: unknown }) => input)).toEqual([
      [{ timeseriesId: 'office', metric: 'Raw' }],
      [
        { timeseriesId: 'office', metric: 'Raw' },
        { timeseriesId: 'office', metric: 'Week before' },
      ],
    ]);
    expect(faults).toEqual([]);
  });

  it('leaves out text columns, and says so', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'room.csv', 'timestamp,note,temp\n2024-03-01T00:00Z,,20\n2024-03-01T01:00Z,cold,19\n');
    const set = page.getByRole('region', { name: 'room.csv' });
    await eventually(() => set.getByRole('listitem').count()).toBe(1);
    await eventually(() => set.textContent()).toContain('texts left out: note');
  });

  it('reads Parquet, Arrow and JSON as the page of the command, and says plainly where the reader is not', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windrow-workbench-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'daily.parquet');
    const run = (...words: readonly string[]) => spawnSync(process.execPath, [commandPath, ...words]).status;
    const files = ['--input', join(examples, 'office-temperature.csv'), '--output', path];
    expect(run('run', join(examples, 'daily-mean.json'), ...files)).toBe(0);
    expect(run('workbench', '--output', join(folder, 'workbench.html'))).toBe(0);
    const { page, faults } = await open(pathToFileURL(join(folder, 'workbench.html')).href);
    await page.getByLabel('Files to open').setInputFiles(path);
    const set = page.getByRole('region', { name: 'daily.parquet' });
    await eventually(() => set.textContent()).toContain('311 rows');
    await eventually(() => page.locator('.legend').textContent()).toContain('office-temperature/DailyMean');
    // Packed by Snappy, by Zstandard, by LZ4, and not at all.
    const others = ['duckdb.parquet', 'duckdb-zstd.parquet', 'polars.arrow', 'polars-lz4.arrow', 'polars-zstd.arrow'];
    const formats = new URL('../formats/files/', import.meta.url);
    await page.getByLabel('Files to open').setInputFiles(others.map((name) => fileURLToPath(new URL(name, formats))));
    for (const name of others) await page.getByRole('region', { name, exact: true }).waitFor();
    // No request.
    const objects = [{ time: '2024-01-30', series: 'boiler', value: 3 }];
    const array = { name: 'array.json', mimeType: '', buffer: Buffer.from(JSON.stringify(objects, null, 2)) };
    await page.getByLabel('Files to open').setInputFiles(array);
    await eventually(() => page.getByRole('region', { name: 'array.json' }).textContent()).toContain('boiler');
    const whole = readFileSync(new URL('two-frames.csv.zst', formats));
    const damaged = Buffer.from(whole);
    // The value of the first row, 1, becomes 0.
    damaged[whole.indexOf('Raw,1') + 4]! ^= 1;
    const packed = Object.entries({ damaged, whole }).map(([name, buffer]) => {
      return { name: `${name}.csv.zst`, mimeType: 'application/octet-stream', buffer };
    });
    await page.getByLabel('Files to open').setInputFiles(packed);
    await page.getByRole('region', { name: 'whole.csv.zst' }).waitFor();
    const message = () => page.locator('.message').textContent();
    await eventually(message).toContain('damaged.csv.zst: its content does not match its checksum, so it is damaged');
    expect(faults).toEqual([]);
    const bare = await open(fileUrl);
    await bare.page.getByLabel('Files to open').setInputFiles(path);
    await eventually(() => bare.page.locator('.message').textContent()).toContain('This page reads only CSV');
    expect(await violations(bare.page)).toEqual([]);
  });

  it('shows each issue at its field, and goes on with the valid steps', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    await addStep(page, 'mul');
    await addStep(page, 'aggregate');
    const interval = page.getByLabel('interval');
    await interval.fill('Hourl');
    const described = await interval.getAttribute('aria-describedby');
    const problem = page.locator(`#${described?.split(' ').at(-1)?.replaceAll(':', '\\:')}`);
    await eventually(() => problem.textContent()).toMatch(/expected an interval.*Hourl.*did you mean/is);
    await eventually(() => interval.getAttribute('aria-invalid')).toBe('true');
    await eventually(() => page.getByRole('listitem', { name: 'Step 1, Mul' }).getByRole('img').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await interval.fill('Hourly');
    await eventually(() => page.getByRole('listitem', { name: 'Step 2, Aggregate' }).getByRole('img').count()).toBe(1);
  });

  it('accepts the request as JSON, and shows it', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    await addStep(page, 'round');
    // The JSON follows the steps a moment later.
    await eventually(() => requestText(page)).toContain('"Round"');
    const written = JSON.parse(await requestText(page));
    await page.getByText('The plan in words').click();
    await eventually(() => page.locator('pre.line').first().textContent()).toBe(explain(createPlan(written)));
    expect(written[0].operations[0]).toMatchObject({
      operation: 'Round',
      input: [{ timeseriesId: 'meter', metric: 'Raw' }],
    });
    written[0].operations[0].parameters.roundtodigits = -1;
    const field = page.getByLabel('Request as JSON');
    await field.fill(JSON.stringify(written));
    await eventually(() => page.getByLabel('roundtodigits').inputValue()).toBe('-1');
    written[0].operations[0].parameters.roundtodigits = 2;
    await field.fill(JSON.stringify({ $schema: 'x', items: written }));
    await eventually(() => page.getByLabel('roundtodigits').inputValue()).toBe('2');
    await field.fill('[{');
    await page.getByRole('status').getByText('in JSON at position 2').waitFor();
    await eventually(() => page.getByLabel('roundtodigits').inputValue()).toBe('2');
  });

  it('has a form for every operation, made from its description', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    await addStep(page, 'abs');
    for (const { name, parameters } of operations.values()) {
      await page.getByLabel('Operation of step 1').selectOption(name);
      const step = page.getByRole('listitem', { name: `Step 1, ${name}` });
      for (const required of Object(parameters).required ?? []) {
        const label = step.locator('label, legend').filter({ hasText: new RegExp(`^${required} required$`) });
        await eventually(async () => [name, required, await label.count()]).toEqual([name, required, 1]);
      }
    }
    expect(faults).toEqual([]);
  });

  it('edits steps: insert, rename, move, remove, undo', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    await addStep(page, 'add');
    await addStep(page, 'round');
    await page.getByRole('button', { name: 'Step 1, Add: add a step after it' }).click();
    await page.keyboard.type('abs');
    await page.keyboard.press('Enter');
    const names = async (): Promise<string[]> =>
      JSON.parse(await requestText(page))[0].operations.map(({ operation }: { operation: string }) => operation);
    await eventually(names).toEqual(['Add', 'Abs', 'Round']);
    await page.getByRole('button', { name: 'Step 1, Add: move down' }).click();
    await eventually(names).toEqual(['Abs', 'Add', 'Round']);
    await page.getByRole('button', { name: 'Step 2, Add: remove' }).click();
    await eventually(names).toEqual(['Abs', 'Round']);
    await nameResult(page, 'Whole', 'result');
    const between = async (): Promise<string[]> => {
      const [first, second] = JSON.parse(await requestText(page))[0].operations;
      return [first.output[0].metric, second.input[0].metric];
    };
    await eventually(between).toEqual(['Whole', 'Whole']);
    await eventually(() => page.locator('.problems').count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually(names).toEqual(['Abs', 'Add', 'Round']);
  });

  it('moves its chart with keys, shows the values under the cursor, and has the samples as a table', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'office-temperature.csv', office);
    const chart = page.getByRole('application');
    await chart.focus();
    const before = await chart.getAttribute('aria-label');
    await page.keyboard.press('+');
    await eventually(() => chart.getAttribute('aria-label')).not.toBe(before);
    await page.keyboard.press('.');
    await eventually(() => page.locator('.legend tbody').textContent()).toMatch(/20\d\d-\d\d-\d\d \d\d:00:00/);
    await page.keyboard.press('0');
    await eventually(() => chart.getAttribute('aria-label')).toBe(before);
    // The wheel scrolls the page, and zooms with Ctrl.
    await page.locator('.chart-host .u-over').hover();
    await page.mouse.wheel(0, 100);
    await eventually(() => page.locator('.right').evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
    await eventually(() => chart.getAttribute('aria-label')).toBe(before);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await eventually(() => chart.getAttribute('aria-label')).not.toBe(before);
    await chart.press('0');
    await eventually(() => chart.getAttribute('aria-label')).toBe(before);
    await page.getByLabel('Axis in').fill('America/New_York');
    await eventually(() => chart.getAttribute('aria-label')).toContain('2013-07-03 20:00:00');
    // What is no zone changes nothing, stays in the field, and is told of.
    const runZone = page.getByLabel('Time zone');
    await runZone.fill('Europe/Berln');
    await runZone.blur();
    await eventually(() => page.getByText('No such zone: UTC counts.').count()).toBe(1);
    expect(await runZone.inputValue()).toBe('Europe/Berln');
    await runZone.fill('UTC');
    await eventually(() => page.getByText('No such zone').count()).toBe(0);
    const panel = page.getByRole('region', { name: 'Chart' });
    await panel.getByText('Data table').click();
    await eventually(() => panel.getByRole('row', { name: '2013-07-03 20:00:00 69.88083514' }).count()).toBe(1);
    await panel.getByRole('button', { name: 'Next' }).click();
    await eventually(() => panel.getByText('26 to 50 of 7,267').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
  });

  it('runs a pattern for each matching series, as the command does', async () => {
    const { page, faults } = await open(fileUrl);
    const wide =
      'timestamp,zone-1,zone-2,zone-3\n2024-03-01T00:00Z,1,2,3\n2024-03-01T00:30Z,3,,5\n2024-03-01T01:10Z,8,9,7\n';
    await openCsv(page, 'zones.csv', wide);
    await addStep(page, 'aggregate');
    await page.getByLabel('interval').fill('Hourly');
    await addStep(page, 'mul');
    await page.getByLabel('scalar').fill('10');
    await nameResult(page, 'Tenfold');
    const first = page.getByRole('listitem', { name: 'Step 1, Aggregate' });
    await first.getByLabel('input', { exact: true }).selectOption({ label: 'zone-{n}/Raw: each of 3' });
    const last = page.getByRole('listitem', { name: 'Step 2, Mul' });
    await eventually(() => last.locator('figcaption').textContent()).toBe('3 series, 6 samples, 20 to 90');
    expect(JSON.parse(await requestText(page))[0].operations.map((step: object) => step)).toMatchObject([
      { input: [{ timeseriesId: 'zone-{n}', metric: 'Raw' }], output: [{ timeseriesId: 'zone-{n}' }] },
      { input: [{ timeseriesId: 'zone-{n}' }], output: [{ timeseriesId: 'zone-{n}', metric: 'Tenfold' }] },
    ]);
    await eventually(() => page.locator('.legend').textContent()).toMatch(/zone-1\/Tenfold.*zone-3\/Tenfold/);
    expect(await violations(page)).toEqual([]);
    const results = await downloaded(page, () => page.getByRole('button', { name: 'Download results.csv' }).click());
    const folder = mkdtempSync(join(tmpdir(), 'windrow-workbench-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'request.json'), await requestText(page));
    writeFileSync(join(folder, 'zones.csv'), wide);
    const line = await commandLine(page);
    expect(
      spawnSync(process.execPath, [commandPath, ...String(line).split(' ').slice(2)], { cwd: folder }).status,
    ).toBe(0);
    expect(results.bytes.toString()).toBe(readFileSync(join(folder, 'results.csv'), 'utf8'));
    // The result of a member shows its origin, and a stream gives the same for all members.
    await last.getByText('Data table').click();
    await last.getByRole('combobox', { name: /^Series/ }).selectOption({ label: 'zone-2/Tenfold' });
    await last.getByRole('button', { name: 'Why the value at 2024-03-01 00:00:00?' }).click();
    await eventually(() => page.getByRole('heading', { name: 'Why zone-2/Tenfold is 20' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Stream' }).click();
    await page.getByRole('button', { name: 'Play' }).click();
    await eventually(() => page.locator('.verdict').textContent()).toMatch(/^The end is the same: all 6 results/);
    expect(faults).toEqual([]);
  });

  it('has forms for sliding windows, and shows the fields that a function needs', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    // A search for the name of a function finds that function.
    await addStep(page, 'timein');
    await eventually(() => page.getByLabel('function').inputValue()).toBe('TimeInState');
    await page.getByLabel('lower').fill('2');
    await page.getByLabel('upper', { exact: true }).fill('5');
    await page.getByLabel('interval').fill('');
    await page.getByText(/^percentile, empty/).click();
    await page.getByLabel('Type of window').selectOption('sliding');
    await page.getByLabel('size', { exact: false }).fill('Hourly');
    const parameters = async () => JSON.parse(await requestText(page))[0].operations[0].parameters;
    await eventually(parameters).toEqual({
      function: 'TimeInState',
      lower: 2,
      upper: 5,
      window: { type: 'sliding', size: 'Hourly' },
    });
    await eventually(() => page.locator('.step .problems').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });

  it('has fields for as many inputs as a step can have, and for a second one of a function that needs it', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    const inputs = () => page.locator('.step .input-field label').allTextContents();
    const read = async () => JSON.parse(await requestText(page))[0].operations[0];
    await addStep(page, 'aggregate');
    await eventually(inputs).toEqual(['input']);
    await page.getByLabel('function').selectOption('Covariance');
    await eventually(inputs).toEqual(['input 1', 'input 2']);
    await page.getByLabel('input 2').selectOption('meter/Raw');
    await eventually(async () => (await read()).input.length).toBe(2);
    await page.getByLabel('input 2').selectOption('none');
    await page.getByLabel('function').selectOption('Average');
    await eventually(inputs).toEqual(['input']);

    await page.getByLabel('Operation of step 1').selectOption('Fill');
    await eventually(inputs).toEqual(['input']);
    await page.locator('[data-pointer] .more > summary').click();
    await page.getByLabel('method').selectOption('series');
    await eventually(inputs).toEqual(['input 1', 'input 2']);
    await page.getByLabel('input 2').selectOption('meter/Raw');
    await eventually(read).toMatchObject({ input: [{ metric: 'Raw' }, { metric: 'Raw' }] });
    await page.getByLabel('method').selectOption('linear');
    await eventually(inputs).toEqual(['input 1', 'input 2']);
    await page.getByLabel('input 2').selectOption('none');
    await eventually(inputs).toEqual(['input']);
    await eventually(() => page.locator('.step .problems').count()).toBe(0);

    await page.getByLabel('Operation of step 1').selectOption('Max');
    await eventually(inputs).toEqual(['input 1', 'input 2']);
    await page.getByLabel('input 2').selectOption('meter/Raw');
    await page.getByLabel('input 3').selectOption('meter/Raw');
    await eventually(inputs).toEqual(['input 1', 'input 2', 'input 3', 'input 4']);
    await eventually(read).toMatchObject({
      input: Array(3).fill({ timeseriesId: 'meter', metric: 'Raw' }),
      parameters: {},
    });
    await page.getByLabel('input 3').selectOption('none');
    await eventually(read).toMatchObject({ input: [{ metric: 'Raw' }, { metric: 'Raw' }], parameters: {} });
    await page.getByLabel('input 2').selectOption('none: a scalar');
    await eventually(async () => (await read()).parameters).toEqual({ scalar: 1 });
    await eventually(() => page.locator('.step .problems').count()).toBe(0);
  });

  it('offers a scalar to a step with one input, and how series meet to one with two', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    await addStep(page, 'mul');
    const meeting = ['align', 'maxhold', 'maxgap'];
    const offered = async () => {
      const names = await page.locator('[data-pointer] .field > label').allTextContents();
      return ['scalar', ...meeting].filter((name) => names.some((one) => one.startsWith(name)));
    };
    await eventually(offered).toEqual(['scalar']);
    await page.getByLabel('input 2').selectOption('meter/Raw');
    await eventually(offered).toEqual(meeting);
    await page.locator('[data-pointer] .more > summary').click();
    await page.getByLabel('align').selectOption('linear');
    await page.getByLabel('maxgap').fill('PT1H');
    await eventually(() => page.locator('.step .problems').count()).toBe(0);
    await page.getByLabel('input 2').selectOption('none: a scalar');
    await eventually(offered).toEqual(['scalar']);
    await eventually(() => page.locator('.step .problems').count()).toBe(0);
  });

  it('exports the chart as SVG and PNG', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    const svg = await downloaded(page, () => page.getByRole('button', { name: 'SVG' }).click());
    expect(svg.bytes.toString()).toMatch(/^<svg [\s\S]*meter\/Raw[\s\S]*<\/svg>$/);
    const png = await downloaded(page, () => page.getByRole('button', { name: 'PNG' }).click());
    expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
    expect(png.bytes.readUInt32BE(16)).toBe(1920);
    expect(faults).toEqual([]);
  });

  it('cuts off no value at an axis, and no name in a picture', async () => {
    const { page } = await open(fileUrl);
    const names = Array.from({ length: 12 }, (_, index) => `temperature of room ${index}`);
    const rows = [0, 1, 2].map((hour) => [`2024-03-01T0${hour}:00:00Z`, ...names.map((_, i) => 4_900_000 + hour + i)]);
    await openCsv(page, 'rooms.csv', [['timestamp', ...names], ...rows].map((row) => row.join()).join('\n'));
    for (const name of names) await page.getByLabel(`Draw ${name}/Raw on the large chart`).check();
    const { bytes } = await downloaded(page, () => page.getByRole('button', { name: 'SVG' }).click());
    const texts = [...bytes.toString().matchAll(/<text x="([\d.-]+)"[^>]*text-anchor="(\w+)">([^<]*)</g)];
    expect(texts.map(([, , , text]) => text)).toEqual(expect.arrayContaining(names.map((name) => `${name}/Raw`)));
    const cutOff = texts.filter(([, x, anchor, { length } = '']) =>
      anchor === 'end' ? Number(x) < 5 * length : anchor === 'start' && Number(x) + 5 * length > 960,
    );
    expect(cutOff).toEqual([]);
    // On the canvas, in letters that are as wide as those of the page.
    const room = await page.locator('.chart-host .u-over').evaluate((over) => over.offsetLeft);
    expect(room).toBeGreaterThan(12 + 6 * '4,900,002'.length);
  });

  it('draws a sample between two gaps, and values at its axes as they are', async () => {
    const { page } = await open(fileUrl);
    // The texts of the large chart, as they are drawn.
    await page.evaluate(`{
      const { prototype } = CanvasRenderingContext2D;
      const { fillText } = prototype;
      globalThis.texts = [];
      prototype.fillText = function (text, ...place) {
        texts.push(text);
        fillText.call(this, text, ...place);
      };
    }`);
    const rows = Array.from({ length: 200 }, (_, minute) => {
      const time = new Date(60_000 * minute).toISOString();
      return `${time},${Math.sin(minute / 10) / 10},${minute === 100 ? 0.05 : ''}`;
    });
    await openCsv(page, 'meters.csv', ['timestamp,a,b', ...rows, ''].join('\n'));
    const orangePixels = () =>
      page.evaluate<number>(`{
        const canvas = document.querySelector('.chart-host canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        data.filter((_, i) => i % 4 === 0 && data[i + 3] > 200 && data[i] > data[i + 2] + 90).length;
      }`);
    await eventually(orangePixels).toBeGreaterThan(4);
    const texts = await page.evaluate('texts');
    expect(texts).toEqual(expect.arrayContaining(['\u22120.10', '\u22120.08', '0.00', '0.02', '0.10']));
  });

  it('opens a link with the pipeline and the sample it was built on', async () => {
    const { page } = await open(fileUrl);
    await page.getByRole('button', { name: 'Heating circuit' }).click();
    await page.getByRole('region', { name: 'heating-circuit.csv' }).waitFor();
    await addStep(page, 'sub');
    await page.getByLabel('input 2').selectOption({ label: 'return/Raw' });
    await eventually(async () => linkText(page.url())).toContain('"return"');
    await eventually(() => page.locator('.dropped').textContent()).toContain('without a partner');
    const again = await open(page.url());
    await eventually(() => again.page.locator('.dropped').textContent()).toContain('without a partner');
    await eventually(() => requestText(again.page)).toBe(await requestText(page));
    expect(await violations(again.page)).toEqual([]);
    // So does a link entered into the address of an open page.
    const other = await open(fileUrl);
    await other.page.evaluate(`location.hash = ${JSON.stringify(new URL(page.url()).hash)}`);
    await eventually(() => requestText(other.page)).toBe(await requestText(page));
    // What was removed does not come back when the page is loaded anew.
    await other.page.getByRole('button', { name: 'Step 1, Sub: remove' }).click();
    await eventually(async () => linkText(other.page.url())).toContain('"draft":[]');
    await other.page.reload();
    await other.page.getByRole('button', { name: 'Add the first step' }).waitFor();
    // Once the sample is there again, nothing is said.
    await eventually(() => other.page.locator('.message').allTextContents()).toEqual([]);
  });

  it('has as its sample the file of the same name in docs/examples', async () => {
    const { page } = await open(fileUrl);
    await page.getByRole('button', { name: 'Office temperature' }).click();
    await page.getByRole('region', { name: 'office-two-weeks.csv' }).waitFor();
    await addStep(page, 'abs');
    await eventually(() => commandLine(page)).toContain('--input office-two-weeks.csv');
    const results = await downloaded(page, () => page.getByRole('button', { name: 'Download results.csv' }).click());
    const [, ...rows] = readFileSync(join(examples, 'office-two-weeks.csv'), 'utf8').trim().split('\n');
    const expected = rows.map((row) => {
      const [time = '', value = ''] = row.split(',');
      return `${new Date(time).toISOString()},office-two-weeks,Abs,${Number(value)}`;
    });
    expect(results.bytes.toString().trim().split('\n').slice(1)).toEqual(expected);
  });

  it('fits the chart again also right after a zoom', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'office-temperature.csv', office);
    const chart = page.getByRole('application');
    const all = await chart.getAttribute('aria-label');
    await chart.focus();
    await page.keyboard.press('+');
    await page.keyboard.press('0');
    await page.waitForTimeout(500);
    expect(await chart.getAttribute('aria-label')).toBe(all);
  });

  it('goes back to the first samples in a table whose series has become shorter', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'office-temperature.csv', office);
    await addStep(page, 'aggregate');
    const table = page.getByRole('listitem', { name: 'Step 1, Aggregate' }).locator('.data-table');
    await table.getByText('Data table').click();
    await table.getByRole('button', { name: 'Next', exact: true }).click();
    const told = () => table.getByRole('status').textContent();
    await eventually(told).toMatch(/^26 to 50 of /);
    await page.getByLabel('interval').fill('P60D');
    const rows = table.locator('tbody tr');
    await eventually(async () => [await told(), await rows.count()]).toEqual(['1 to 7 of 7', 7]);
  });

  it('forgets the problem of a text that a form has replaced, and a link whose pipeline was taken back', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    const json = page.getByLabel('Request as JSON');
    await json.fill('[{');
    const problem = () => page.locator('#json-problems').textContent();
    await eventually(problem).toContain('JSON');
    await json.fill('[{ "metric": "out", "operations": [{ "operation": "Abs", "operation": "Round" }] }]');
    await eventually(problem).toBe('/0/operations/0/operation: expected each key of an object once, received it twice');
    await addStep(page, 'abs');
    await eventually(() => json.getAttribute('aria-invalid')).toBe('false');
    expect(await problem()).toBe('');
    await eventually(async () => linkText(page.url())).toContain('Abs');
    // A broken text is not run as the request before it.
    const results = page.getByRole('button', { name: 'Download results.csv' });
    await eventually(() => results.isDisabled()).toBe(false);
    await json.fill((await json.inputValue()).slice(0, -3));
    await eventually(() => results.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually(async () => linkText(page.url())).toContain('"draft":[]');
  });

  it('gives no empty file of a run that failed, and does not replay it; large values have all digits', async () => {
    const { page } = await open(fileUrl);
    const rows = Array.from({ length: 50 }, (_, hour) => [
      new Date(3_600_000 * hour).toISOString(),
      123_456_789 + hour,
    ]);
    await openCsv(page, 'meter.csv', ['timestamp,value', ...rows.map((row) => row.join())].join('\n'));
    await page.getByText('123,456,789 … 123,456,838').waitFor();
    const results = page.getByRole('button', { name: 'Download results.csv' });
    await addStep(page, 'lt');
    await page.getByRole('listitem', { name: 'Step 1, Lt' }).waitFor();
    await eventually(() => results.isDisabled()).toBe(false);
    const of = (metric: string) => [{ timeseriesId: 'meter', metric }];
    const hold = {
      operation: 'HoldLastValue',
      input: of('Raw'),
      output: of('Held'),
      parameters: { interval: 'PT0.001S' },
    };
    const request = [{ metric: 'Held', processingType: 'batch', operations: [hold] }];
    await page.getByLabel('Request as JSON').fill(JSON.stringify(request));
    await page
      .getByText(/over the limit of/)
      .first()
      .waitFor();
    await eventually(() => results.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Stream' }).click();
    await page.getByText('The pipeline has a problem: see Build.').waitFor();
    // Not for a moment only, while it was to run.
    await page.getByRole('button', { name: 'Build' }).click();
    expect(await results.isDisabled()).toBe(true);
  });

  it('replays as a stream, which ends with the results of the batch', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'office-temperature.csv', office);
    await addStep(page, 'aggregate');
    await page.getByRole('button', { name: 'Stream' }).click();
    await page.getByLabel('Samples a second').selectOption('10000');
    await page.getByRole('button', { name: 'One sample' }).click();
    await eventually(() => page.getByRole('cell', { name: '1 of 7,267' }).count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Go on' }).click();
    await eventually(() => page.locator('.verdict').textContent()).toMatch(/^The end is the same: all [\d,]+ results/);
    const late = page.getByRole('row', { name: /Came too late/ }).getByRole('cell');
    expect(Number(((await late.textContent()) ?? '').replaceAll(',', ''))).toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });

  /** Opens a page where a pattern of so many series is replayed. */
  async function openReplay(seriesCount: number) {
    const { page, faults } = await open(fileUrl);
    const zones = Array.from({ length: seriesCount }, (_, zone) => `zone-${zone}`);
    const rows = Array.from({ length: 500 }, (_, minute) => {
      return [new Date(60_000 * minute).toISOString(), ...zones.map((_, zone) => (minute * zone) % 17)];
    });
    await openCsv(page, 'zones.csv', [['timestamp', ...zones], ...rows].map((row) => row.join()).join('\n'));
    const of = (metric: string) => [{ timeseriesId: '*', metric }];
    const step = { operation: 'Mul', input: of('Raw'), output: of('Twice'), parameters: { scalar: 2 } };
    const request = [{ metric: 'Twice', processingType: 'stream', operations: [step] }];
    await page.getByLabel('Request as JSON').fill(JSON.stringify(request));
    await page.getByRole('button', { name: 'Stream' }).click();
    return { page, faults };
  }

  it('replays no further once it is paused, also while a step is computed', async () => {
    const { page } = await openReplay(200);
    await page.getByLabel('Samples a second').selectOption('10000');
    const arrived = () => page.getByRole('progressbar').getAttribute('value');
    await page.getByRole('button', { name: 'Play' }).click();
    await eventually(async () => Number(await arrived())).toBeGreaterThan(0);
    for (let pauses = 0; pauses < 4; pauses++) {
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.waitForTimeout(500);
      const before = await arrived();
      await page.waitForTimeout(500);
      expect(await arrived()).toBe(before);
      await page.getByRole('button', { name: 'Go on' }).click();
    }
  });

  it('draws a replay of very many results, in a picture that is high enough for their names', async () => {
    const { page, faults } = await openReplay(200);
    await page.getByRole('button', { name: 'One sample' }).click();
    await eventually(() => page.locator('.replay-chart').textContent()).toContain('zone-199/Twice');
    const [outer, lines] = await page.locator('.replay-chart svg').all();
    expect(Number(await lines?.getAttribute('height'))).toBe(160);
    expect(Number(await outer?.getAttribute('height'))).toBeGreaterThan(380);
    expect(faults).toEqual([]);
  });

  it.each([
    ['smaller than a thousandth', [0.0001, 0.0002, 0.0004], /^0\.000\d+$/],
    ['that differ by their last bits', [1e9, 1e9 + 2 ** -22, 1e9], /^[\d,]+$/],
  ])('labels each tick of values %s otherwise', async (_, values, form) => {
    const { page } = await open(fileUrl);
    await page.evaluate(`globalThis.written = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        written.push(text);
        return fillText.call(this, text, ...place);
      };`);
    const rows = values.map((value, i) => `${new Date(60_000 * i).toISOString()},${value}`);
    await openCsv(page, 'meter.csv', ['timestamp,value', ...rows, ''].join('\n'));
    const ticks = async () => new Set((await page.evaluate<string[]>('written')).filter((text) => form.test(text)));
    await eventually(async () => (await ticks()).size).toBeGreaterThan(3);
  });

  it('is complete in dark mode and on a phone', async () => {
    const { page } = await open(fileUrl, {
      colorScheme: 'dark',
      viewport: { width: 390, height: 800 },
      hasTouch: true,
    });
    await page.getByRole('button', { name: 'Office temperature' }).click();
    await page.getByRole('region', { name: 'office-two-weeks.csv' }).waitFor();
    await addStep(page, 'mask');
    await page.getByText('valuerangelist', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
    await eventually(width).toBeLessThanOrEqual(390);
    await page.getByRole('button', { name: 'Stream' }).click();
    await page.getByRole('button', { name: 'One sample' }).click();
    await eventually(() => page.getByRole('cell', { name: '1 of 336' }).count()).toBe(1);
    await eventually(width).toBeLessThanOrEqual(390);
  });
});
