// Takes the screenshots in README and docs: opens dist/workbench.html in a browser, brings it into each state shown,
// and writes docs/images/workbench-*.png, at the size at which they are displayed.
//
//   npm run screenshots

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../', import.meta.url));
const images = join(root, 'docs/images');
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (executablePath === undefined) throw new Error('no chromium is installed: apt-get install chromium');

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
mkdirSync(images, { recursive: true });
try {
  await drawFile();
  await drawService();
} finally {
  await browser.close();
}

async function openPage(url, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, ...options });
  await page.goto(url);
  await page.getByRole('button', { name: 'Open files…' }).waitFor();
  return page;
}

async function shoot(page, name) {
  // Charts are drawn with half a second's delay.
  await page.waitForTimeout(900);
  await page.screenshot({ path: join(images, `workbench-${name}.png`) });
}

async function addStep(page, operation) {
  await page
    .getByRole('button', { name: /^Add (the first )?step$/ })
    .last()
    .click();
  await page.keyboard.type(operation);
  await page.keyboard.press('Enter');
}

/** Comfort hours of the office: the share of each day between two temperatures. */
async function buildComfort(page) {
  await page.getByRole('button', { name: 'Office temperature' }).click();
  await page.getByRole('region', { name: 'office-two-weeks.csv' }).waitFor();
  await addStep(page, 'gte');
  await page.getByLabel('scalar').fill('68');
  await addStep(page, 'aggregate');
  await page.getByLabel('interval').fill('Daily');
  await page.getByLabel('result, as metric').fill('Comfort');
}

/** How much the water of a heating circuit cools down, hour by hour. */
async function buildSpread(page) {
  await page.getByRole('button', { name: 'Heating circuit' }).click();
  await page.getByRole('region', { name: 'heating-circuit.csv' }).waitFor();
  await addStep(page, 'sub');
  await page.getByLabel('input 2').selectOption({ label: 'return/Raw' });
  await addStep(page, 'aggregate');
  await page.getByLabel('interval').fill('Hourly');
  await page.getByLabel('result, as metric').fill('Spread');
}

async function drawFile() {
  const url = `file://${join(root, 'dist/workbench.html')}`;
  const light = await openPage(url);
  await buildComfort(light);
  await light.getByRole('heading', { name: 'Data', exact: true }).scrollIntoViewIfNeeded();
  await shoot(light, 'build');
  await light.getByLabel('interval').fill('Dayly');
  await light.getByLabel('interval').scrollIntoViewIfNeeded();
  await shoot(light, 'problem');
  const origin = await openPage(url, { viewport: { width: 1200, height: 1000 } });
  await buildSpread(origin);
  await origin.getByRole('button', { name: 'Take supply/Spread off the chart' }).waitFor();
  await origin.locator('.chart-host .u-over').click({ position: { x: 300, y: 300 } });
  await shoot(origin, 'why');
  const dark = await openPage(url, { colorScheme: 'dark' });
  await buildComfort(dark);
  await dark.getByRole('button', { name: 'Stream' }).click();
  await dark.getByLabel('Samples a second').selectOption('10000');
  await dark.getByRole('button', { name: 'Play' }).click();
  await dark.locator('.verdict').waitFor();
  await shoot(dark, 'stream');
  const phone = await openPage(url, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  await buildComfort(phone);
  await phone.getByRole('application').scrollIntoViewIfNeeded();
  await shoot(phone, 'phone');
}

async function drawService() {
  const folder = mkdtempSync(join(tmpdir(), 'windrow-screenshots-'));
  const words = ['serve', '--demo', '--port', '0', '--data-dir', folder, '--log-level', 'error'];
  const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), ...words]);
  try {
    const told = await readUntil(child.stderr, /\/core\/events"\n\n$/);
    const of = (name) => new RegExp(`export WINDROW_${name}=(\\S+)`).exec(told)[1];
    const page = await openPage(`${of('URL')}/`, { viewport: { width: 1200, height: 1000 } });
    // The page says when it saw each state: the picture is the same every time.
    await page.clock.setFixedTime('2024-01-15T09:00:00.250Z');
    await buildSpread(page);
    await page.getByRole('button', { name: 'Send it to the service…' }).click();
    await page.getByLabel('Client id').fill(of('CLIENT'));
    await page.getByLabel('Client secret').fill(of('SECRET'));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('combobox', { name: 'How the service computes Spread' }).selectOption('stream ');
    await page.getByRole('button', { name: 'Send the samples and run it there' }).click();
    await page.locator('.verdict').waitFor();
    await shoot(page, 'service');
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readUntil(stream, awaited) {
  let text = '';
  for await (const piece of stream) {
    text += piece;
    if (awaited.test(text)) return text;
  }
  throw new Error(`the service ended:\n${text}`);
}
