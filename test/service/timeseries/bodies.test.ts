import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../../src/core/instant.js';
import type { Series } from '../../../src/core/series.js';
import { parseJson } from '../../../src/service/http/json.js';
import { type FramePart, FrameReader, writeFrame } from '../../../src/service/timeseries/columns-format.js';
import { jsonObjects, streamedForms } from '../../../src/service/timeseries/read/forms.js';
import { createSampleBatch, type SampleBatch, takeChanges } from '../../../src/service/timeseries/write/batch.js';
import {
  parseSamples,
  readJsonLine,
  readSamples,
  type SampleDefaults,
  SampleIssues,
} from '../../../src/service/timeseries/write/json.js';
import { UsualSamples } from '../../../src/service/timeseries/write/usual-json.js';

const name = fc.oneof(
  fc.constantFrom('room', 'Raw', 'a"b', 'ü', '\\', '日本'),
  fc.string({ minLength: 1, maxLength: 12 }),
);
const time = fc.oneof(
  fc.integer({ min: 0, max: 4e12 }).map((timeMs) => formatInstant(timeMs)),
  fc.constantFrom('2024-02-30T00:00:00Z', '2023-02-29T00:00:00Z', '2024-02-29T23:59:59.999Z', '2024-04-31T00:00:00Z'),
  fc.constantFrom('2024-01-01T24:00:00Z', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '2024-13-01T00:00:00Z'),
  fc.constantFrom('2024-01-31T12:00:00Z', '2024-01-31', '2024-01-31 12:00', '2024-01-31T12:00:00.5+02:00', 'never', ''),
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.integer().map(String),
  fc.constantFrom('null', '-0', '007', '1.', '.5', '1e3', '"x"', 'true', '1.50', '-12.25'),
);
const space = fc.constantFrom('', ' ', '\n', '\t', '\r\n');

const object = fc
  .tuple(name, name, time, number, fc.shuffledSubarray(['id', 'metric', 'time', 'val'], { minLength: 2 }), space)
  .map(([id, metric, timestamp, val, order, gap]) => {
    const fields: Record<string, string> = {
      id: `"timeseriesId"${gap}:${JSON.stringify(id)}`,
      metric: `"metric":${gap}${JSON.stringify(metric)}`,
      time: `"timestamp":${JSON.stringify(timestamp)}`,
      val: `"val":${gap}${val}${gap}`,
    };
    return `{${gap}${order.map((field) => fields[field]).join(`,${gap}`)}}`;
  });
const body = fc
  .tuple(fc.array(object, { maxLength: 8 }), space, fc.constantFrom('', '', '', ',', ']', '{', ' x'))
  .map(([objects, gap, fault]) => `${gap}[${gap}${objects.join(`${gap},`)}${gap}]${fault}`);

const usualLine = fc
  .record(
    {
      timeseriesId: fc.constantFrom('room', 'ü', 'hall'),
      metric: fc.constantFrom('Raw', 'room'),
      timestamp: fc.integer({ min: 0, max: 4e12 }).map((timeMs) => formatInstant(timeMs)),
      val: fc.integer(),
    },
    { requiredKeys: ['timestamp', 'val'] },
  )
  .map((sample) => JSON.stringify(sample));
const usualBody = fc.array(usualLine, { maxLength: 8 }).map((lines) => `[${lines.join(',')}]`);
const defaults = fc.record(
  { timeseriesId: fc.constantFrom('room', 'ü'), metric: fc.constantFrom('Raw', 'room') },
  { requiredKeys: [] },
);

