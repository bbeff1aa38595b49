import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../../src/core/instant.js';
import type { Series } from '../../../src/core/series.js';
import { createFrameReader, writeFrame } from '../../../src/service/timeseries/columns-format.js';
import { jsonObjects, streamedForms } from '../../../src/service/timeseries/read/forms.js';
import { createSampleBatch, type SampleBatch, takeChanges } from '../../../src/service/timeseries/write/batch.js';
import {
  createSampleIssues,
  readJsonLine,
  readJsonSamples,
  type SampleDefaults,
} from '../../../src/service/timeseries/write/json.js';
import {
  createScan,
  SCAN_PADDING,
  scanJsonLine,
  scanJsonSamples,
} from '../../../src/service/timeseries/write/scan-json.js';

function padded(text: string): Uint8Array {
  return new TextEncoder().encode(text + '\n'.repeat(SCAN_PADDING));
}

const name = fc.oneof(
  fc.constantFrom('room', 'Raw', 'a"b', 'ü', '\\', '日本'),
  fc.string({ minLength: 1, maxLength: 12 }),
);
const time = fc.oneof(
  fc.integer({ min: 0, max: 4e12 }).map((timeMs) => formatInstant(timeMs)),
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
const defaults = fc.record(
  { timeseriesId: fc.constantFrom('room', 'ü'), metric: fc.constantFrom('Raw', 'room') },
  { requiredKeys: [] },
);

function generalReading(text: string, defaults: SampleDefaults = {}): { batch: SampleBatch; isGood: boolean } {
  const batch = createSampleBatch();
  const issues = createSampleIssues();
  try {
    readJsonSamples(text, batch, issues, defaults);
  } catch {
    return { batch, isGood: false };
  }
  return { batch, isGood: issues.count === 0 };
}

function rowsOf(batch: SampleBatch): unknown[] {
  return Array.from({ length: batch.rowCount }, (_, row) => {
    const { timeseriesId, metric } = batch.series[batch.seriesIndex[row]!]!;
    return [timeseriesId, metric, batch.timeMs[row], batch.value[row]];
  });
}

describe('bodies of samples', () => {
  it('what is scanned from the bytes of JSON is what the general path reads', () => {
    let scannedCount = 0;
    fc.assert(
      fc.property(body, defaults, (text, fixed) => {
        const batch = createSampleBatch();
        const isScanned = scanJsonSamples(padded(text), batch, fixed);
        const general = generalReading(text, fixed);
        if (isScanned) {
          scannedCount++;
          expect(general.isGood).toBe(true);
          expect(rowsOf(batch)).toEqual(rowsOf(general.batch));
        } else expect(batch.rowCount).toBe(0);
      }),
      { numRuns: 2000 },
    );
    expect(scannedCount).toBeGreaterThan(20);
  });

  it('what is scanned from a line is what the general path reads, whatever lines come before and behind', () => {
    let scannedCount = 0;
    fc.assert(
      fc.property(fc.array(fc.oneof(object, body, usualLine), { maxLength: 6 }), defaults, (lines, fixed) => {
        const bytes = padded(lines.join('\n'));
        const [batch, general] = [createSampleBatch(), createSampleBatch()];
        const scan = createScan(fixed);
        scan.bytes = bytes;
        scan.view = new DataView(bytes.buffer);
        for (let from = 0; from < bytes.length - SCAN_PADDING; from = bytes.indexOf(0x0a, from) + 1) {
          const to = bytes.indexOf(0x0a, from);
          const { rowCount } = batch;
          if (!scanJsonLine(scan, batch, from, to)) {
            expect(batch.rowCount).toBe(rowCount);
            continue;
          }
          scannedCount++;
          const issues = createSampleIssues();
          readJsonLine(new TextDecoder().decode(bytes.subarray(from, to)), 1, general, issues, fixed);
          expect(issues.shown).toEqual([]);
        }
        expect(rowsOf(batch)).toEqual(rowsOf(general));
      }),
      { numRuns: 1000 },
    );
    expect(scannedCount).toBeGreaterThan(200);
  });

  it('the usual form is scanned', () => {
    const samples = [
      { timeseriesId: 'a', metric: 'Raw', timestamp: '2024-01-31T12:00:00.000Z', val: -1.5 },
      { val: 7, timestamp: '2024-01-31T12:15:00Z', metric: 'Raw', timeseriesId: 'büro 3' },
    ];
    for (const text of [JSON.stringify(samples), JSON.stringify(samples, null, 2)]) {
      const batch = createSampleBatch();
      expect(scanJsonSamples(padded(text), batch, {})).toBe(true);
      expect(rowsOf(batch)).toEqual([
        ['a', 'Raw', Date.UTC(2024, 0, 31, 12), -1.5],
        ['büro 3', 'Raw', Date.UTC(2024, 0, 31, 12, 15), 7],
      ]);
    }
  });

  it('every fault of a body is told, with its place', () => {
    const issues = createSampleIssues();
    const text = JSON.stringify([
      { timeseriesId: 'a', timestamp: 'soon', val: 1 },
      5,
      { timeseriesId: '', timestamp: '2024-01-01', val: 'x', colour: 'red' },
    ]);
    readJsonSamples(text, createSampleBatch(), issues, {});
    expect(issues.shown.map(({ pointer }) => pointer)).toEqual([
      '/0/timestamp',
      '/1',
      '/2/colour',
      '/2/timeseriesId',
      '/2/val',
    ]);
  });

  it('a batch gives each series rising in time, the last of equal times, and counts what it leaves out', () => {
    const row = fc.tuple(
      fc.constantFrom('a', 'b'),
      fc.integer({ min: 0, max: 9 }),
      fc.constantFrom('null', '1', '2', '3'),
    );
    fc.assert(
      fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
        const batch = createSampleBatch();
        const model = new Map<string, Map<number, number>>();
        let missing = 0;
        for (const [timeseriesId, second, val] of rows) {
          const line = `{"timeseriesId":"${timeseriesId}","timestamp":"2024-01-01T00:00:0${second}Z","val":${val}}`;
          readJsonLine(line, 1, batch, createSampleIssues(), {});
          if (val === 'null') missing++;
          else model.set(timeseriesId, (model.get(timeseriesId) ?? new Map()).set(second, Number(val)));
        }
        const { changes, counts } = takeChanges(batch);
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

  it('columns come out of their frames bit for bit, wherever the bytes are cut', () => {
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
        const reader = createFrameReader();
        const read: Series[] = [];
        for (let at = 0; at < bytes.length; at += cut) read.push(...reader.push(bytes.subarray(at, at + cut)));
        reader.end();
        expect(read).toEqual(all);
      }),
    );
  });

  it('NDJSON and JSON that are written read back as the samples', () => {
    const series: Series = {
      timeseriesId: 'a"ü',
      metric: 'Raw',
      timeMs: Float64Array.of(-62_135_596_800_000, -0.5, 0, 1.25, 1e12, 253_402_300_799_999),
      value: Float64Array.of(-0, 5e-324, 1.7976931348623157e308, -1e-7, 123456.789, 0.1 + 0.2),
    };
    const lines = Buffer.from(jsonObjects('\n')(series)).toString().trimEnd().split('\n');
    const batch = createSampleBatch();
    const issues = createSampleIssues();
    for (const line of lines) readJsonLine(line, 1, batch, issues, {});
    expect(issues.shown).toEqual([]);
    expect([...batch.timeMs.subarray(0, 6)]).toEqual([...series.timeMs]);
    expect([...batch.value.subarray(0, 6)].map((value) => value + 0)).toEqual(
      [...series.value].map((value) => value + 0),
    );
    expect(streamedForms.map(({ contentType }) => contentType)).toHaveLength(3);
  });
});
