import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { anchorsOf, linksOf } from './markdown.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .map((name) => join('docs', name))
  .filter((path) => statSync(join(root, path)).isFile());
const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...docs.filter((path) => /\.md$/.test(path)),
];

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The files that a page links to, as paths from the root, with their anchors. */
function targetsOf(page: string): { path: string; anchor: string | undefined }[] {
  const inside = linksOf(read(page)).filter((target) => !/^[a-z]+:/.test(target));
  return inside.map((target) => {
    const [path = '', anchor] = target.split('#');
    return { path: path === '' ? page : relative(root, join(root, dirname(page), path)), anchor };
  });
}

describe('links', () => {
  test.each(pages)('every link of %s has a target', (page) => {
    const broken = targetsOf(page).filter(({ path, anchor }) => {
      if (!existsSync(join(root, path))) return true;
      return anchor !== undefined && /\.md$/.test(path) && !anchorsOf(read(path)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test('no link leads out of the package that npm publishes', () => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    const isPublished = (path: string): boolean => files.some((one) => path === one || path.startsWith(`${one}/`));
    expect(pages.filter(isPublished)).toEqual(pages);
    expect(pages.flatMap(targetsOf).filter(({ path }) => !isPublished(path))).toEqual([]);
  });

  test('README.md links to every page of docs/, and the pages link to every other file there', () => {
    const linked = new Set(targetsOf('README.md').map(({ path }) => path));
    const unlinked = docs.filter((path) => /\.md$/.test(path) && !linked.has(path));
    expect(unlinked, 'link these in README.md').toEqual([]);
    for (const page of pages) for (const { path } of targetsOf(page)) linked.add(path);
    expect(docs.filter((path) => !linked.has(path))).toEqual([]);
  });
});
