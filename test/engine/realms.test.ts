// Values of another realm: an iframe, a vm context, the environment of a test runner. And a realm without WebAssembly.
import { createContext, runInContext, runInNewContext } from 'node:vm';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { readCsv } from '../../src/formats/csv/index.js';
import {
  createPlan,
  openFleet,
  openStream,
  pipeline,
  type Run,
  restoreStream,
  runBatch,
  type Series,
} from '../../src/index.js';

const timeMs = Float64Array.from({ length: 1000 }, (_, i) => i * 60_000);
const value = timeMs.map((time) => Math.sin(time));
const own: Series = { timeseriesId: 'a', metric: 'Raw', timeMs, value };
const plan = createPlan([pipeline('a').mul(2).aggregate({ function: 'Average', interval: 'Hourly' }).as('M')]);
/** The same value, made by another realm. */
const foreign = <Value>(code: string, given: unknown): Value => runInNewContext(code, { given });
const columns = {
  timeMs: foreign<Float64Array>('Float64Array.from(given)', timeMs),
  value: foreign<Float64Array>('Float64Array.from(given)', value),
};

describe('values of another realm', () => {
  it('are columns of a series', () => {
    expect(columns.timeMs).not.toBeInstanceOf(Float64Array);
    expect(runBatch(plan, [{ ...own, ...columns }]).series).toEqual(runBatch(plan, [own]).series);
  });

  it('are instants', () => {
    const until = foreign<Date>('new Date(given)', 3_600_000);
    expect(until).not.toBeInstanceOf(Date);
    expect(runBatch(plan, [own], { until }).series).toEqual(runBatch(plan, [own], { until: 3_600_000 }).series);
  });

  it('are the bytes of a checkpoint and of a CSV file', () => {
    const stream = openStream(plan);
    stream.push([{ ...own, ...columns }]);
    const bytes = foreign<Uint8Array>('Uint8Array.from(given)', stream.checkpoint());
    expect(restoreStream(plan, bytes).close().series).toEqual(stream.close().series);
    const csv = 'timestamp,value\n0,1\n';
    const text = foreign<Uint8Array>('Uint8Array.from(given)', new TextEncoder().encode(csv));
    expect(readCsv(text).series).toEqual(readCsv(csv).series);
  });

  it('are samples of a fleet', () => {
    const run = (given: { member: Uint32Array; timeMs: Float64Array; value: Float64Array }) => {
      const fleet = openFleet(plan);
      fleet.join('a');
      return fleet.push(given);
    };
    const member = foreign<Uint32Array>('new Uint32Array(given)', timeMs.length);
    expect(run({ member, ...columns })).toEqual(run({ member: new Uint32Array(timeMs.length), timeMs, value }));
  });
});

it('a page whose policy forbids WebAssembly has the same results', async () => {
  const { outputFiles } = await build({
    entryPoints: ['src/index.ts'],
    bundle: true,
    format: 'iife',
    globalName: 'windrow',
    write: false,
  });
  const results = [true, false].map((wasm) => {
    const page = createContext({ timeMs, value }, { codeGeneration: { strings: false, wasm } });
    runInContext(outputFiles[0]!.text, page);
    const run: Run = runInContext(
      `windrow.runBatch(
        windrow.createPlan([
          windrow.pipeline('a').mul(2).round(3).aggregate({ function: 'Average', interval: 'Hourly' }).as('M'),
        ]),
        [{ timeseriesId: 'a', metric: 'Raw', timeMs, value }],
      )`,
      page,
    );
    return run.series.map((one) => [[...one.timeMs], [...one.value]]);
  });
  expect(results[0]).toEqual(results[1]);
  expect(results[0]?.[0]?.[0]).toHaveLength(17);
});
