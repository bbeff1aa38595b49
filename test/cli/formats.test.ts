// Formats other than CSV: a run reads and writes the same samples in each.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import * as arrows from 'apache-arrow';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import type { Series } from '../../src/core/series.js';
import { arrow } from '../../src/formats/arrow/arrow.js';
import { ndjson } from '../../src/formats/ndjson/ndjson.js';
import { parquet } from '../../src/formats/parquet/parquet.js';
import { createWorld, type Ended, requestText, type World } from './world.js';

const ROWS = ['2024-03-01T00:00:00.000Z', '2024-03-01T00:01:00.000Z', '2024-03-01T00:02:00.123456Z'];
const CSV = `timestamp,value\n${ROWS.map((time, i) => `${time},${i + 0.1}\n`).join('')}`;
const HEADER = 'timestamp,timeseriesId,metric,value\n';
const RESULT = HEADER + ROWS.map((time, i) => `${time},office,Result,${-i - 0.1}\n`).join('');

function negating(files: Readonly<Record<string, string | Uint8Array>> = {}): World {
  const world = createWorld();
  const [item] = JSON.parse(requestText('Mul', { scalar: -1 }));
  world.write('request.json', JSON.stringify([item]));
  world.write('back.json', JSON.stringify([item]).replaceAll('Result', 'Back').replaceAll('Raw', 'Result'));
  for (const [name, content] of Object.entries(files)) world.write(name, content);
  return world;
}

const run = (world: World, input: string, ...words: string[]): Promise<Ended> =>
  world.run('run', '~/request.json', '--input', `~/${input}`, ...words);

it('--encoding takes the names of browsers, and is for CSV: other formats refuse what their text is not', async () => {
  const bytes = readFileSync(new URL('../formats/files/duckdb-decimals.parquet', import.meta.url));
  const rows = [`{"timestamp":"${ROWS[0]}","value":1}`, '{"timestamp":"2024-03-02","value":2}'].join('\n');
  const lines = 'office value=1 1709251200000000000\n';
  const world = negating({ 'office.ndjson': rows, 'office.lp': lines, 'office.parquet': bytes, 'office.csv': CSV });
  for (const name of ['office.ndjson', 'office.lp', 'office.parquet']) {
    const { code, stderr } = await run(world, name, '--encoding', 'latin1', '--as', 'office');
    expect([code, stderr.includes(`${name}: the option encoding (windows-1252) is for CSV`)]).toEqual([2, true]);
  }
  expect(await run(world, 'office.ndjson', '--encoding', 'utf8')).toMatchObject({ code: 0 });
  const { code, stderr } = await run(world, 'office.csv', '--encoding', 'klingon');
  expect([code, stderr]).toEqual([2, expect.stringContaining('--encoding: expected utf-8 or utf-16le')]);
  expect(await run(world, 'office.csv', '--encoding', 'ISO-8859-1')).toMatchObject({ code: 0, stdout: RESULT });
});

it('rows of Parquet that all lie outside the run give no results, as with CSV', async () => {
  const bytes = readFileSync(new URL('../formats/files/duckdb-decimals.parquet', import.meta.url));
  const world = negating({ 'office.csv': CSV, 'days.parquet': bytes });
  const later = ['--as', 'office', '--from', '2030-01-01'];
  for (const [name, ...more] of [['office.csv'], ['days.parquet', '--value', 'd9']] as const) {
    expect(await run(world, name, ...more, ...later)).toMatchObject({ code: 0, stdout: HEADER });
  }
});

it('series of Parquet that lie outside the run are there, as with CSV', async () => {
  // One row a row group: `early` comes in the first two alone.
  const data = [
    { at: '2024-01-01', id: 'early', value: 1 },
    { at: '2024-01-02', id: 'early', value: 2 },
    { at: '2024-02-01', id: 'office', value: 3 },
  ];
  const columnData = [
    { name: 'timestamp', data: data.map(({ at }) => new Date(at)), type: 'TIMESTAMP' as const },
    { name: 'timeseriesId', data: data.map(({ id }) => id), type: 'STRING' as const },
    { name: 'value', data: data.map(({ value }) => value), type: 'DOUBLE' as const },
  ];
  const world = negating({
    'long.parquet': new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 1 })),
    'long.csv': `timestamp,timeseriesId,value\n${data.map(({ at, id, value }) => `${at},${id},${value}\n`).join('')}`,
  });
  const [item] = JSON.parse(requestText('Coalesce', {}));
  item.operations[0].input = ['early', 'office'].map((timeseriesId) => ({ timeseriesId, metric: 'Raw' }));
  world.write('request.json', JSON.stringify([item]));
  const ends = ['2024-01-15', '2025-01-01'].map((from) =>
    Promise.all(['long.csv', 'long.parquet'].map((name) => run(world, name, '--from', from))),
  );
  for (const [csv, parquet] of await Promise.all(ends)) {
    expect(csv!.code).toBe(0);
    expect([parquet!.code, parquet!.stdout]).toEqual([0, csv!.stdout]);
  }
});

