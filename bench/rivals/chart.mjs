/** The chart of docs/benchmarks.md: each rival's time as a multiple of windrow's, with results kept. */

const LEFT = 330;
const BAR = 14;
const WIDTH = 900;
const FULL_RATIO = 100;
const escaped = (text) => text.replaceAll('`', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** The length of a bar: logarithmic, from a tenth of windrow's time to a hundred times it. */
function lengthOf(times) {
  const share = (Math.log10(Math.min(Math.max(times, 0.1), FULL_RATIO)) + 1) / 3;
  return Math.round(share * (WIDTH - LEFT - 70));
}

function bar(label, times, y, isWindrow) {
  const length = lengthOf(times);
  const shown = times >= 10 ? times.toFixed(0) : times.toFixed(2);
  return `<text x="${LEFT - 8}" y="${y + 11}" text-anchor="end">${escaped(label)}</text>
<rect x="${LEFT}" y="${y}" width="${length}" height="${BAR - 2}" fill="${isWindrow ? '#1f7a4d' : '#9aa5b1'}"/>
<text x="${LEFT + length + 5}" y="${y + 11}">${shown} ×</text>`;
}

const timingOf = (figure) => figure.whole ?? figure.kept;

/** Tasks on one thread, each with its rivals as bars. */
export function chart(groups) {
  const parts = [];
  let y = 30;
  for (const figures of groups.filter(([{ threads }]) => threads === 1)) {
    const ran = figures.filter((figure) => figure.failed === undefined && timingOf(figure) !== undefined);
    const windrow = ran.find((figure) => figure.name === 'windrow');
    if (windrow === undefined) continue;
    parts.push(`<text x="10" y="${y + 12}" font-weight="bold">${escaped(figures[0].title)}</text>`);
    y += BAR + 6;
    for (const figure of ran.toSorted((a, b) => timingOf(a).medianMs - timingOf(b).medianMs)) {
      const times = timingOf(figure).medianMs / timingOf(windrow).medianMs;
      parts.push(bar(figure.label, times, y, figure === windrow));
      y += BAR;
    }
    y += 12;
  }
  const font = 'font-family="sans-serif" font-size="11"';
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" ${font}>`;
  const title = `Results kept (CSV: whole process), one thread: time taken as a multiple of windrow's (logarithmic)`;
  const caption = `<text x="10" y="16" font-size="13">${title}</text>`;
  return `${head}\n<rect width="${WIDTH}" height="${y}" fill="#fff"/>\n${caption}\n${parts.join('\n')}\n</svg>\n`;
}
