import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatInstant } from '../../../src/core/instant.js';
import { readCsv } from '../../../src/formats/csv/index.js';

const folder = new URL('exports/', import.meta.url);
const names = readdirSync(folder).flatMap((name) => (name.endsWith('.csv') ? [name.slice(0, -'.csv'.length)] : []));

/** What reading a file gives, in the form of `expected.json`. */
function outcomeOf(name: string): unknown {
  const optionsFile = new URL(`${name}.options.json`, folder);
  const options = existsSync(optionsFile) ? JSON.parse(readFileSync(optionsFile, 'utf8')) : {};
  const { series, summary } = readCsv(readFileSync(new URL(`${name}.csv`, folder)), { fileName: name, ...options });
  return {
    layout: summary.layout,
    notes: summary.notes,
    series: Object.fromEntries(
      series.map(({ timeseriesId, metric, timeMs, value }) => [
        `${timeseriesId} / ${metric}`,
        [...timeMs].map((ms, i) => [formatInstant(ms), Number.isNaN(value[i]!) ? null : value[i]]),
      ]),
    ),
  };
}

describe('the export of a tool is read as the tool writes it', () => {
  test.each(names)('%s', (name) => {
    const file = new URL(`${name}.expected.json`, folder);
    if (process.env.UPDATE_EXPORTS) writeFileSync(file, `${JSON.stringify(outcomeOf(name), null, 1)}\n`);
    expect(outcomeOf(name)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  });
});