describe('results', () => {
  it.each(['out.ndjson', 'out.parquet', 'out.arrow', 'out.arrows'])('as %s read back the same', async (name) => {
    const world = negating({ 'office.csv': CSV });
    const written = await run(world, 'office.csv', '--output', `~/${name}`);
    expect(written).toMatchObject({ code: 0, stdout: '' });
    expect(world.files()).toEqual(['back.json', 'office.csv', name, 'request.json']);
    const back = await world.run('run', '~/back.json', '--input', `~/${name}`);
    expect(back.stderr).not.toContain('left out');
    expect(back.stdout).toBe(
      CSV.replaceAll(/,(?=\d+\.1\n)/g, ',office,Back,').replace(',value', ',timeseriesId,metric,value'),
    );
  });

  it('in Parquet and Arrow are exact to the microsecond in every year', async () => {
    const rows = ['0001-01-04T12:17:01.570152Z,1', '1969-12-31T23:59:59.999999Z,2', '9999-12-31T23:59:59.999008Z,3'];
    for (const name of ['out.parquet', 'out.arrow']) {
      const world = negating({ 'office.csv': `timestamp,value\n${rows.join('\n')}\n` });
      await run(world, 'office.csv', '--output', `~/${name}`);
      const direct = await run(world, 'office.csv');
      const back = await world.run('run', '~/back.json', '--input', `~/${name}`);
      const timesOf = ({ stdout }: Ended): string[] => stdout.split('\n').map((line) => line.split(',')[0]!);
      expect(timesOf(back)).toEqual(timesOf(direct));
    }
  });

  it.each([
    ['x.parquet', parquet],
    ['x.arrow', arrow],
    ['x.arrows', arrow],
    ['x.ndjson', ndjson],
  ])('of many batches are in order: %s', async (name, format) => {
    const parts: Uint8Array[] = [];
    const writer = await format.openWriter!((bytes) => parts.push(bytes.slice()), name);
    const count = 110_000;
    const timeMs = Float64Array.from({ length: count }, (_, i) => 17e11 + i * 1000.5);
    const series = ['a', 'b'].map((timeseriesId, sign) => {
      return { timeseriesId, metric: 'M', timeMs, value: timeMs.map((ms) => (1 - 2 * sign) * (ms - 17e11)) };
    });
    for (const one of series) writer.write(one);
    writer.end();
    const bytes = new Uint8Array(Buffer.concat(parts));
    const found = new Map<string, number[]>();
    const onChunk = (chunk: readonly Series[]): void => {
      for (const one of chunk) {
        const list = found.get(one.timeseriesId) ?? [];
        found.set(one.timeseriesId, list);
        one.value.forEach((value, i) => {
          list.push(one.timeMs[i]!, value);
        });
      }
    };
    const source = {
      name: 'x',
      blocks: async function* () {
        for (let at = 0; at < bytes.length; at += 70_000) yield bytes.slice(at, at + 70_000);
      },
    };
    const options = { fileName: 'x', chunkRows: 8192 };
    await format.read(source, options, { onChunk, isStopped: () => false });
    for (const { timeseriesId, value } of series) {
      const expected = [...value].flatMap((one, i) => [timeMs[i]!, one]);
      expect(found.get(timeseriesId)!.every((one, i) => Object.is(one, expected[i]))).toBe(true);
      expect(found.get(timeseriesId)).toHaveLength(expected.length);
    }
  });

  it('are an Arrow stream in a file of that name, as other tools expect, and an Arrow file otherwise', async () => {
    const world = negating({ 'office.csv': CSV });
    const isFile = async (name: string): Promise<boolean> => {
      expect((await run(world, 'office.csv', '--output', `~/${name}`)).code).toBe(0);
      return world.read(name).startsWith('ARROW1');
    };
    expect([await isFile('out.arrow'), await isFile('out.feather'), await isFile('out.arrows')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('are refused in a read-only format', async () => {
    const { code, stderr } = await run(negating({ 'office.csv': CSV }), 'office.csv', '--output', '~/out.lp');
    expect([code, stderr]).toEqual([
      2,
      'windrow: --output: expected a format that is written (.csv, .ndjson, .parquet, .arrow), ' +
        'received line-protocol, only read\n',
    ]);
    const named = await run(negating({ 'office.csv': CSV }), 'office.csv', '--output-format', 'line-protocol');
    expect([named.code, named.stderr]).toEqual([
      2,
      'windrow: --output-format: expected csv or ndjson or parquet or arrow, received "line-protocol"\n',
    ]);
  });
});

describe('results in a file whose name promises another format', () => {
  it.each(['out.xlsx', 'OUT.JSON', 'out.tsv', 'out.sqlite'])('are refused: %s', async (name) => {
    const world = negating({ 'office.csv': CSV });
    const { code, stderr } = await run(world, 'office.csv', '--output', `~/${name}`);
    const expected = 'expected a name that ends in .csv, .ndjson, .parquet, .arrow';
    const mend = 'or name the format with --output-format';
    expect([code, stderr]).toEqual([2, `windrow: --output: ${expected}, received ~/${name}; ${mend}\n`]);
    expect(world.files()).toEqual(['back.json', 'office.csv', 'request.json']);
    const named = await run(world, 'office.csv', '--output', `~/${name}`, '--output-format', 'ndjson');
    expect(named.code).toBe(0);
    expect(world.read(name)).toMatch(/^\{.*\}\n/);
  });

  it.each(['out', 'out.txt', 'out.dat', 'out.2024', 'json', 'my.json.csv'])('are CSV in others: %s', async (name) => {
    const world = negating({ 'office.csv': CSV });
    expect((await run(world, 'office.csv', '--output', `~/${name}`)).code).toBe(0);
    expect(world.read(name)).toMatch(/^timestamp,/);
  });
});

describe('NDJSON', () => {
  const objects = ROWS.map((time, i) => ({ timestamp: time, timeseriesId: 'office', value: i + 0.1, note: 'x' }));
  const text = objects.map((one) => `${JSON.stringify(one)}\n`).join('');

  it('takes the series from a field, or from the file name or an option, compressed or not', async () => {
    const single = text.replaceAll('"timeseriesId":"office",', '').replaceAll(',"note":"x"', '');
    const files = { 'long.ndjson': text, 'office.jsonl.gz': gzipSync(single), 'plain.txt': `\n${text}` };
    const world = negating(files);
    expect((await run(world, 'long.ndjson')).stdout).toBe(RESULT);
    expect((await run(world, 'office.jsonl.gz')).stdout).toBe(RESULT);
    expect((await run(world, 'plain.txt', '--format', 'ndjson')).stdout).toBe(RESULT);
  });

  it('asks in the way CSV does, and says what is wrong with a line', async () => {
    const world = negating({ 'keyed.ndjson': text.replaceAll('timeseriesId', 'device'), 'bad.ndjson': `${text}[1]\n` });
    expect((await run(world, 'keyed.ndjson')).stderr).toContain('say it with the option series (--series device)');
    expect((await run(world, 'keyed.ndjson', '--series', 'device')).stdout).toBe(RESULT);
    expect((await run(world, 'bad.ndjson')).stderr).toContain('line 4: expected a JSON object, received "[1]"');
    world.write('nested.ndjson', `${text}${text.replaceAll(/"value":[^}]*/g, '"value":{"mean":1}')}`);
    const { stderr } = await run(world, 'nested.ndjson');
    expect(stderr).toContain('line 4: value: an object is not a number; expected one number a field');
    world.write('time.ndjson', text.replace(ROWS[1]!, 'noon'));
    const skipped = await run(world, 'time.ndjson', '--on-bad-row', 'skip', '--rejects', '~/bad.csv');
    expect(skipped.stderr).toContain('1 bad row');
    expect(world.read('bad.csv')).toContain('time.ndjson,2,');
  });

  it('a series or a metric is named by a text or a number: what is nested is a bad row', async () => {
    const nested = [{ timeseriesId: { room: 1 } }, { timeseriesId: ['office'] }, { metric: { of: 'Raw' } }];
    for (const names of nested) {
      const rows = objects.map((one, i) => ({ ...one, metric: 'Raw', ...(i === 1 ? names : {}) }));
      const world = negating({ 'x.ndjson': rows.map((one) => `${JSON.stringify(one)}\n`).join('') });
      const { code, stderr } = await run(world, 'x.ndjson');
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^windrow: ~\/x\.ndjson, line 2: an .* names no series\n/),
      ]);
      const skipped = await run(world, 'x.ndjson', '--on-bad-row', 'skip');
      expect(skipped.stdout).toBe(RESULT.replace(/\n.*-1\.1/, ''));
    }
  });

  it('lines that are no objects, as one that was cut off, are bad rows, left out and counted if so asked', async () => {
    const cut = text.replace('\n', '\n{"timestamp":"2024-\n');
    const world = negating({ 'office.ndjson': `${cut}[1]` });
    const { code, stderr } = await run(world, 'office.ndjson');
    expect([code, stderr]).toEqual([1, expect.stringContaining('office.ndjson, line 2: expected a JSON object')]);
    const skipped = await run(world, 'office.ndjson', '--on-bad-row', 'skip', '--rejects', '~/bad.csv');
    expect(skipped).toMatchObject({ code: 0, stdout: RESULT });
    expect(skipped.stderr).toContain('  2 bad rows of ~/office.ndjson\n');
    expect(world.read('bad.csv').trimEnd().split('\n').slice(1)).toEqual([
      expect.stringMatching(/office\.ndjson,2,".* cannot be read: expected a JSON object/),
      expect.stringMatching(/office\.ndjson,5,".* cannot be read: expected a JSON object/),
    ]);
    world.write('office.ndjson', '1\n[2]\n');
    const none = await run(world, 'office.ndjson', '--on-bad-row', 'skip');
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('no line can be read; expected a JSON obj')]);
  });

  it('may be one array, as in .json files, on one line or many, with an element in several', async () => {
    const inLines = objects.map((one) => `${JSON.stringify(one, null, '\t')}\r\n`);
    for (const array of [
      JSON.stringify(objects),
      `\n${JSON.stringify(objects, null, 2)}\n`,
      `[${inLines.join(',')}]`,
    ]) {
      const world = negating({ 'x.json': array, 'x.ndjson': array, 'x.json.gz': gzipSync(array) });
      for (const name of ['x.json', 'x.ndjson', 'x.json.gz']) {
        expect(await run(world, name)).toMatchObject({ stdout: RESULT });
      }
      const single = array.replaceAll(/"timeseriesId":\s*"office",/g, '').replaceAll(/,\s*"note":\s*"x"/g, '');
      world.write('office.json', single);
      expect((await run(world, 'office.json')).stdout).toBe(RESULT);
    }
    expect((await run(negating({ 'x.json': '[]' }), 'x.json')).stderr).toContain('x.json: there are no rows');
    expect((await run(negating({ 'x.json': '[{}]' }), 'x.json')).stderr).toContain(
      'it has no columns; one column must',
    );
  });

  it('an array says what is wrong with an element, and is refused where it is cut off or goes on', async () => {
    const array = JSON.stringify(objects, null, 2);
    const cases: readonly (readonly [string, string, string])[] = [
      ['cut.json', array.slice(0, -1), 'cut.json, line 20: the array does not end; is the file cut off?'],
      ['cut.json', array.slice(0, 30), 'cut.json, line 3: the array does not end; is the file cut off?'],
      ['two.json', `${array}\n[]`, 'two.json, line 21: expected nothing after the array'],
      ['bad.json', array.replace('0.1', '0.1.1'), 'bad.json, line 2: expected a JSON object, received "{'],
      ['bad.json', '[\n\n  1]', 'bad.json, line 3: expected a JSON object, received "1"'],
      ['page.json', `{"next":null,"data":${array.replaceAll('\n', ' ')}}`, `take it out, as jq '.["data"]'`],
      [
        'page.json',
        `{\n"data":${array}}`,
        'page.json, line 1: expected a JSON object, received "{", which does not end',
      ],
      ['ended.json', `${array.slice(0, -1)}}`, 'ended.json, line 20: expected `]` after the array'],
      ['more.json', array.replace('},', '},,'), 'more.json, line 7: expected a value before the comma'],
      ['comma.json', `${array.slice(0, -1)},]`, 'comma.json, line 20: expected a value after the comma'],
      ['nan.json', array.replace('0.1', 'NaN'), ': expected a value, received `NaN`'],
      ['text.json', array.replace('"x"', '"}]\\",["').replace('0.1', '"noon"'), 'text.json, line 2: value: "noon"'],
    ];
    for (const [name, text_, problem] of cases) {
      const { code, stderr } = await run(negating({ [name]: text_ }), name);
      expect([code, stderr]).toEqual([1, expect.stringContaining(problem)]);
    }
    const skipped = await run(negating({ 'x.json': array.replace('{', '{{') }), 'x.json', '--on-bad-row', 'skip');
    expect([skipped.code, skipped.stderr]).toEqual([1, expect.stringContaining('the array does not end')]);
  });

  it('a number beyond the range of a double is a bad row, as in CSV, and no missing value', async () => {
    const world = negating({ 'office.ndjson': text.replace('1.1', '1e400').replace('2.1', '-1e400') });
    const { code, stderr } = await run(world, 'office.ndjson');
    const problem = 'the number of "value" is beyond the range of a double; expected null for a missing value';
    expect([code, stderr]).toEqual([1, expect.stringContaining(`office.ndjson, line 2: ${problem}`)]);
    const skipped = await run(world, 'office.ndjson', '--on-bad-row', 'skip');
    expect([skipped.code, skipped.stderr]).toEqual([0, expect.stringContaining('  2 bad rows of ~/office.ndjson\n')]);
  });

  it('a key that comes twice is a bad row, as one of the two would be lost', async () => {
    const world = negating({ 'office.ndjson': text.replace('"value"', '"value":1,"value"') });
    const { code, stderr } = await run(world, 'office.ndjson');
    const problem = 'expected each key of an object once, received "value" twice';
    expect([code, stderr]).toEqual([1, expect.stringContaining(`office.ndjson, line 1: ${problem}`)]);
    const skipped = await run(world, 'office.ndjson', '--on-bad-row', 'skip');
    expect([skipped.code, skipped.stderr]).toEqual([0, expect.stringContaining('  1 bad row of ~/office.ndjson\n')]);
  });

  it('the reason for which a row was left out begins with the column and the text at fault', async () => {
    const world = negating({ 'office.ndjson': text.replace(ROWS[0]!, 'noon').replace('1.1', '"n.a."') });
    await run(world, 'office.ndjson', '--on-bad-row', 'skip', '--rejects', '~/bad.csv');
    const [, time = '', value = ''] = world.read('bad.csv').replaceAll('"', '').split('\n');
    expect(time).toMatch(/office\.ndjson,1,noon is /);
    expect(value).toMatch(/office\.ndjson,2,column 3 \(value\): n\.a\. is not a number; /);
  });

  it('takes a field that first appears after many lines, or says that it is left out', async () => {
    const early = Array.from({ length: 500 }, (_, i) => `{"timestamp":${1_709_251_200 + i},"x":0}\n`).join('');
    const late = objects.map(({ timestamp, value }) => `{"timestamp":"${timestamp}","office":${value},"note":"n"}\n`);
    const world = negating({ 'late.ndjson': early + late.join('') });
    expect(await run(world, 'late.ndjson')).toMatchObject({ code: 0, stdout: RESULT });
    const single = late.join('').replaceAll('office', 'other');
    world.write('office.ndjson', early.replaceAll('"x"', '"value"') + single);
    const { stderr } = await run(world, 'office.ndjson');
    expect(stderr).toContain('left out: the field "other" and 1 more, as the first rows do not have it');
    // What looks at a file leaves texts out.
    const begun = await world.run('init', '~/late.ndjson');
    expect([begun.code, begun.stderr]).toEqual([0, expect.stringContaining('left out: the field "note", as')]);
  });
});

it('nested columns of Arrow are left out, as those of Parquet, also where a pattern reads every series', async () => {
  const { Field, Float64, List, Struct, Table, tableToIPC, TimestampMillisecond, Utf8, vectorFromArray } = arrows;
  const timestamp = vectorFromArray(
    ROWS.map((time) => new Date(time)),
    new TimestampMillisecond('UTC'),
  );
  const tags = vectorFromArray([['a'], ['b'], []], new List(new Field('item', new Utf8())));
  const of = vectorFromArray([{ lot: 1 }, { lot: 2 }, { lot: 3 }], new Struct([new Field('lot', new Float64())]));
  const office = vectorFromArray([1, 2, 3], new Float64());
  const world = negating({ 'x.arrow': tableToIPC(new Table({ timestamp, tags, of, office }), 'file') });
  world.write('request.json', world.read('request.json').replaceAll('"office"', '"*"'));
  const { code, stdout, stderr } = await run(world, 'x.arrow');
  expect([code, stdout]).toEqual([
    0,
    HEADER + ROWS.map((time, i) => `${time.replace('456Z', 'Z')},office,Result,-${i + 1}\n`).join(''),
  ]);
  expect(stderr).toContain('nested columns left out: tags, of\n');
});

it('two columns of one name are refused in Parquet and Arrow, as in CSV, unless neither is read', async () => {
  const { Field, Float64, makeData, RecordBatch, Schema, Struct, Table, tableToIPC } = arrows;
  const columns = [[1, 2].map((day) => 864e5 * day), [3, 4], [5, 6], [7, 8]];
  const names = ['timestamp', 'office', 'office', 'other'];
  const data = columns.map((column) => Float64Array.from(column));
  const type = new Float64();
  const schema = new Schema(names.map((name) => new Field(name, type)));
  const children = data.map((one) => makeData({ type, length: 2, data: one }));
  const struct = makeData({ type: new Struct(schema.fields), length: 2, nullCount: 0, children });
  const columnData = data.map((one, i) => ({ name: names[i]!, data: one }));
  const world = negating({
    'x.arrow': tableToIPC(new Table([new RecordBatch(schema, struct)]), 'file'),
    'x.parquet': new Uint8Array(parquetWriteBuffer({ columnData })),
  });
  for (const name of ['x.arrow', 'x.parquet']) {
    const { code, stderr } = await run(world, name, '--value', '3', '--as', 'office');
    expect([code, stderr]).toEqual([1, `windrow: ~/${name}: columns 2 and 3 are both named office; rename one\n`]);
    const other = await run(world, name, '--time-format', 'ms', '--value', 'other', '--as', 'office');
    expect(other.stdout).toContain('1970-01-03T00:00:00.000Z,office,Result,-8\n');
  }
});

it('columns of texts that no step reads are passed over, as in CSV', async () => {
  const objects = ROWS.map((time, i) => ({ timestamp: time, office: i + 0.1, note: 'x', of: { lot: 7 } }));
  const world = negating({ 'wide.ndjson': objects.map((one) => `${JSON.stringify(one)}\n`).join('') });
  expect(await run(world, 'wide.ndjson')).toMatchObject({ code: 0, stdout: RESULT });
  const timestamp = ROWS.map((time) => new Date(time));
  const table = arrows.tableFromArrays({ timestamp, office: [1, 2, 3], note: ['x', 'y', 'z'] });
  world.write('wide.arrow', arrows.tableToIPC(table, 'file'));
  expect((await run(world, 'wide.arrow')).stdout).toContain('office,Result,-3\n');
});

it('NDJSON: a name that is a number beyond 2^53 is refused, as several of them would be one', async () => {
  const line = (id: string) => `{"timestamp":"2024-01-01T00:00:00Z","timeseriesId":${id},"metric":"Raw","value":1}\n`;
  const world = negating({ 'x.ndjson': line('9007199254740991') + line('1234567890123456789') });
  const { code, stderr } = await run(world, 'x.ndjson');
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('x.ndjson, line 2: 1234567890123456800 may name several'),
  ]);
});

