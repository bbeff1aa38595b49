// The HTML template of the site's pages, which scripts/site.mjs fills in.

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const link = ({ href, title, isHere }) =>
  `<a href="${escaped(href)}"${isHere ? ' aria-current="page"' : ''}>${escaped(title)}</a>`;

/** A whole page, without scripts, so that it can be served with a strict Content-Security-Policy. */
export function pageHtml({ title, html, headings, navigation, before, after }) {
  const groups = navigation.map(
    ({ name, links }) =>
      `<h2>${escaped(name)}</h2>\n<ul>${links.map((one) => `<li>${link(one)}</li>`).join('\n')}</ul>`,
  );
  const contents = headings.map(({ anchor, title }) => `<li>${link({ href: `#${anchor}`, title })}</li>`);
  const onPage =
    contents.length < 2 ? '' : `<nav class="contents" aria-label="On this page"><ul>${contents.join('\n')}</ul></nav>`;
  const back = before === undefined ? '' : `<span>← ${link(before)}</span>`;
  const on = after === undefined ? '' : `<span>${link(after)} →</span>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title === 'windrow' ? title : `${title} · windrow`)}</title>
<link rel="stylesheet" href="site.css">
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<details class="menu"><summary>windrow</summary></details>
<nav class="pages" aria-label="Pages">
<p class="name"><a href="index.html">windrow</a></p>
${groups.join('\n')}
</nav>
<main id="content">
${html}
<p class="turn">${back}${on}</p>
</main>
${onPage}
</body>
</html>
`;
}

export const styles = `:root {
  --text: #1d2430; --faint: #5a6475; --line: #d9dee7; --back: #ffffff; --panel: #f5f7fa; --link: #0b5cad;
    --here: #e4edf8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #dfe5ee; --faint: #9aa6b8; --line: #323a48; --back: #12161d; --panel: #1a2029; --link: #7db7f5;
    --here: #233349;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; color: var(--text); background: var(--back);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  display: grid; grid-template-columns: 15rem minmax(0, 52rem) 14rem; column-gap: 2.5rem; justify-content: center;
}
a { color: var(--link); }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: .5rem 1rem; }
.menu { display: none; }
.pages { grid-column: 1; padding: 1.5rem 0 2rem 1.5rem; font-size: .92rem; position: sticky; top: 0;
    align-self: start;
  max-height: 100vh; overflow-y: auto; }
.pages .name { font-size: 1.3rem; font-weight: 700; margin: 0 0 1rem; }
.pages .name a { color: inherit; text-decoration: none; }
.pages h2 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--faint);
    margin: 1.2rem 0 .3rem; }
.pages ul, .contents ul { list-style: none; margin: 0; padding: 0; }
.pages li a { display: block; padding: .2rem .6rem; margin-left: -.6rem; border-radius: .35rem;
    text-decoration: none; }
.pages li a:hover { text-decoration: underline; }
.pages a[aria-current] { background: var(--here); color: var(--text); font-weight: 600; }
main { grid-column: 2; padding: 1.5rem 0 4rem; min-width: 0; }
.contents { grid-column: 3; padding: 2rem 1rem; font-size: .85rem; position: sticky; top: 0; align-self: start;
  max-height: 100vh; overflow-y: auto; border-left: 1px solid var(--line); }
.contents li { margin: .25rem 0; }
.contents a { color: var(--faint); text-decoration: none; }
.contents a:hover { color: var(--link); text-decoration: underline; }
h1 { font-size: 2rem; line-height: 1.2; margin: .4rem 0 1rem; }
h2 { font-size: 1.4rem; margin: 2.4rem 0 .8rem; padding-top: .6rem; border-top: 1px solid var(--line); }
.pages h2 { border: 0; padding: 0; }
h3 { font-size: 1.1rem; margin: 1.8rem 0 .6rem; }
code { font: .88em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--panel);
  padding: .12em .35em; border-radius: .25rem; overflow-wrap: anywhere; }
:is(td, th) code { overflow-wrap: normal; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .9rem 1.1rem;
    overflow-x: auto; }
pre code { background: none; padding: 0; font-size: .85rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .8rem; border-bottom: 1px solid var(--line); }
th { background: var(--panel); white-space: nowrap; }
figure { margin: 1rem 0; }
figcaption { font-size: .88rem; color: var(--faint); }
img { max-width: 100%; height: auto; background: var(--back); }
.turn { display: flex; justify-content: space-between; gap: 1rem; margin-top: 3rem;
    border-top: 1px solid var(--line); padding-top: 1rem; }
@media (max-width: 70rem) {
  body { grid-template-columns: 14rem minmax(0, 1fr); padding-right: 1.5rem; }
  .contents { display: none; }
}
@media (max-width: 46rem) {
  body { display: block; padding: 0 1rem; }
  .menu { display: block; padding: .8rem 0; font-weight: 700; }
  .pages { position: static; max-height: none; padding: 0 0 1rem; display: none; }
  .menu[open] + .pages { display: block; }
  .pages .name { display: none; }
}
`;
