// Rows that are read without JSON.parse give what it would have given: samples, counts, faults with their lines.
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { FormatOptions } from '../../src/formats/format.js';
import { ndjson } from '../../src/formats/ndjson/ndjson.js';
import { readText } from './reading.js';

/** So many rows decide what the fields are; only those after them are read otherwise. */
const SAMPLE_LINES = 400;

const read = (text: string, options: Partial<FormatOptions> = {}, cuts: readonly number[] = []) =>
  readText(ndjson, text, options, cuts);

const blank = fc.constantFrom('', '', '', ' ', '\t', '  ');
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat(25)).map(([digits, places]) => {
    const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
    const point = text.length - places;
    return `${digits < 0n ? '-' : ''}${text.slice(0, point)}${places > 0 ? '.' : ''}${text.slice(point)}`;
  }),
  fc.constantFrom('0', '-0', '0.0', '1.50', '007', '1.', '.5', '+1', '1e3', '1E-2', '1e400', '-1e400', '-', '1.2.3'),
  fc.constantFrom('999999999999999.9', '9007199254740993', '123456789012345678901234567890', '0.1000000000000000055'),
);
const text = fc.oneof(
  fc.constantFrom(
    '"a"',
    '"b"',
    '"a\\nb"',
    '"\\u0061"',
    '"ä"',
    '""',
    '" a "',
    '"7"',
    '"a,b}"',
    '"1.5"',
    '"x\ty"',
    '"😀"',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }).map((one) => JSON.stringify(one)),
);
const nested = fc
  .json({ maxDepth: 4 })
  .chain((json) =>
    fc.constantFrom(json, json.replaceAll(/([{,:[])/g, ' $1\t'), json.replace(/[}\]]$/, ''), `${json}1`),
  );
const other = fc.oneof(
  fc.constantFrom('null', 'true', 'false', 'nul', '{}', '[1]', '{"a":1}', '', 'NaN'),
  fc.constantFrom(
    '{"a":1,"a":2}',
    '[{"b":[],"b":1}]',
    '{"a":{"a":1},"b":[1,[2]]}',
    '[1,]',
    '{,}',
    '{"a"}',
    '[ ]',
    '{1:2}',
  ),
  fc.constantFrom(
    '[-0.5e+3,1E9,0]',
    '[01]',
    '[1.]',
    '[.5]',
    '[1e]',
    '[-]',
    '[1e999]',
    '["ä","\\u0061"]',
    '[[[[[[]]]]]]',
  ),
  nested,
);
const time = fc.oneof(
  { weight: 6, arbitrary: fc.date({ noInvalidDate: true }).map((date) => JSON.stringify(date)) },
  fc.constantFrom(
    '"2024-03-31T01:30:00Z"',
    '"2024-03-31T02:30:00"',
    '"2024-10-27T02:30:00.000"',
    '"2024-02-30T00:00:00Z"',
  ),
  fc.constantFrom('"2024-01-31T24:00:00Z"', '"2024-01-31T24:00:00.000Z"', '"2024-01-31T23:59:60Z"', '"2024-01-31"'),
  fc.constantFrom(
    '"2024-01-31T10:00:00+01:00"',
    '"2024-01-31T10:00:00.1234567Z"',
    '"2024-01-31T1a:00:00Z"',
    '" 2024-01-31T10:00:00Z"',
  ),
  fc.constantFrom(
    '1700000000',
    '1700000000000',
    '1.7e9',
    '1700000000.25',
    '"1700000000"',
    '20240131',
    '"0000-01-01T00:00:00Z"',
  ),
  fc.constantFrom(
    '"2024-01-31T10:00:00.12 Z"',
    '"2024-01-31 10:00:00Z"',
    '"2024-01-31T10:00:00.1a3Z"',
    '"2024/01/31T10:00:00Z"',
  ),
);
const cells = { time, timeseriesId: text, metric: text, value: number, note: fc.oneof(text, number, other) };
type Field = keyof typeof cells;

/**
 * A row as it is written, with its keys apart. A new field is a series where each field is one: rows that wait
 * together have it from the first of them on, so there it does not come.
 */
function rowOf(fields: readonly Field[], isWide: boolean) {
  const cellsOfRow = fields.map((name) =>
    fc.record({
      name: fc.oneof(
        { weight: 60, arbitrary: fc.constant(name) },
        fc.constantFrom(isWide ? 'value' : 'new', ...fields),
      ),
      cell: fc.oneof({ weight: 30, arbitrary: cells[name] }, text, number, other),
      isThere: fc.oneof({ weight: 30, arbitrary: fc.constant(true) }, fc.constant(false)),
      spaces: fc.tuple(blank, blank, blank, blank),
    }),
  );
  const end = fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom('}', ' }', '} ') },
    fc.constantFrom('', '}}', ',}', '} x', ']'),
  );
  return fc.tuple(fc.tuple(...cellsOfRow), fc.boolean(), end).map(([all, isReversed, closing]) => {
    const there = all.filter(({ isThere }) => isThere);
    return { fields: isReversed ? there.reverse() : there, closing };
  });
}

/** @param keyOf a key in JSON. */
function lineOf(
  { fields, closing }: ReturnType<ReturnType<typeof rowOf>['generate']>['value'],
  keyOf: (name: string) => string,
) {
  const texts = fields.map(({ name, cell, spaces: [a, b, c, d] }) => `${a}${keyOf(name)}${b}:${c}${cell}${d}`);
  return `{${texts.join(',')}${closing}`;
}

