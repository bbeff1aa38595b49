import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addStep, eventually, fileUrl, missingBrowser, openCsv, useBrowser, violations } from './browser.js';

const csv = 'timestamp,value\n2024-03-01T00:00:00Z,1\n2024-03-01T00:30:00Z,3\n2024-03-01T01:10:00Z,8\n';

describe.skipIf(missingBrowser !== undefined)('the keyboard', () => {
  const open = useBrowser();

  /** The name of what has the focus, as its labels and texts say. */
  const focused = (page: Page): Promise<string> =>
    page.locator(':focus').evaluate((element) => {
      const named = element.getAttribute('aria-labelledby');
      const own = named ? element.querySelector(`#${named}`)?.textContent : element.getAttribute('aria-label');
      return `${element.localName} ${own ?? element.textContent}`;
    });
  const press = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).focus();
    await page.keyboard.press('Enter');
  };

  it('stays with what it works on, whatever comes and goes', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    await press(page, 'Add the first step');
    // The browser gives the focus back before it says that the dialog has closed.
    const isGone = () => eventually(() => page.locator('dialog').count()).toBe(0);
    await page.keyboard.press('Escape');
    await eventually(() => focused(page)).toBe('button Add the first step');
    await isGone();
    await press(page, 'Add the first step');
    await press(page, 'Close');
    await eventually(() => focused(page)).toBe('button Add the first step');
    await isGone();
    await addStep(page, 'mul');
    await eventually(() => focused(page)).toBe('li Step 1, Mul');
    await addStep(page, 'round');
    await eventually(() => focused(page)).toBe('li Step 2, Round');
    await addStep(page, 'abs');
    await eventually(() => focused(page)).toBe('li Step 3, Abs');
    await press(page, 'Step 3, Abs: move up');
    await eventually(() => focused(page)).toBe('button Step 2, Abs: move up');
    await page.keyboard.press('Enter');
    // At the top there is no button to go on with.
    await eventually(() => focused(page)).toBe('li Step 1, Abs');
    await page.getByRole('combobox', { name: 'Operation of step 1' }).selectOption('Shift');
    await page.getByRole('combobox', { name: 'Operation of step 1' }).focus();
    await page.keyboard.press('ArrowDown');
    await eventually(() => focused(page)).toBe('select Operation of step 1');
    await press(page, 'Step 3, Round: remove');
    await eventually(() => focused(page)).toMatch(/^section Result/);
    await page.getByRole('button', { name: 'Undo' }).focus();
    while (await page.getByRole('button', { name: 'Undo' }).isEnabled()) await page.keyboard.press('Enter');
    await eventually(() => focused(page)).toBe('section Pipeline');
    await press(page, 'Remove meter.csv');
    await eventually(() => focused(page)).toBe('section Data');
    expect(faults).toEqual([]);
  });

  it('and a finger reach everything at 360 pixels, where nothing is cut off', async () => {
    const { page } = await open(fileUrl, { viewport: { width: 360, height: 740 }, hasTouch: true });
    await openCsv(page, 'meter.csv', csv);
    await addStep(page, 'aggregate');
    await page.getByLabel('interval').fill('Hourly');
    await eventually(() => page.getByRole('listitem', { name: 'Step 1, Aggregate' }).getByRole('img').count()).toBe(1);
    expect(await page.locator('html').evaluate((html) => html.scrollWidth)).toBe(360);
    // Of the header two lines, and each name of a series beside its tick.
    const heightOf = async (selector: string): Promise<number> =>
      (await page.locator(selector).first().boundingBox())?.height ?? 0;
    expect(await heightOf('header')).toBeLessThan(110);
    expect(await heightOf('.series .row')).toBeLessThan(40);
    expect(await page.locator('.series .name').evaluate((name) => name.scrollWidth <= name.clientWidth)).toBe(true);
    const legend = page.locator('.table-scroll', { has: page.locator('.legend') });
    expect(await legend.evaluate((table) => table.scrollWidth - table.clientWidth)).toBe(0);
    const colours = page.locator('header label');
    const widths = [colours, colours.locator('select')].map(async (one) => (await one.boundingBox())!.width);
    expect((await widths[0]!) - (await widths[1]!)).toBeGreaterThan(40);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Share link' }).click();
    const message = await page.locator('.message').boundingBox();
    expect(message!.width).toBeGreaterThan(300);
    await openCsv(page, 'the-meter-of-the-third-floor.csv', csv);
    const names = page.locator('.series .name');
    expect(await names.evaluateAll((all) => all.every((one) => one.scrollWidth <= one.clientWidth))).toBe(true);
  });

  it('hears how far a replay has come when it stops, and how the page of a table goes on', async () => {
    const { page } = await open(fileUrl);
    const rows = Array.from({ length: 30 }, (_, i) => `${new Date(60_000 * i).toISOString()},${i}`);
    await openCsv(page, 'meter.csv', ['timestamp,value', ...rows, ''].join('\n'));
    await addStep(page, 'abs');
    const step = page.getByRole('listitem', { name: 'Step 1, Abs' });
    await step.getByText('Data table').click();
    await step.getByRole('button', { name: 'Next' }).press('Enter');
    await step.getByRole('status').getByText('26 to 30 of 30').waitFor();
    await press(page, 'Stream');
    const told = page.getByRole('region', { name: 'Replay' }).getByRole('status');
    expect(await told.textContent()).toBe('');
    await press(page, 'One sample');
    await eventually(() => told.textContent()).toBe('1 of 30 samples have arrived.');
    await press(page, 'Go on');
    await eventually(() => told.textContent()).toMatch(/^The end is the same: /);
  });

  it('hears where the cursor of the chart is, which stays through an answer to why and a new range', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    await page.getByRole('application').focus();
    await page.keyboard.press('.');
    const told = page.getByRole('status').getByText('meter/Raw 3 at 2024-03-01 00:30:00');
    await told.waitFor();
    const why = page.getByRole('heading', { name: 'Why meter/Raw' });
    for (const _ of ['first', 'again']) {
      await page.keyboard.press('Enter');
      await why.waitFor();
      await page.keyboard.press('Escape');
      await why.waitFor({ state: 'detached' });
    }
    await page.keyboard.press('+');
    // The range is everybody's once it stays the same for a moment.
    await page.getByRole('application', { name: '2024-03-01 00:1' }).waitFor();
    expect(await told.count()).toBe(1);
  });

  it('takes lines off the chart at whose samples the cursor is', async () => {
    const { page, faults } = await open(fileUrl);
    await openCsv(page, 'pair.csv', 'timestamp,a,b\n2024-03-01T00:00:00Z,1,10\n2024-03-01T01:00:00Z,3,30\n');
    const legend = page.locator('table.legend');
    await legend.getByText('b/Raw').waitFor();
    await page.getByRole('application').focus();
    await page.keyboard.press('.');
    await legend.getByText('2024-03-01').nth(1).waitFor();
    await press(page, 'Take a/Raw off the chart');
    // Its own values, and not those of the line that was first.
    await eventually(() => legend.locator('tbody').textContent()).toBe('b/Raw10 … 30left×');
    await page.getByRole('application', { name: 'Chart of b/Raw, ' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('is in the answer to why as soon as that is there, so that no Escape is lost', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    await page.getByRole('application').focus();
    await page.keyboard.press('.');
    await page.getByRole('status').getByText('meter/Raw 3 at').waitFor();
    // An observer is told after the change of the page, before anything is painted or a key arrives.
    await page.evaluate(`{
      const observer = new MutationObserver(() => {
        if (document.getElementById('why-title') === null) return;
        globalThis.focusedFirst = document.activeElement.id;
        observer.disconnect();
      });
      observer.observe(document.body, { childList: true, subtree: true });
    }`);
    await page.keyboard.press('Enter');
    await page.locator('#why-title').waitFor();
    expect(await page.evaluate('focusedFirst')).toBe('why-title');
  });

  it('hears of a problem while the JSON is typed, at its field too, and of the results once it is mended', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    await addStep(page, 'round');
    await page.getByRole('status').getByText('meter/Round: 3 samples').waitFor({ state: 'attached' });
    const json = page.getByLabel('Request as JSON');
    const text = await json.inputValue();
    await json.fill(text.replace('"Raw"', '"Rav"'));
    const told = page.getByRole('status').getByText('Rav');
    await told.waitFor();
    const input = page.getByLabel('input', { exact: true });
    expect(await input.getAttribute('aria-invalid')).toBe('true');
    const places = [json, input].map(async (one) => `[id="${await one.getAttribute('aria-describedby')}"]`);
    for (const place of places) expect(await page.locator(await place).textContent()).toContain('Rav');
    await json.fill(text.slice(1));
    await page.getByRole('status').getByText('line 1').waitFor();
    await json.fill(text);
    await eventually(() => page.locator('.problems').count()).toBe(0);
  });

  it('scrolls nothing but the two columns of a wide page', async () => {
    const { page } = await open(fileUrl);
    await openCsv(page, 'meter.csv', csv);
    for (const operation of ['mul', 'abs', 'round']) await addStep(page, operation);
    await page.getByRole('listitem', { name: 'Step 3, Round' }).waitFor();
    expect(await page.locator('html').evaluate((html) => html.scrollHeight)).toBe(900);
  });
});