it('NDJSON: text that is not UTF-8 is named with its line', async () => {
  const line = '{"timestamp":"2024-01-01T00:00:00Z","timeseriesId":"office","value":1}\n';
  const bytes = Buffer.concat([Buffer.from(line.repeat(7)), Buffer.from(line.replace('office', '\xff'), 'latin1')]);
  expect((await run(negating({ 'x.ndjson': bytes }), 'x.ndjson')).stderr).toContain('x.ndjson, line 8: is not UTF-8');
  // Blocks of a file begin within characters: of either of these, some.
  const long = line.replace('office', 'é'.repeat(500)).repeat(3000);
  for (const shift of ['', ' ']) {
    const faulty = Buffer.concat([Buffer.from(shift + long), bytes]);
    const { stderr } = await run(negating({ 'x.ndjson': faulty }), 'x.ndjson');
    expect(stderr).toContain('x.ndjson, line 3008: is not UTF-8');
  }
});

it.each([
  ['1704067200', 's'],
  ['1704067200000', 'ms'],
  ['1704067200000000', 'us'],
])('line protocol: a time of %s is not taken for nanoseconds, which would be in 1970', async (time, unit) => {
  const world = negating({ 'office.lp': `office Raw=1 ${time}\n` });
  const { code, stdout, stderr } = await run(world, 'office.lp');
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(`(--time-format ${unit}, or ns)`)]);
  expect((await run(world, 'office.lp', '--time-format', unit)).stdout).toContain('2024-01-01T00:00:00.000Z,office,');
  expect((await run(world, 'office.lp', '--time-format', 'ns')).stdout).toContain('1970-01-');
});

