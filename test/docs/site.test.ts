import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSite } from '../../scripts/site.mjs';
import { createPlan, runBatch } from '../../src/index.js';
import { operations } from '../../src/inspect/index.js';
import { createApp } from '../../src/service/http/app.js';
import { addErrorHandler } from '../../src/service/http/errors.js';
import { registerGuide } from '../../src/service/http/guide.js';
import { systemRandom } from '../../src/service/system.js';
import { missingBrowser, useBrowser } from '../workbench/browser.js';

const open = useBrowser();
const folder = mkdtempSync(join(tmpdir(), 'windrow-site-'));
let pages: string[] = [];
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

beforeAll(async () => {
  pages = await buildSite(folder, { operations, createPlan, runBatch });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The targets of links and images. */
function targetsOf(html: string): string[] {
  return [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, target]) => target!);
}

describe('the site generated from docs/', () => {
  it('has one page for each page of docs/', () => {
    expect(pages).toEqual(expect.arrayContaining(['index.html', 'operations.html', 'semantics.html', 'service.html']));
    expect(new Set(pages).size).toBe(pages.length);
  });

  it('has links and pictures whose targets exist', () => {
    const broken = pages.flatMap((page) =>
      targetsOf(read(page))
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => {
          const [file = '', anchor] = target.split('#');
          const path = file === '' ? page : file;
          if (!existsSync(join(folder, path)) || !statSync(join(folder, path)).isFile()) return true;
          return anchor !== undefined && !read(path).includes(` id="${anchor}"`);
        })
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('has a picture of each operation, with samples before and after', () => {
    const html = read('operations.html');
    for (const name of operations.keys()) {
      const place = `operations/${name.toLowerCase().replaceAll(' ', '-')}.svg`;
      expect(html).toContain(`src="${place}"`);
      const summary = /^<svg .*<desc>([^<]*)<\/desc>/s.exec(read(place))?.[1];
      expect(summary).toMatch(/input: \d+ samples/);
      expect(summary).toMatch(/result: \d+ samples/);
    }
  });

  it('has no header without a word, and leaves out no level of headings', () => {
    for (const page of pages) {
      const html = read(page);
      expect(html, page).not.toMatch(/<th[^>]*><\/th>/);
      const levels = [...html.matchAll(/<h([1-6]) /g)].map(([, level]) => Number(level));
      expect(
        levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1),
        page,
      ).toEqual([]);
    }
  });

  it('names each table of a page by a name of its own', () => {
    for (const page of pages) {
      const names = [...read(page).matchAll(/role="region" aria-label="([^"]*)"/g)].map(([, name]) => name);
      expect(new Set(names).size, page).toBe(names.length);
    }
  });

  it.skipIf(missingBrowser !== undefined)('is no wider than a phone', async () => {
    const { page } = await open(
      pathToFileURL(join(folder, 'index.html')).href,
      { viewport: { width: 360, height: 740 } },
      '',
    );
    const wide: string[] = [];
    for (const name of pages) {
      await page.goto(pathToFileURL(join(folder, name)).href);
      if ((await page.locator('html').evaluate((html) => html.scrollWidth)) > 360) wide.push(name);
    }
    expect(wide).toEqual([]);
  });

  it('is at /guide/ of the service, with and without the slash', async () => {
    const app = createApp({ log: pino({ level: 'silent' }), random: systemRandom });
    addErrorHandler(app);
    await registerGuide(app, folder);
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    try {
      for (const path of ['/guide', '/guide/', '/guide?from=page', '/guide/index.html']) {
        const answer = await fetch(url + path);
        expect([answer.status, new URL(answer.url).pathname], path).toEqual([200, '/guide/index.html']);
        expect(await answer.text()).toBe(read('index.html'));
      }
      expect((await fetch(`${url}/guide/none.html`)).status).toBe(404);
      // Not with fetch, which makes a path without dots of it.
      const path = '/guide/../../package.json';
      const [outside] = (await once(get(url, { path }), 'response')) as [IncomingMessage]; // of node:http
      expect([outside.statusCode, await json(outside)]).toMatchObject([
        403,
        { status: { message: `the path ${path} leads out of the folder of its pages; send one without ..` }, data: {} },
      ]);
    } finally {
      await app.close();
    }
  });

  it('needs no script', () => {
    for (const page of pages) expect(read(page)).not.toMatch(/<script|<[^>]* on[a-z]+="|="javascript:/);
  });
});
