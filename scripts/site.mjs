// Builds docs/ into a site of plain HTML, which `windrow serve` has at /guide; any web server or browser can open the
// folder, too.
//
//   node scripts/site.mjs [FOLDER]      into dist/site by default

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';
import { drawOperations } from './site-pictures.mjs';
import { pageHtml, styles } from './site-template.mjs';

const { escapeHtml } = new MarkdownIt().utils;
const rootPath = fileURLToPath(new URL('../', import.meta.url));

/** The pages in reading order. Pages that are not listed come last. */
const GROUPS = [
  [
    'Start',
    [
      'README.md',
      'docs/workbench.md',
      'docs/command.md',
      'docs/library.md',
      'docs/stream.md',
      'docs/fleets.md',
      'docs/recipes.md',
      'docs/coming-from.md',
    ],
  ],
  ['Reference', ['docs/operations.md', 'docs/semantics.md', 'docs/errors.md', 'CHANGELOG.md']],
  ['Service', ['docs/service.md', 'docs/scale.md', 'docs/reliability.md', 'docs/security.md']],
  ['Inside', ['docs/architecture.md', 'docs/performance.md', 'docs/benchmarks.md', 'docs/benchmarks-service.md']],
  ['Project', ['CONTRIBUTING.md', 'SECURITY.md']],
];

const OTHERS = 'More';

/** Builds the site, with pictures computed by the library; returns the names of its pages. */
export async function buildSite(folder, library) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const groups = presentGroups();
  const sources = groups.flatMap(([, paths]) => paths);
  const titles = new Map(sources.map((path) => [path, titleOf(read(path))]));
  const pictures = await drawOperations(library, folder);
  for (const path of sources) {
    const navigation = groups.map(([name, paths]) => ({
      name,
      links: paths.map((to) => ({ href: htmlName(to), title: navigationTitle(to, titles), isHere: to === path })),
    }));
    const { html: text, headings } = render(read(path), path, sources, folder);
    const html = path === 'docs/operations.md' ? withPictures(text, pictures) : text;
    const at = sources.indexOf(path);
    const neighbour = (to) => to && { href: htmlName(to), title: navigationTitle(to, titles) };
    const page = { title: titles.get(path), html, headings, navigation };
    const around = { before: neighbour(sources[at - 1]), after: neighbour(sources[at + 1]) };
    writeFileSync(join(folder, htmlName(path)), pageHtml({ ...page, ...around }));
  }
  writeFileSync(join(folder, 'site.css'), styles);
  return sources.map(htmlName);
}

// The picture of an operation comes after the first paragraph below its heading.
function withPictures(html, pictures) {
  return html.replace(/<h2 id="[^"]*">([^<]+)<\/h2>\n<p>.*?<\/p>\n/gs, (whole, name) => {
    const picture = pictures.get(name);
    if (picture === undefined) return whole;
    const caption = `${escapeHtml(picture.title)}: <code>${escapeHtml(picture.parameters)}</code>`;
    const alt = escapeHtml(`${name}, before and after`);
    return `${whole}<figure><img src="${picture.place}" alt="${alt}"><figcaption>${caption}</figcaption></figure>\n`;
  });
}

function presentGroups() {
  const present = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...markdownIn('docs')];
  const known = GROUPS.map(([name, paths]) => [name, paths.filter((path) => present.includes(path))]);
  const listed = known.flatMap(([, paths]) => paths);
  return [...known, [OTHERS, present.filter((path) => !listed.includes(path))]].filter(([, paths]) => paths.length > 0);
}