it('line protocol: a series is a measurement with its tags, a metric is a field', async () => {
  const lines = [
    '# a comment',
    'weather,site=north\\ wing,location=office temp=0.1,hum=48i,state="a, b=c",ok=true 1709251200000000000',
    'weather,location=office,site=north\\ wing temp=1.1 1709251260000000000',
    'weather,location=office,site=north\\ wing temp=2.1 1709251320123456000',
  ];
  const world = negating({ 'office.lp': lines.join('\n') });
  const name = 'weather,location=office,site=north wing';
  const request = world.read('request.json').replaceAll('"Raw"', '"temp"').replaceAll('office', name);
  world.write('request.json', request);
  const ended = await run(world, 'office.lp');
  expect(ended.stdout).toBe(RESULT.replaceAll(',office,', `,"${name}",`));
  world.write('office.lp', 'weather temp=1\n');
  expect((await run(world, 'office.lp')).stderr).toContain('office.lp, line 1: the line has no time');
});

it('numbers and booleans that stand for a value, or for a missing one, do so in every format', async () => {
  const cells = [999, 5, 0, 1.5];
  const time = (i: number) => `2024-03-01T00:0${i}:00Z`;
  const objects = cells.map((value, i) => ({ timestamp: time(i), value }));
  const columnData = [
    { name: 'timestamp', data: cells.map((_, i) => new Date(time(i))), type: 'TIMESTAMP' as const },
    { name: 'value', data: cells, type: 'DOUBLE' as const },
  ];
  // The rows after the first 400 are read in another way.
  const many = Array.from({ length: 800 }, (_, i) => {
    const timestamp = new Date(Date.parse(time(0)) + 60_000 * i);
    return { timestamp, value: cells[i % cells.length] };
  });
  const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const world = negating({
    'a.csv': `timestamp,value\n${cells.map((value, i) => `${time(i)},${value}\n`).join('')}`,
    'b.json': JSON.stringify(objects),
    'c.ndjson': lines(many),
    'd.parquet': new Uint8Array(parquetWriteBuffer({ columnData })),
    'e.json': JSON.stringify(objects.map((row, i) => ({ ...row, value: i === 2 ? false : row.value }))),
    'f.lp': ['999', 'T', 'f', '1.5'].map((value, i) => `x value=${value} ${Date.parse(time(i))}000000\n`).join(''),
    'g.lp': cells.map((value, i) => `x value=${i === 2 ? '"False"' : value} ${Date.parse(time(i))}000000\n`).join(''),
  });
  const states = ['--as', 'office', '--states', '999=', '0=7', '1.5=2', 'false=7', 'true=5'];
  const { stdout } = await run(world, 'a.csv', ...states);
  expect(stdout).toBe(
    `${HEADER}${[5, 7, 2].map((value, i) => `2024-03-01T00:0${i + 1}:00.000Z,office,Result,${-value}\n`).join('')}`,
  );
  for (const name of ['b.json', 'd.parquet', 'e.json', 'f.lp', 'g.lp']) {
    expect([name, (await run(world, name, ...states)).stdout]).toEqual([name, stdout]);
  }
  const all = await run(world, 'c.ndjson', ...states);
  expect(all.stderr).toContain('200 missing values');
  expect(all.stdout.split('\n').filter((line) => /,-(?:5|7|2)$/.test(line))).toHaveLength(600);
});

