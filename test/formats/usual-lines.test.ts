// Lines of line protocol that are read without a text of them give what `parsePoint` would have given.
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { FormatOptions } from '../../src/formats/format.js';
import { lineProtocol } from '../../src/formats/line-protocol/line-protocol.js';
import * as lines from '../../src/formats/lines.js';
import { readText } from './reading.js';

const name = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('a', 'b', 'temp', 'ä', 'xy') },
  fc.constantFrom('', 'a\\ b', 'a"b', 'a\\', '\ufeffa', '#a', 'a\tb', '😀', 'a\rb'),
);
const tag = fc.tuple(
  name,
  fc.constantFrom('1', 'w', 'ü', '', '"q"', 'a\\,b'),
  fc.constantFrom('=', '=', '=', '', '=='),
);
const key = fc
  .tuple(name, fc.array(tag, { maxLength: 2 }))
  .map(([measurement, tags]) => [measurement, ...tags.map(([of, value, equals]) => of + equals + value)].join(','));

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat(22)).map(([digits, places]) => {
    const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
    const point = text.length - places;
    return `${digits < 0n ? '-' : ''}${text.slice(0, point)}${places > 0 ? '.' : ''}${text.slice(point)}`;
  }),
  fc.constantFrom('0', '-0', '0.0', '1.50', '007', '1.', '.5', '+1', '1e3', '1E-2', '1e400', '-', '', '1.2.3', 'nan'),
);
const value = fc.oneof(
  { weight: 8, arbitrary: number },
  { weight: 2, arbitrary: number.map((text) => `${text}i`) },
  fc.constantFrom('1u', '0i', '1.5i', '1ii', '12i3', 't', 'T', 'f', 'true', 'False', 'TRUE', 'tr', 'truE', 'T1'),
  fc.constantFrom('"ok"', '""', '"a b,c=d"', '"a\\"b"', '"ä"', '"on"', '"a', '"a"b', '"a\rb"', '=1', '1=2'),
);
const field = fc.tuple(name, value, fc.constantFrom('=', '=', '=', '=', '=', '=', '', '=='));
const fields = fc.array(
  field.map(([of, given, equals]) => of + equals + given),
  { minLength: 1, maxLength: 4 },
);
const ns = fc.bigInt({ min: 10n ** 16n, max: 3n * 10n ** 18n });
const time = fc.oneof(
  { weight: 6, arbitrary: ns.map(String) },
  { weight: 2, arbitrary: ns.map((at) => String(at - (at % 1_000_000n))) },
  fc.tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat(20)).map(([at, cut]) => String(at).slice(cut)),
  fc.constantFrom('0', '1', '-1', '', '+5', '01704067200000000000', '1704067200', '1704067200000', '1e18', '1.5'),
);
const gap = fc.oneof({ weight: 30, arbitrary: fc.constant(' ') }, fc.constantFrom('', '  ', '\t', ' x '));
const end = fc.oneof(
  { weight: 20, arbitrary: fc.constant('\n') },
  fc.constantFrom('\r\n', ' \n', '\n\n', '\n# c\n', '\r\r\n'),
);
const line = fc
  .tuple(key, gap, fields, gap, time, end)
  .map(([of, first, given, second, at, ending]) => ({ text: of + first + given.join(',') + second + at, ending }));

/** Lines as most are: those of a few series, over and over. */
const usual = fc.record({
  keys: fc.array(key, { minLength: 1, maxLength: 3 }),
  names: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
  rows: fc.array(fc.tuple(fc.nat(), fc.array(value, { minLength: 3, maxLength: 3 }), time, end), { maxLength: 20 }),
});
const usualLines = usual.map(({ keys, names, rows }) =>
  rows.map(([at, values, of, ending]) => {
    const given = names.map((one, i) => `${one}=${values[i]}`);
    return { text: `${keys[at % keys.length]} ${given.join(',')} ${of}`, ending };
  }),
);

const OPTIONS: readonly (readonly [string, Partial<FormatOptions>])[] = [
  ['nanoseconds', {}],
  ['nanoseconds as they are said', { timeFormat: 'ns' }],
  ['microseconds', { timeFormat: 'us' }],
  ['milliseconds', { timeFormat: 'ms' }],
  ['seconds', { timeFormat: 's' }],
  ['times of another form', { timeFormat: 'ymd' }],
  ['values that stand for others', { states: { on: 5, ok: null, true: 7, '1.5': 3 } }],
  ['few rows a chunk', { chunkRows: 3 }],
  ['series that nobody wants', { wanted: ({ metric }) => metric !== 'a' }],
];

it.each(OPTIONS)('%s', async (_, options) => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.array(line, { maxLength: 30 }), usualLines),
      fc.array(fc.nat(2000), { maxLength: 3 }),
      async (rows, cuts) => {
        // A space before a line means nothing, and is not usual.
        const textAfter = (before: string) => rows.map(({ text, ending }) => before + text + ending).join('');
        const found = await readText(lineProtocol, textAfter(''), options, cuts);
        const expected = await readText(lineProtocol, textAfter(' '), options);
        expect({ ...found, lines: [] }).toEqual({ ...expected, lines: [] });
        expect(found.lines.every((at, i) => at >= (found.lines[i - 1] ?? 0))).toBe(true);
      },
    ),
  );
});

it('makes no text of usual lines', async () => {
  const rows = Array.from({ length: 3000 }, (_, i) => {
    const fields = `usage=${i / 8},count=${i}i,on=${i % 2 === 0 ? 't' : 'false'},state="o k"`;
    const inOrder = i % 3 === 0 ? fields : fields.split(',').reverse().join(',');
    return `cpu,host=${i % 7},zone=ä ${inOrder} ${1.7e12 + i}${i % 5}00007\r\n`;
  });
  const textOfRange = vi.spyOn(lines, 'textOfRange');
  try {
    const { summary, samples, rejected } = await readText(lineProtocol, rows.join(''));
    expect(summary).toMatchObject({ rows: 9000, missing: 0, rejected: 0 });
    expect(summary!.notes).toContain('texts left out: state');
    expect(rejected).toEqual([]);
    expect(samples.size).toBe(21);
    // Not `toHaveBeenCalled`, which would print the bytes of each call.
    expect(textOfRange.mock.calls.length).toBe(0);
  } finally {
    textOfRange.mockRestore();
  }
});

it('a line without an end, and a file that is cut off within a time', async () => {
  expect((await readText(lineProtocol, 'a f=1 1704067200000000000')).summary).toMatchObject({ rows: 1, rejected: 0 });
  const cut = await readText(lineProtocol, 'a f=1 1704067200000000000\na f=2 17040672000');
  expect(cut.summary).toMatchObject({ rows: 1, rejected: 1 });
  expect(cut.rejected).toMatchObject([{ line: 2 }]);
});