function markdownIn(folder) {
  return readdirSync(join(rootPath, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

function read(path) {
  return readFileSync(join(rootPath, path), 'utf8');
}

const titleOf = (markdown) => /^# (.+)$/m.exec(markdown)?.[1] ?? 'windrow';
const OWN_NAMES = { 'README.md': 'index.html', 'SECURITY.md': 'reporting.html' };
const htmlName = (path) => OWN_NAMES[path] ?? basename(path).toLowerCase().replace(/md$/, 'html');
const navigationTitle = (path, titles) => (path === 'README.md' ? 'Start here' : titles.get(path));

/** The anchor of a heading as GitHub names it, so that links in the Markdown work here too. */
export function anchorOf(title) {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

/** The HTML of a page and its headings of the second level; copies the files that it shows. */
function render(markdown, path, sources, folder) {
  const headings = [];
  const md = new MarkdownIt({ html: false, linkify: false });
  // Comments are notes for the tests.
  const shown = markdown.replace(/^<!--.*-->$/gm, '');
  let place = '';
  let tableCount = 0;
  md.renderer.rules.heading_open = (tokens, index) => {
    const title = tokens[index + 1].content;
    place = title.replaceAll('`', '');
    const { tag } = tokens[index];
    if (tag === 'h2') headings.push({ anchor: anchorOf(title), title: title.replaceAll('`', '') });
    return `<${tag} id="${anchorOf(title)}">`;
  };
  // A cell above the names of rows is no header.
  const cell = (tokens, index, options, _, self) => {
    const isEmpty = tokens[index + tokens[index].nesting].content === '';
    if (isEmpty) tokens[index].tag = 'td';
    return self.renderToken(tokens, index, options);
  };
  md.renderer.rules.th_open = cell;
  md.renderer.rules.th_close = cell;
  // Wide tables and long lines scroll by themselves, also by keyboard.
  md.renderer.rules.table_open = () => {
    const name = escapeHtml(`Table ${++tableCount}: ${place}`);
    return `<div class="scroll" role="region" aria-label="${name}" tabindex="0"><table>`;
  };
  md.renderer.rules.table_close = () => '</table></div>';
  md.renderer.rules.fence = (tokens, index) =>
    `<pre tabindex="0"><code>${escapeHtml(tokens[index].content)}</code></pre>\n`;
  md.core.ruler.push('links', ({ tokens }) => {
    for (const { children } of tokens) relink(children ?? [], path, sources, folder);
  });
  return { html: md.render(shown), headings };
}

// Links to pages become links to their HTML, links to files of docs/ lead to copies. Links to other files of the
// repository, which the site lacks, become plain text.
function relink(tokens, path, sources, folder) {
  let isLinkDropped = false;
  for (const token of tokens) {
    const name = token.type === 'image' ? 'src' : 'href';
    const target = token.attrGet(name);
    if (token.type === 'link_close' && isLinkDropped) {
      token.tag = 'span';
      isLinkDropped = false;
    }
    if (target === null || /^[a-z]+:|^#/.test(target)) continue;
    const moved = movedTarget(target, path, sources, folder);
    if (moved === undefined && token.type === 'image')
      throw new Error(`${path} shows ${target}, which is not in docs/`);
    if (moved !== undefined) token.attrSet(name, moved);
    else {
      token.tag = 'span';
      token.attrs = null;
      isLinkDropped = true;
    }
  }
}

function movedTarget(target, path, sources, folder) {
  const [file = '', anchor] = target.split('#');
  const from = posix.normalize(posix.join(dirname(path), file));
  if (sources.includes(from)) return htmlName(from) + (anchor === undefined ? '' : `#${anchor}`);
  const isFile = statSync(join(rootPath, from), { throwIfNoEntry: false })?.isFile() === true;
  if (!from.startsWith('docs/') || !isFile) return undefined;
  const to = from.slice('docs/'.length);
  mkdirSync(dirname(join(folder, to)), { recursive: true });
  copyFileSync(join(rootPath, from), join(folder, to));
  return to;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const library = { ...(await import('../dist/index.js')), ...(await import('../dist/inspect.js')) };
  const folder = process.argv[2] ?? join(rootPath, 'dist/site');
  console.error(`${folder}: ${(await buildSite(folder, library)).length} pages`);
}