it('an object or a deep array in a field is left out, whatever it is made of', async () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  for (const meta of ['{"toString":1}', '{"valueOf":1,"toString":"x"}', deep]) {
    const row = `{"timestamp":"${ROWS[0]}","timeseriesId":"office","value":0.1,"meta":${meta}}\n`;
    const { code, stdout } = await run(negating({ 'x.ndjson': row }), 'x.ndjson');
    expect([code, stdout]).toEqual([0, `${RESULT.split('\n').slice(0, 2).join('\n')}\n`]);
  }
});

it('a row that has an array of objects itself is asked about as any other', async () => {
  const row = '{"timestamp":"01/02/2024","value":1,"tags":[{"a":1}]}\n';
  const { code, stderr } = await run(negating({ 'office.ndjson': row }), 'office.ndjson');
  expect([code, stderr]).toEqual([2, expect.stringContaining('--time-format')]);
});

it('two values of one field in a line of line protocol are refused, as one would be lost', async () => {
  const { code, stderr } = await run(negating({ 'x.lp': 'w temp=1,rh=2,temp=3 1709251200000000000\n' }), 'x.lp');
  expect([code, stderr]).toEqual([1, expect.stringContaining('x.lp, line 1: the field temp has several values')]);
});

describe('a line of line protocol that InfluxDB 1.6 refuses', () => {
  it.each([
    ['w,site= temp=1 1', 'the tag "site=": expected `name=value`'],
    ['w,site temp=1 1', 'the tag "site": expected `name=value`'],
    ['w,=a temp=1 1', 'the tag "=a": expected `name=value`'],
    ['w, temp=1 1', 'the tag "": expected `name=value`'],
    ['w,a=b=c temp=1 1', 'the tag "a=b=c": expected `name=value`'],
    ['w,a=1,a=2 temp=1 1', 'the tag a has several values'],
    [',a=b temp=1 1', 'the line has no measurement'],
    ['w =1 1', 'the field "=1": expected `name=value`'],
    ['w temp=,x=1 1', 'the field "temp=": expected `name=value`'],
    ['w temp=1,,x=1 1', 'the field "": expected `name=value`'],
    ['w temp=48.5i 1', 'the field temp has the value 48.5i; expected a number, a boolean or a text'],
    ['w temp=1e3i 1', 'the field temp has the value 1e3i; expected a number, a boolean or a text'],
    ['w temp=tRue 1', 'the field temp has the value tRue; expected a number, a boolean or a text'],
  ])('is a bad row: %s', async (line, problem) => {
    const world = negating({ 'x.lp': `${line}\n` });
    const { code, stderr } = await run(world, 'x.lp');
    expect([code, stderr]).toEqual([1, expect.stringContaining(`x.lp, line 1: ${problem}\n`)]);
  });
});

it('the parts of a line of line protocol may stand several spaces apart, as in InfluxDB', async () => {
  const world = negating({ 'x.lp': '  w,site=a   temp=0.1,state="on  off"  1709251200000000000 \n' });
  const request = world.read('request.json').replaceAll('"Raw"', '"temp"').replaceAll('office', 'w,site=a');
  world.write('request.json', request);
  expect((await run(world, 'x.lp')).stdout).toBe(`${HEADER}${ROWS[0]},"w,site=a",Result,-0.1\n`);
});

it.each(['out.ndjson', 'out.parquet', 'out.arrow', 'out.arrows'])('0 and −0 stay apart in %s', async (name) => {
  const values = ['0', '-0', '1', '0', '-0', '1'];
  const rows = values.map((value, minute) => `2024-03-01T00:0${minute}:00.000Z,${value}\n`);
  const world = negating({ 'office.csv': `timestamp,value\n${rows.join('')}` });
  await run(world, 'office.csv', '--output', `~/${name}`);
  const { stdout } = await world.run('run', '~/back.json', '--input', `~/${name}`);
  expect([...stdout.matchAll(/Back,(.*)/g)].map(([, value]) => value)).toEqual(values);
});