const escaped = (name: string) => `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"`;

const lineEnd = fc.constantFrom('\n', '\n', '\n', '\r\n', '\n\n', '\r\n\r\n', '\n \n');

const LAYOUTS: readonly (readonly [string, readonly Field[], Partial<FormatOptions>])[] = [
  ['one series', ['time', 'value'], {}],
  ['a series in each row', ['time', 'timeseriesId', 'value', 'note'], {}],
  ['a series and a metric in each row', ['metric', 'timeseriesId', 'time', 'value'], {}],
  ['a series for each field', ['time', 'value', 'note'], { wanted: ({ timeseriesId }) => timeseriesId !== 'note' }],
  ['local times', ['time', 'timeseriesId', 'value'], { timezone: 'Europe/Berlin' }],
  ['times in a unit', ['time', 'timeseriesId', 'value'], { timeFormat: 'ms' }],
  ['values that stand for others', ['time', 'timeseriesId', 'value'], { states: { 0: null, '1.5': 7, true: 5 } }],
  ['few rows a chunk', ['time', 'timeseriesId', 'value'], { chunkRows: 3 }],
];

it.each(LAYOUTS)('%s', async (_, fields, options) => {
  const head = Array.from({ length: SAMPLE_LINES }, (__, i) => {
    const of = {
      time: options.timeFormat === 'ms' ? i : new Date(1.7e12 + i).toISOString(),
      timeseriesId: `s${i % 2}`,
      metric: 'm',
      value: i,
      note: 1,
    };
    return JSON.stringify(Object.fromEntries(fields.map((name) => [name, of[name]])));
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(rowOf(fields, options.wanted !== undefined), lineEnd), { maxLength: 60 }),
      fc.array(fc.nat(2000), { maxLength: 3 }),
      async (rows, cuts) => {
        const textWith = (keyOf: (name: string) => string) =>
          [...head.map((line) => `${line}\n`), ...rows.map(([row, end]) => lineOf(row, keyOf) + end)].join('');
        const [found, expected] = await Promise.all([
          read(
            textWith((name) => JSON.stringify(name)),
            options,
            cuts,
          ),
          read(textWith(escaped), options),
        ]);
        const { lines, ...result } = found!;
        const { lines: __, ...wanted } = expected!;
        expect(result).toEqual(wanted);
        expect(lines.every((line, i) => line >= (lines[i - 1] ?? 0))).toBe(true);
      },
    ),
  );
});

it('takes usual rows without JSON.parse, also where a field comes late', async () => {
  const rows = Array.from({ length: 5000 }, (_, i) => {
    const row = {
      timestamp: new Date(1.7e12 + i * 1000).toISOString(),
      timeseriesId: `s${i % 7}`,
      note: 'x',
      val: i / 8,
    };
    const late = i < 1000 ? {} : { late: 'ä' };
    return JSON.stringify(i % 2 === 0 ? row : { ...row, ...late, val: null, timestamp: 1.7e12 + i });
  });
  const parse = vi.spyOn(JSON, 'parse');
  try {
    const { summary } = await read(`${rows.join('\n')}\n`);
    expect(summary).toMatchObject({ rows: 5000, missing: 2500, rejected: 0 });
    expect(summary!.notes).toContain('left out: the field "late", as the first rows do not have it');
    // Those that decide what the fields are, before and after the new one.
    expect(parse.mock.calls.length).toBeLessThanOrEqual(2 * SAMPLE_LINES);
  } finally {
    parse.mockRestore();
  }
});

it.each(['{"time":"2024-01-01","value":12', '{"time":"2024-01-01","value":1.', '{"value":1,"time":17'])(
  'a file that is cut off within a number: %s',
  async (end) => {
    const rows = Array.from({ length: 500 }, (_, i) => `{"time":${1.7e12 + i},"value":${i}}\n`);
    const { summary, rejected } = await read(rows.join('') + end);
    expect(summary).toMatchObject({ rows: 500, rejected: 1 });
    expect(rejected).toMatchObject([{ line: 501 }]);
  },
);

it.each(['{"time":1704', '{"time":1700000000000,\n"value":12'])(
  'a row after a blank line, where the block ends within a number: %s',
  async (end) => {
    const rows = Array.from({ length: 500 }, (_, i) => `{"time":${1.7e12 + i},"value":${i}}\n\n`);
    const { summary, rejected } = await read(rows.join('') + end);
    expect(summary).toMatchObject({ rows: 500 });
    expect(rejected).toMatchObject([{ line: 1001 }, { line: 1002 }].slice(0, end.split('\n').length));
  },
);

it('takes a file whose first lines are blank, cut anywhere', async () => {
  const text = `\n \n${JSON.stringify([{ time: '2024-01-01', value: 1 }])}`;
  for (let cut = 1; cut < text.length; cut++) {
    async function* blocks() {
      yield new TextEncoder().encode(text.slice(0, cut));
      yield new TextEncoder().encode(text.slice(cut));
    }
    const lines: number[] = [];
    const listener = { onChunk: (_: unknown, line: number) => lines.push(line), isStopped: () => false };
    expect(await ndjson.read({ name: 'x', blocks }, { fileName: 'x' }, listener)).toMatchObject({ rows: 1 });
    expect(lines).toEqual([3]);
  }
});