async function readInto(batch: SampleBatch, text: string, defaults: SampleDefaults = {}): Promise<string[]> {
  const issues = new SampleIssues();
  try {
    const samples = await parseSamples(text, issues);
    readSamples(samples, 0, samples.length, batch, issues, defaults);
  } catch (error) {
    return [String(error)];
  }
  return issues.shown.map(({ pointer, expected, received }) => `${pointer} ${expected} ${received}`);
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

function rowsOf(batch: SampleBatch): unknown[] {
  return Array.from({ length: batch.rowCount }, (_, row) => {
    const { timeseriesId, metric } = batch.series[batch.seriesIndex[row]!]!;
    return [timeseriesId, metric, batch.timeMs[row], batch.value[row]];
  });
}

function cutInto(bytes: Uint8Array, partBytes: number): Uint8Array[] {
  const starts = Array.from({ length: Math.ceil(bytes.length / partBytes) }, (_, part) => part * partBytes);
  return starts.map((start) => bytes.subarray(start, start + partBytes));
}

describe('bodies of samples', () => {
  it('are read the same, with the same issues, whether the batch knows their series or not', async () => {
    let rowCount = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, usualBody), defaults, async (text, fixed) => {
        const batch = createSampleBatch();
        const first = await readInto(batch, text, fixed);
        const rows = rowsOf(batch);
        batch.rowCount = 0;
        expect(await readInto(batch, text, fixed)).toEqual(first);
        expect(rowsOf(batch)).toEqual(rows);
        rowCount += rows.length;
      }),
      { numRuns: 2000 },
    );
    expect(rowCount).toBeGreaterThan(200);
  });

  it('of the usual form are read as by the JSON reader, to which all others are left', async () => {
    const decimal = fc.tuple(fc.integer(), fc.stringMatching(/^[0-9]{0,18}$/)).map(([a, b]) => `${a}${b && `.${b}`}`);
    const usualOf = (text: string, fixed: SampleDefaults, partBytes = text.length) => {
      const batch = createSampleBatch();
      const reader = new UsualSamples(cutInto(Buffer.from(text), partBytes), fixed);
      while (reader.state === 'more') reader.read(batch);
      return reader.state === 'done' ? rowsOf(batch) : undefined;
    };
    const withDecimal = decimal.map((val) => `[{"timeseriesId":"a","timestamp":"2024-01-31T12:00:00Z","val":${val}}]`);
    const named = fc.record({
      timeseriesId: fc.constantFrom('room', 'ü', 'a "b"', '\\'),
      timestamp: fc.oneof(
        fc.integer({ min: 0, max: 4e12 }).map((timeMs) => formatInstant(timeMs)),
        fc.integer({ min: -1e15, max: 1e15 }),
      ),
      val: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)),
    });
    const many = fc.record({
      timeseriesId: fc.oneof(
        { arbitrary: fc.integer({ min: 0, max: 60 }).map((n) => `sensor-${n}`), weight: 40 },
        name,
      ),
      metric: fc.constantFrom('Raw', 'Temperature of the room'),
      timestamp: fc.integer({ min: 0, max: 4e12 }),
      val: fc.integer(),
    });
    const lists = fc.oneof(
      fc.array(named, { minLength: 1, maxLength: 4 }),
      fc.array(many, { minLength: 8, maxLength: 30 }),
    );
    const ofAll = lists.map((samples) => JSON.stringify(samples));
    const cut = fc.tuple(ofAll, fc.nat(), fc.nat({ max: 2 }), fc.constantFrom('', '0', '"', '\\', ',', '-', 'é'));
    const mangled = cut.map(([text, at, count, put]) => {
      const from = at % text.length;
      return `${text.slice(0, from)}${put}${text.slice(from + count)}`;
    });
    let doneCount = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(body, ofAll, withDecimal, mangled),
        fc.oneof(fc.constant({}), defaults),
        fc.integer({ min: 1, max: 50 }),
        async (text, fixed, partBytes) => {
          const rows = usualOf(text, fixed, partBytes);
          if (rows === undefined) return;
          doneCount++;
          const batch = createSampleBatch();
          expect(await readInto(batch, text, fixed)).toEqual([]);
          expect(rows).toEqual(rowsOf(batch));
        },
      ),
      { numRuns: 4000 },
    );
    expect(doneCount).toBeGreaterThan(500);
    const samples = Array.from({ length: 50 }, (_, i) => ({
      timeseriesId: `sensor-${i % 7}`,
      metric: 'Raw',
      timestamp: formatInstant(1.7e12 + i),
      val: i / 7,
    }));
    for (const text of [JSON.stringify(samples), JSON.stringify(samples, null, 2)]) {
      expect(usualOf(text, {})?.length).toBe(50);
    }
  });

  it.each(['gerät', 'device'])('of %s are read the same at any length; invalid UTF-8 is left alone', async (kind) => {
    const samples = Array.from({ length: 12_000 }, (_, i) => ({
      timeseriesId: i % 3 === 0 ? `sensor-${i}` : `${kind} ${'x'.repeat(i % 250)}`,
      ...(i % 2 === 0 ? { metric: `m${i % 5}` } : {}),
      timestamp: [formatInstant(1.7e12 + 1e7 * i), 1.7e12 + i, '2024-02-29T12:00:00+00:00'][i % 3]!,
      val: [i / 7, -i, null, 1e-7 * i, 1e21 * i, 1.234567890123e19 + i * 4096][i % 6]!,
    }));
    const readUsual = (parts: readonly Uint8Array[]) => {
      const batch = createSampleBatch();
      const reader = new UsualSamples(parts, {});
      while (reader.state === 'more') reader.read(batch);
      return { state: reader.state, batch };
    };
    for (const text of [JSON.stringify(samples), JSON.stringify(samples, null, 1)]) {
      const { state, batch } = readUsual(cutInto(Buffer.from(text), 65_536));
      const parsed = createSampleBatch();
      expect(await readInto(parsed, text)).toEqual([]);
      expect(state).toBe('done');
      expect(rowsOf(batch)).toEqual(rowsOf(parsed));
    }
    const [good] = JSON.stringify(samples.slice(0, 1)).split('sensor');
    const bad = Buffer.concat([
      Buffer.from(good!),
      Buffer.from([0xff]),
      Buffer.from('","timestamp":1700000000000,"val":1}]'),
    ]);
    expect(readUsual([bad]).state).toBe('unusual');
  });

  it('of the usual form as lines are read like each line, up to the first that is not', () => {
    let doneCount = 0;
    const lists = fc.array(fc.oneof({ weight: 30, arbitrary: usualLine }, object, space), { maxLength: 12 });
    fc.assert(
      fc.property(lists, defaults, fc.integer({ min: 1, max: 50 }), (lines, fixed, partBytes) => {
        const text = lines.join('\n');
        const [usual, byLine] = [createSampleBatch(), createSampleBatch()];
        const reader = new UsualSamples(cutInto(Buffer.from(text), partBytes), fixed, true);
        while (reader.state === 'more') reader.read(usual);
        // A line feed inside a sample splits it.
        const cut = text.split('\n');
        const issues = new SampleIssues();
        for (const line of cut.slice(0, reader.sampleCount)) readJsonLine(line, 1, byLine, issues, fixed);
        expect(issues.count).toBe(0);
        expect(rowsOf(usual)).toEqual(rowsOf(byLine));
        const isDone = reader.state === 'done';
        expect(reader.rest().toString()).toBe(isDone ? '' : cut.slice(reader.sampleCount).join('\n'));
        if (isDone) doneCount++;
      }),
      { numRuns: 2000 },
    );
    expect(doneCount).toBeGreaterThan(40);
  });

  it('are read the same as an array and line by line', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(object, usualLine), { maxLength: 6 }), defaults, async (lines, fixed) => {
        const [whole, byLine] = [createSampleBatch(), createSampleBatch()];
        const faults = lines.flatMap((line) => {
          const issues = new SampleIssues();
          readJsonLine(line, 1, byLine, issues, fixed);
          return issues.shown.map(({ pointer = '' }) => pointer);
        });
        const told = lines.every((line) => isJson(line))
          ? await readInto(whole, `[${lines.join(',')}]`, fixed)
          : undefined;
        if (told === undefined) return;
        expect(told.map((text) => text.replace(/^\/\d+/, '').replace(/ .*$/s, ''))).toEqual(faults);
        expect(rowsOf(whole)).toEqual(rowsOf(byLine));
      }),
      { numRuns: 1000 },
    );
  });

  it('of the usual form may have their fields in any order', async () => {
    const samples = [
      { timeseriesId: 'a', metric: 'Raw', timestamp: '2024-01-31T12:00:00.000Z', val: -1.5 },
      { val: 7, timestamp: '2024-01-31T12:15:00Z', metric: 'Raw', timeseriesId: 'büro 3' },
    ];
    for (const text of [JSON.stringify(samples), JSON.stringify(samples, null, 2)]) {
      const batch = createSampleBatch();
      expect(await readInto(batch, text)).toEqual([]);
      expect(rowsOf(batch)).toEqual([
        ['a', 'Raw', Date.UTC(2024, 0, 31, 12), -1.5],
        ['büro 3', 'Raw', Date.UTC(2024, 0, 31, 12, 15), 7],
      ]);
    }
  });

  it('with names that cannot be decoded are refused with a clear error', async () => {
    const told = await readInto(
      createSampleBatch(),
      '[{"timeseriesId":{"toString":[]},"timestamp":"2024-01-01","val":1}]',
    );
    expect(told).toEqual([expect.stringMatching(/^\/0\/timeseriesId a text of 1 to 256 characters/)]);
  });

  it('nested too deep are refused with a clear error', async () => {
    const told = async (depth: number) => (await readInto(createSampleBatch(), '['.repeat(depth)))[0];
    expect(await told(10_000)).toMatch(/^ServiceError: the body is not JSON: line 1, column 10001: /);
    expect(await told(200_000)).toBe('ServiceError: the body: expected values nested at most 256 deep');
  });

  it('that are not JSON are refused with the line and column of the fault', async () => {
    for (const [text, place] of [
      ['[{"val": 1},\n {"val": }]', 'line 2, column 10: expected a value, received `}`'],
      ['[1, 2', 'line 1, column 6: expected `,` or `]`, received the end of the text'],
      ['[1,]', 'line 1, column 4: expected a value, received `]`; remove the `,` before the `]`'],
      ['', 'line 1, column 1: expected a value, received the end of the text; the text is empty'],
    ] as const) {
      expect(await readInto(createSampleBatch(), text)).toEqual([`ServiceError: the body is not JSON: ${place}`]);
    }
  });

  it('are refused with every issue and its place', async () => {
    const issues = new SampleIssues();
    const text = JSON.stringify([
      { timeseriesId: 'a', timestamp: 'soon', val: 1 },
      5,
      { timeseriesId: '', timestamp: '2024-01-01', val: 'x', colour: 'red' },
    ]);
    const samples = await parseSamples(text, issues);
    readSamples(samples, 0, samples.length, createSampleBatch(), issues, {});
    expect(issues.shown.map(({ pointer }) => pointer)).toEqual([
      '/0/timestamp',
      '/1',
      '/2/colour',
      '/2/timeseriesId',
      '/2/val',
    ]);
  });

  it('with thousands of wrong fields each are read a few at a time, and every fault is counted', () => {
    const wrong = Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`k${i}`, i]));
    const samples = Array(10).fill({ timeseriesId: 'a', timestamp: '2024-01-01', val: 1, ...wrong });
    const issues = new SampleIssues();
    const ends: number[] = [];
    for (let from = 0; from < samples.length; ends.push(from)) {
      from = readSamples(samples, from, samples.length, createSampleBatch(), issues, {});
    }
    expect([ends, issues.count]).toEqual([[2, 4, 6, 8, 10], 150_000]);
  });

  it('a batch has each series in ascending time, the last of equal times, and counts what it leaves out', async () => {
    const row = fc.tuple(
      fc.constantFrom('a', 'b'),
      fc.integer({ min: 0, max: 9 }),
      fc.constantFrom('null', '1', '2', '3'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 30 }), async (rows) => {
        const batch = createSampleBatch();
        const model = new Map<string, Map<number, number>>();
        let missing = 0;
        for (const [timeseriesId, second, val] of rows) {
          const line = `{"timeseriesId":"${timeseriesId}","timestamp":"2024-01-01T00:00:0${second}Z","val":${val}}`;
          readJsonLine(line, 1, batch, new SampleIssues(), {});
          if (val === 'null') missing++;
          else model.set(timeseriesId, (model.get(timeseriesId) ?? new Map()).set(second, Number(val)));
        }
        const { changes, counts } = await takeChanges(batch);
        const given = new Map(changes.map(({ timeseriesId, value }) => [timeseriesId, [...value]]));
        const expected = new Map(
          [...model].map(([id, samples]) => [id, [...samples].sort(([a], [b]) => a - b).map(([, value]) => value)]),
        );
        expect(given).toEqual(expected);
        const kept = [...model.values()].reduce((sum, samples) => sum + samples.size, 0);
        expect(counts).toEqual({ samples: kept, missing, duplicate: rows.length - missing - kept });
      }),
    );
  });

  it('columns are decoded bit for bit, wherever the bytes are cut', () => {
    const column = fc.array(fc.double({ noNaN: true }), { maxLength: 9 });
    const series = fc.tuple(name, column, column).map(([timeseriesId, a, b]): Series => {
      const count = Math.min(a.length, b.length);
      const cut = (of: number[]): Float64Array => Float64Array.from(of.slice(0, count));
      return {
        timeseriesId: timeseriesId.replaceAll(/[\p{Cc}\p{Cs}]/gu, '_'),
        metric: 'Raw',
        timeMs: cut(a),
        value: cut(b),
      };
    });
    fc.assert(
      fc.property(fc.array(series, { maxLength: 4 }), fc.integer({ min: 1, max: 40 }), (all, cut) => {
        const bytes = Buffer.concat(all.map(writeFrame));
        const reader = new FrameReader();
        const read: FramePart[] = [];
        for (let at = 0; at < bytes.length; at += cut) read.push(...reader.push(bytes.subarray(at, at + cut)));
        reader.end();
        expect(read).toEqual(all.map((one, index) => ({ ...one, frame: index + 1, firstSample: 0 })));
      }),
    );
  });

  it('of columns take memory as they come, whatever length they announce', () => {
    const prefix = Buffer.alloc(8);
    prefix.writeUInt32LE(40, 0);
    prefix.writeUInt32LE(1_000_000, 4);
    const before = process.memoryUsage().arrayBuffers;
    const readers = Array.from({ length: 200 }, () => {
      const reader = new FrameReader();
      return { reader, parts: [...reader.push(prefix), ...reader.push(Buffer.alloc(100))] };
    });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16_000_000);
    expect(readers.flatMap(({ parts }) => parts)).toEqual([]);
  });

  it('written NDJSON and JSON read back to the same samples', () => {
    const series: Series = {
      timeseriesId: 'a"ü',
      metric: 'Raw',
      timeMs: Float64Array.of(-62_135_596_800_000, -0.5, 0, 1.25, 1e12, 253_402_300_799_999),
      value: Float64Array.of(-0, 5e-324, 1.7976931348623157e308, -1e-7, 123456.789, 0.1 + 0.2),
    };
    const lines = Buffer.from(jsonObjects('\n')(series)).toString().trimEnd().split('\n');
    const batch = createSampleBatch();
    const issues = new SampleIssues();
    for (const line of lines) readJsonLine(line, 1, batch, issues, {});
    expect(issues.shown).toEqual([]);
    expect([...batch.timeMs.subarray(0, 6)]).toEqual([...series.timeMs]);
    expect([...batch.value.subarray(0, 6)].map((value) => value + 0)).toEqual(
      [...series.value].map((value) => value + 0),
    );
    expect(streamedForms.map(({ contentType }) => contentType)).toHaveLength(3);
  });

  it('written JSON is whole, however many digits its times have', () => {
    const timeMs = Float64Array.of(-0.1, -1e-300, 0, 5e-324, 1 / 3, 1.25);
    for (const from of timeMs.keys()) {
      const times = timeMs.slice(from);
      const series: Series = { timeseriesId: 'a', metric: 'Raw', timeMs: times, value: times.map((_, i) => i) };
      const text = Buffer.from(jsonObjects(',')(series)).toString();
      expect(JSON.parse(`[${text.slice(0, -1)}]`)).toEqual(
        [...times].map((t, val) => ({ timeseriesId: 'a', metric: 'Raw', timestamp: formatInstant(t), val })),
      );
    }
  });
});