it('quotes in a measurement and in tags of line protocol are characters like any other', async () => {
  const lines = [
    'pump"s,kind="old\\ one,size=5"pipe temp=0.1,state="a, b=\\"c" 1709251200000000000',
    'pump"s,size=5"pipe,kind="old\\ one temp=1.1 1709251260000000000',
    'pump"s,size=5"pipe,kind="old\\ one temp=2.1 1709251320123456000',
  ];
  const world = negating({ 'office.lp': lines.join('\n') });
  const name = 'pump"s,kind="old one,size=5"pipe';
  const request = world.read('request.json').replaceAll('"Raw"', '"temp"');
  world.write('request.json', request.replaceAll('office', JSON.stringify(name).slice(1, -1)));
  const ended = await run(world, 'office.lp');
  expect(ended.stdout).toBe(RESULT.replaceAll(',office,', `,"${name.replaceAll('"', '""')}",`));
});

it('tags are sorted by their names, as in the CSV of InfluxDB, whatever follows a name in another', async () => {
  const series = 'w,host=a,host1=b,my host=c';
  const world = negating({
    'x.lp': 'w,my\\ host=c,host1=b,host=a value=0.1 1709251200000000000\n',
    'x.csv': `_time,_measurement,my host,host1,host,_field,_value\n${ROWS[0]},w,c,b,a,value,0.1\n`,
  });
  world.write('request.json', world.read('request.json').replaceAll('"Raw"', '"value"').replaceAll('office', series));
  for (const name of ['x.lp', 'x.csv']) {
    expect((await run(world, name)).stdout).toBe(`${HEADER}${ROWS[0]},"${series}",Result,-0.1\n`);
  }
});

it('quotes in the names of fields are characters, and a field has one value', async () => {
  const world = negating({ 'office.lp': 'office 5"pipe=1,7"pipe=2,s="a=1,b" 1709251200000000000\n' });
  world.write('request.json', world.read('request.json').replaceAll('"Raw"', JSON.stringify('7"pipe')));
  expect((await run(world, 'office.lp')).stdout).toBe(`${HEADER}${ROWS[0]},office,Result,-2\n`);
  world.write('office.lp', 'office 7"pipe=2=3 1709251200000000000\n');
  const { code, stderr } = await run(world, 'office.lp');
  expect([code, stderr]).toEqual([1, expect.stringContaining('line 1: the field 7"pipe has several values')]);
});

it('texts in fields of line protocol, if only in some lines, are left out, which the summary says', async () => {
  const lines = ['office temp=0.1,state="on" 1709251200000000000', 'office temp="n/a" 1709251260000000000'];
  const world = negating({ 'office.lp': lines.join('\n') });
  world.write('request.json', world.read('request.json').replaceAll('"Raw"', '"temp"'));
  const { stdout, stderr } = await run(world, 'office.lp');
  expect(stdout).toBe(`${RESULT.split('\n').slice(0, 2).join('\n')}\n`);
  expect(stderr).toContain('; texts left out: state, temp\n');
});

it('lines of line protocol that were left out are counted', async () => {
  const lines = ['office temp=0.1 1709251200000000000', 'broken', 'office temp=1.1 noon'];
  const world = negating({ 'office.lp': lines.join('\n') });
  world.write('request.json', world.read('request.json').replaceAll('"Raw"', '"temp"'));
  const { stdout, stderr } = await run(world, 'office.lp', '--on-bad-row', 'skip', '--rejects', '~/bad.csv');
  expect(stdout).toBe(`${RESULT.split('\n').slice(0, 2).join('\n')}\n`);
  expect(stderr).toContain('  2 bad rows of ~/office.lp\n');
  const rejects = world.read('bad.csv').replaceAll('"', '');
  expect(rejects).toMatch(/office\.lp,2,broken cannot be read: .*\n.*office\.lp,3,noon is not an/);
});

