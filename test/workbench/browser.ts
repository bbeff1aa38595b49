// The page in a real browser. Without one, tests are skipped, except in CI, which installs one.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';

/** First the build of Chromium without windows, which takes a third less processor time. */
const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const places = names.map((name) => `/usr/bin/${name}`);
const executablePath = places.find((path) => existsSync(path));

/** Why the tests of the page cannot run here; undefined if they can. */
export const missingBrowser =
  executablePath === undefined && process.env.CI !== 'true' ? 'no chromium is installed' : undefined;
if (missingBrowser !== undefined) console.warn(`tests of the workbench are skipped: ${missingBrowser}`);

const pagePath = fileURLToPath(new URL('../../dist/workbench.html', import.meta.url));

/** The page as one file on disk. */
export const fileUrl = pathToFileURL(pagePath).href;
export const fileHtml = (): string => readFileSync(pagePath, 'utf8');

/**
 * How long to wait for anything before the test fails and says what it waited for. Playwright's 30 seconds were not
 * enough when many browsers started on a busy machine. The time limit of the whole test is longer.
 */
const WAIT_MS = 120_000;

/** One browser for the tests of a file. */
export function useBrowser() {
  let browser: Browser | undefined;
  let shared: BrowserContext | undefined;
  beforeAll(async () => {
    if (missingBrowser !== undefined) return;
    if (executablePath === undefined)
      throw new Error(`there is no browser at ${places.join(', ')}; .ci/run installs one`);
    browser = await chromium.launch({
      executablePath,
      timeout: WAIT_MS,
      // Containers may have little shared memory.
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  });
  afterAll(() => browser?.close());

  // The workbench stores nothing in the browser, so its pages share a context: to make one costs as much as to load it.
  async function contextFor(options: BrowserContextOptions): Promise<BrowserContext> {
    const isUsual = Object.keys(options).length === 0;
    if (isUsual && shared !== undefined) return shared;
    const context = await browser!.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    context.setDefaultTimeout(WAIT_MS);
    if (isUsual) shared = context;
    return context;
  }

  /** A new page; `faults` collects errors that the browser reports. `ready` is a button to wait for. */
  return async (url: string, options: BrowserContextOptions = {}, ready = 'Open files…') => {
    const context = await contextFor(options);
    const page = await context.newPage();
    // Left open, it would go on to compute and to draw.
    onTestFinished(() => (context === shared ? page.close() : context.close()));
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    await page.goto(url);
    if (ready !== '') await page.getByRole('button', { name: ready }).waitFor();
    return { page, faults };
  };
}

/** What axe finds wrong with the page in its current state. */
export async function violations(page: Page): Promise<string[]> {
  // Not a script element: the page's policy forbids it.
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    // `as`: the line above defines it.
    const page = globalThis as unknown as { axe: { run(): Promise<AxeResults> } };
    const { violations: found } = await page.axe.run();
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
  });
}

interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** Opens a CSV file on the page. */
export async function openCsv(page: Page, name: string, text: string): Promise<void> {
  await page.getByLabel('Files to open').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  await page.getByRole('region', { name, exact: true }).waitFor();
}

/** Names the result of a step; the name counts once it is whole. */
export async function nameResult(page: Page, name: string, label = 'result, as metric'): Promise<void> {
  const field = page.getByLabel(label, { exact: true });
  await field.fill(name);
  await field.press('Enter');
}

/** Adds a step by its name, using only the keyboard. */
export async function addStep(page: Page, operation: string): Promise<void> {
  const isFirst = await page.getByRole('button', { name: 'Add the first step' }).isVisible();
  await page
    .getByRole('button', { name: isFirst ? 'Add the first step' : 'Add step', exact: true })
    .last()
    .focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type(operation);
  await page.keyboard.press('Enter');
}

/** The text of the request on the page. */
export function requestText(page: Page): Promise<string> {
  return page.getByLabel('Request as JSON').inputValue();
}

/** The file that a button downloads. */
export async function downloaded(page: Page, press: () => Promise<void>): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/** Polls until `read` gives what is expected. */
export function eventually<Value>(read: () => Promise<Value>) {
  return expect.poll(read, { timeout: WAIT_MS, interval: 50 });
}