describe('files written by other tools', () => {
  it.each(['polars-lz4.arrow', 'polars-zstd.arrow'])('with many compressed blocks: %s', async (name) => {
    const folder = new URL('../formats/files/', import.meta.url);
    const world = negating({ [name]: readFileSync(new URL(name, folder)) });
    const ended = await run(world, name, '--as', 'office');
    const values = ended.stdout
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((row) => Number(row.split(',')[3]));
    expect(values).toEqual(Array.from({ length: 10_000 }, (_, i) => -(i % 97) - 1));
  });

  it.each([
    ['d9', '-20.4', '0.007', '20.993'],
    ['d18', '-20.4', '-123456789012.34567', '20.993'],
    ['d38', '-20.4', '1234567890123456800', '20.993'],
  ])('decimals are the numbers that are written there, dates are local days: %s', async (column, ...values) => {
    const bytes = readFileSync(new URL('../formats/files/duckdb-decimals.parquet', import.meta.url));
    const world = negating({ 'office.parquet': bytes });
    const input = ['--value', column, '--as', 'office'];
    const { stdout, stderr } = await run(world, 'office.parquet', ...input, '--timezone', 'Europe/Berlin');
    const times = ['2024-03-29T23:00:00.000Z', '2024-03-30T23:00:00.000Z', '2024-04-01T22:00:00.000Z'];
    expect(stdout).toBe(HEADER + times.map((time, i) => `${time},office,Result,${values[i]}\n`).join(''));
    expect(stderr).not.toContain('epoch');
    const seconds = await run(world, 'office.parquet', ...input, '--time-format', 's');
    expect(seconds.stdout).toContain('2024-03-30T00:00:00.000Z');
  });

  it('decimals in byte arrays are the numbers that are written there', async () => {
    const bytes = readFileSync(new URL('../formats/files/decimals-of-bytes.parquet', import.meta.url));
    const { stdout } = await run(negating({ 'office.parquet': bytes }), 'office.parquet', '--as', 'office');
    const values = stdout
      .trim()
      .split('\n')
      .slice(1)
      .map((row) => row.split(',')[3]);
    expect(values.slice(0, 6)).toEqual(['-0.3', '-0.7', '1.1', '-1234.5', '-30', '0.1']);
  });

  it('a row group without rows is passed over', async () => {
    const bytes = readFileSync(new URL('../formats/files/empty-row-group.parquet', import.meta.url));
    const { stdout, stderr } = await run(negating({ 'office.parquet': bytes }), 'office.parquet');
    expect([stdout.trim().split('\n').length, stderr]).toEqual([3, expect.stringContaining('2 rows of 1 file')]);
  });

  it('names that are not UTF-8 are refused, as two of them would be one', async () => {
    const bytes = readFileSync(new URL('../formats/files/names-not-utf-8.parquet', import.meta.url));
    const { code, stderr } = await run(negating({ 'x.parquet': bytes }), 'x.parquet');
    expect([code, stderr]).toEqual([1, expect.stringContaining('a text in the column timeseriesId is not UTF-8')]);
  });

  it.each(['beside.parquet', 'beside.arrow'])(
    'columns beside those that are read may hold anything: %s',
    async (name) => {
      const bytes = readFileSync(new URL(`../formats/files/${name}`, import.meta.url));
      const world = negating({ [name]: bytes });
      const { code, stdout, stderr } = await run(world, name, '--value', 'value', '--as', 'office');
      expect([code, stdout]).toEqual([0, RESULT]);
      expect(stderr).toContain(
        name.endsWith('arrow')
          ? 'nested columns left out: tags, pair\n'
          : 'columns of intervals or BSON left out: span\n',
      );
      const blob = await run(world, name, '--value', 'blob', '--as', 'office');
      expect([blob.code, blob.stderr]).toEqual([
        1,
        expect.stringContaining(
          name.endsWith('arrow') ? 'blob: an object is not a number' : 'a text in the column blob is not UTF-8',
        ),
      ]);
    },
  );

  it('a nested column that has the name of another is left out, too', async () => {
    const bytes = readFileSync(new URL('../formats/files/equal-names.arrow', import.meta.url));
    const ended = await run(negating({ 'x.arrow': bytes }), 'x.arrow');
    expect(ended).toMatchObject({ code: 0, stdout: RESULT });
    expect(ended.stderr).toContain('nested columns left out: office\n');
  });

  it('nested columns are left out, which the summary says', async () => {
    const bytes = readFileSync(new URL('../formats/files/duckdb-nested.parquet', import.meta.url));
    const ended = await run(negating({ 'nested.parquet': bytes }), 'nested.parquet');
    expect(ended).toMatchObject({ code: 0, stdout: RESULT });
    expect(ended.stderr).toContain('nested columns left out: readings, batch, tags\n');
  });

  it('a column of times of day completes one of dates', async () => {
    const bytes = readFileSync(new URL('../formats/files/duckdb-clock.parquet', import.meta.url));
    const world = negating({ 'clock.parquet': bytes });
    expect(await run(world, 'clock.parquet')).toMatchObject({ code: 0, stdout: RESULT });
    const later = await run(world, 'clock.parquet', '--from', ROWS[1]!);
    expect(later.stdout).toBe(RESULT.replace(/\n.*,-0\.1/, ''));
    const local = await run(world, 'clock.parquet', '--timezone', 'Europe/Berlin');
    expect(local.stdout).toContain('2024-02-29T23:01:00.000Z,office,Result,-1.1\n');
  });

  it.each([
    [arrows.TimeUnit.SECOND, Int32Array.of(0, 60)],
    [arrows.TimeUnit.MILLISECOND, Int32Array.of(0, 60_000)],
    [arrows.TimeUnit.MICROSECOND, BigInt64Array.of(0n, 60_000_000n)],
    [arrows.TimeUnit.NANOSECOND, BigInt64Array.of(0n, 60_000_000_000n)],
  ])('so it does in Arrow, in units of number %i', async (unit, data) => {
    const { DateDay, Field, makeData, RecordBatch, Schema, Struct, Table, tableToIPC, Time } = arrows;
    const [date, time] = [new DateDay(), new Time(unit, unit < arrows.TimeUnit.MICROSECOND ? 32 : 64)];
    const schema = new Schema([
      new Field('date', date),
      new Field('time', time),
      new Field('office', new arrows.Float64()),
    ]);
    const children = [
      makeData({ type: date, length: 2, data: Int32Array.of(19_783, 19_783) }),
      makeData({ type: time, length: 2, data }),
      makeData({ type: new arrows.Float64(), length: 2, data: Float64Array.of(0.1, 1.1) }),
    ];
    const type = new Struct(schema.fields);
    const batch = new RecordBatch(schema, makeData({ type, length: 2, nullCount: 0, children }));
    const world = negating({ 'clock.arrow': tableToIPC(new Table([batch]), 'file') });
    expect((await run(world, 'clock.arrow')).stdout).toBe(`${RESULT.split('\n').slice(0, 3).join('\n')}\n`);
  });

  it('decimals and dates of Arrow are read likewise', async () => {
    const { DateDay, Decimal, makeData, RecordBatch, Field, Schema, Struct, tableToIPC, Table } = await import(
      'apache-arrow'
    );
    const [timestamp, value] = [new DateDay(), new Decimal(3, 18, 128)];
    const schema = new Schema([new Field('timestamp', timestamp), new Field('value', value)]);
    const words = [20_400, -7, 0, -(2 ** 40)].flatMap((digits) => {
      const all = BigInt.asUintN(128, BigInt(digits));
      return [0n, 32n, 64n, 96n].map((shift) => Number((all >> shift) & 0xffffffffn));
    });
    const children = [
      makeData({ type: timestamp, length: 4, data: Int32Array.of(19_812, 19_813, 19_814, 19_815) }),
      makeData({
        type: value,
        length: 4,
        nullCount: 1,
        nullBitmap: Uint8Array.of(0b1011),
        data: Uint32Array.from(words),
      }),
    ];
    const batch = new RecordBatch(
      schema,
      makeData({ type: new Struct(schema.fields), length: 4, nullCount: 0, children }),
    );
    const world = negating({ 'office.arrow': tableToIPC(new Table([batch]), 'file') });
    const { stdout, stderr } = await run(world, 'office.arrow', '--timezone', 'Europe/Berlin');
    const times = ['2024-03-29T23:00:00.000Z', '2024-03-30T23:00:00.000Z', '2024-04-01T22:00:00.000Z'];
    const values = ['-20.4', '0.007', '1099511627.776'];
    expect(stdout).toBe(HEADER + times.map((time, i) => `${time},office,Result,${values[i]}\n`).join(''));
    expect(stderr).not.toContain('epoch');
  });

  it('times and decimals in a dictionary, as a column of categories has them, are read as what they are', async () => {
    const { DateDay, Decimal, Dictionary, Field, Float64, makeData, makeVector, RecordBatch, Schema, Struct } = arrows;
    const { Int8, Table, tableToIPC, TimestampMillisecond } = arrows;
    const rows = (type: arrows.DataType, words: Int32Array | BigInt64Array | Uint32Array) => {
      const dictionary = makeVector(makeData({ type, length: 2, data: words } as never));
      const of = new Dictionary(type, new Int8());
      return makeData({ type: of, length: 3, data: Int8Array.of(0, 1, 0), dictionary } as never) as arrows.Data;
    };
    const readBack = async (time: arrows.Data, value: arrows.Data, ...words: string[]): Promise<string> => {
      const schema = new Schema([new Field('timestamp', time.type), new Field('value', value.type)]);
      const data = makeData({ type: new Struct(schema.fields), length: 3, nullCount: 0, children: [time, value] });
      const world = negating({ 'office.arrow': tableToIPC(new Table([new RecordBatch(schema, data)]), 'file') });
      return (await run(world, 'office.arrow', ...words)).stdout;
    };
    const numbers = makeData({ type: new Float64(), length: 3, data: Float64Array.of(1, 2, 3) });
    const decimals = rows(new Decimal(2, 18, 128), Uint32Array.of(125, 0, 0, 0, 250, 0, 0, 0));
    const days = rows(new DateDay(), Int32Array.of(1, 2));
    const instants = rows(new TimestampMillisecond('UTC'), BigInt64Array.of(1n, 2n));
    const result = (...rows: string[]) => HEADER + rows.map((row) => `${row}\n`).join('');
    expect(await readBack(instants, numbers)).toBe(
      result('1970-01-01T00:00:00.001Z,office,Result,-3', '1970-01-01T00:00:00.002Z,office,Result,-2'),
    );
    expect(await readBack(days, decimals, '--timezone', 'Europe/Berlin')).toBe(
      result('1970-01-01T23:00:00.000Z,office,Result,-1.25', '1970-01-02T23:00:00.000Z,office,Result,-2.5'),
    );
  });

  it('what the columns of an Arrow file are does not depend on how its rows are cut into batches', async () => {
    const dates = Array.from({ length: 20 }, (_, i) => `${String(i + 1).padStart(2, '0')}.03.2024 10:00`);
    const table = arrows.tableFromArrays({ Datum: dates, office: dates.map((_, i) => `${i},5`) });
    const { batches } = table;
    const results = await Promise.all(
      [
        [0, 20],
        [0, 0, 20],
        [0, 1, 20],
        [0, 0, 0, 3, 11, 20],
      ].map(async (cuts) => {
        const parts = cuts.slice(1).map((end, i) => batches[0]!.slice(cuts[i], end));
        const world = negating({ 'x.arrow': arrows.tableToIPC(new arrows.Table(parts), 'file') });
        return (await run(world, 'x.arrow')).stdout;
      }),
    );
    expect(results[0]).toContain('\n2024-03-20T10:00:00.000Z,office,Result,-19.5\n');
    expect(results.every((one) => one === results[0])).toBe(true);
  });

  it('Arrow streams that `cat` has joined are read to the last one', async () => {
    const streamOf = (from: number) => {
      const timestamp = ROWS.map((row) => new Date(Date.parse(row) + from * 864e5));
      return arrows.tableToIPC(arrows.tableFromArrays({ timestamp, office: [from + 1, from + 2] }), 'stream');
    };
    const other = arrows.tableToIPC(arrows.tableFromArrays({ timestamp: [new Date(0)], boiler: [1] }), 'stream');
    const joined = Buffer.concat([streamOf(0), streamOf(1), streamOf(2)]);
    const files = { 'x.arrows': joined, 'cut.arrows': joined.subarray(0, joined.length - 40) };
    const world = negating({ ...files, 'other.arrows': Buffer.concat([joined, other]) });
    const whole = await run(world, 'x.arrows', '--as', 'office');
    expect(whole.stdout.split('\n').map((row) => row.split(',')[3])).toEqual([
      'value',
      '-1',
      '-2',
      '-2',
      '-3',
      '-3',
      '-4',
      undefined,
    ]);
    for (const [name, problem] of [
      ['cut.arrows', /it ends within a message, so it is cut off/],
      ['other.arrows', /of the streams in it, a later one has other columns/],
    ] as const) {
      expect(await run(world, name, '--as', 'office')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(problem),
      });
    }
  });

  it('a damaged LZ4 block is detected', async () => {
    const damaged = readFileSync(new URL('../formats/files/polars-lz4.arrow', import.meta.url)).fill(0xff, 700, 1400);
    const world = negating({ 'damaged.arrow': damaged });
    const { stderr } = await run(world, 'damaged.arrow', '--as', 'office');
    expect(stderr).toContain('damaged.arrow: cannot be read as an Arrow file');
  });

  const folder = new URL('../formats/files/', import.meta.url);
  it.each([
    'duckdb.parquet',
    'duckdb-zstd.parquet',
    'polars.parquet',
    'polars.arrow',
    'polars-stream.arrows',
    'pyarrow-lz4.feather',
    'pyarrow-zstd.feather',
    'pyarrow-lz4.parquet',
  ])('%s', async (name) => {
    const world = negating({ [name]: readFileSync(new URL(name, folder)) });
    const ended = await run(world, name);
    expect(ended.stderr).not.toContain('sorry');
    expect(ended.stdout).toBe(RESULT);
    const later = await run(world, name, '--from', '2024-03-01T00:01:00Z');
    expect(later.stdout.split('\n')).toHaveLength(4);
    expect(await run(world, name, '--from', '20240301')).toMatchObject({ code: 0, stdout: RESULT });
  });
});

it('a file that does not match its format is refused with an error that says so', async () => {
  const world = negating({ 'x.parquet': CSV, 'x.arrow': CSV, 'x.csv.zst': CSV });
  expect((await run(world, 'x.parquet')).stderr).toMatch(/x\.parquet: cannot be read as a Parquet file/);
  expect((await run(world, 'x.arrow')).stderr).toMatch(/x\.arrow: (?:cannot be read as an Arrow file|has no rows)/);
  expect((await run(world, 'x.csv.zst')).stderr).toMatch(/x\.csv\.zst: cannot be decompressed .* complete zstd file/);
});

describe('a file compressed with zstd', () => {
  // Two frames as `zstd` writes them, with checksums; the data of the second is compressed.
  const packed = readFileSync(new URL('../formats/files/two-frames.csv.zst', import.meta.url));
  const skippable = Buffer.from('502a4d1803000000414243', 'hex');
  const readPacked = (bytes: Uint8Array) => run(negating({ 'a.csv.zst': bytes }), 'a.csv.zst', '--as', 'office');

  it('is read with all its frames, also after a skippable one', async () => {
    for (const bytes of [packed, Buffer.concat([skippable, packed])]) {
      const ended = await readPacked(bytes);
      expect(ended.stdout.split('\n').map((line) => line.split(',')[3])).toEqual([
        'value',
        '-1',
        '-2',
        '-3',
        undefined,
      ]);
    }
  });

  it('with any bit flipped is never read as other data', async () => {
    const whole = (await readPacked(packed)).stdout;
    for (let bit = 0; bit < 8 * packed.length; bit += 5) {
      const damaged = Buffer.from(packed);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      const { code, stdout, stderr } = await readPacked(damaged);
      // Flipping a bit of a mere hint, such as the window size, changes nothing.
      if (code === 0) expect(stdout).toBe(whole);
      else expect(stderr).toContain('a.csv.zst: cannot be decompressed');
    }
  });

  it('that is truncated anywhere is named in the error', async () => {
    for (let length = 1; length < packed.length; length += 9) {
      const { code, stderr } = await readPacked(packed.subarray(0, length));
      expect([code, stderr]).toEqual([expect.not.stringMatching('0'), expect.stringContaining('a.csv.zst')]);
    }
  });
});
