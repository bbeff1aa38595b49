import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CheckpointError,
  createPlan,
  openFleet,
  openStream,
  restoreStream,
  type Series,
  type StreamOptions,
} from '../../src/index.js';
import { expectSame, linesOf, runWithin, sceneArbitrary, seriesOf as sourcesOf } from '../laws/running.js';
import { chainPlan, seriesOf } from './streams.js';

const plan = chainPlan([
  ['Aggregate', { function: 'Average', interval: 'Hourly' }],
  ['HoldLastValue', { interval: 'QuarterHourly' }],
]);
const input = seriesOf([0, 600_000, 4_000_000, 4_000_001.5], [1.5, -0, 1e300, 7]);

function bytesOf(options: StreamOptions = {}): Uint8Array {
  const stream = openStream(plan, options);
  stream.push([input]);
  return stream.checkpoint();
}

function codeOf(bytes: Uint8Array, one = plan, options: StreamOptions = {}): string {
  try {
    restoreStream(one, bytes, options);
  } catch (error) {
    if (error instanceof CheckpointError) return error.code;
    throw error;
  }
  return 'restored';
}

describe('a checkpoint is refused', () => {
  test('with any one bit flipped', () => {
    const bytes = bytesOf();
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const damaged = bytes.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(codeOf(damaged)).toMatch(/^checkpoint\.(format|version)$/);
    }
  });

  test('with bytes changed, swapped, missing or added', () => {
    const bytes = [...bytesOf()];
    const change = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(change, fc.nat(3), (changes, kind) => {
        const damaged = [...bytes];
        for (const [at, byte] of changes) {
          if (kind === 0) damaged[at] = byte;
          else if (kind === 1) damaged.splice(at, 1);
          else if (kind === 2) damaged.splice(at, 0, byte);
          else damaged.push(...damaged.splice(at, 1));
        }
        fc.pre(damaged.length !== bytes.length || damaged.some((byte, at) => byte !== bytes[at]));
        expect(codeOf(Uint8Array.from(damaged))).toMatch(/^checkpoint\.(format|version)$/);
      }),
      { numRuns: 3000 },
    );
  });

  test('if it is not a checkpoint at all', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => codeOf(bytes) === 'checkpoint.format'));
  });

  test('if another version wrote it', () => {
    const bytes = bytesOf();
    bytes[4]! += 1;
    expect(codeOf(bytes)).toBe('checkpoint.version');
  });

  test('of another plan or with other options, and accepted with the right ones', () => {
    const bytes = bytesOf({ from: 0 });
    const other = chainPlan([
      ['Aggregate', { function: 'Average', interval: 'Hourly' }],
      ['HoldLastValue', { interval: 'HalfHourly' }],
    ]);
    expect(codeOf(bytes, other, { from: 0 })).toBe('checkpoint.plan');
    expect(codeOf(bytes, plan, {})).toBe('checkpoint.plan');
    expect(codeOf(bytes, plan, { from: 0, until: 9e9 })).toBe('checkpoint.plan');
    expect(codeOf(bytes, plan, { from: 0, allowedLateness: 'PT1S' })).toBe('checkpoint.plan');
    expect(codeOf(bytes, plan, { from: 0, timezone: 'Europe/Berlin' })).toBe('checkpoint.plan');
    expect(codeOf(bytes, plan, { from: '1970-01-01', allowedLateness: 'PT0S', maxOutputSamples: 5 })).toBe('restored');
  });
});

test('taking a checkpoint changes nothing, and a stream restored from it writes the same one', () => {
  const stream = openStream(plan);
  stream.push([input]);
  const first = stream.checkpoint();
  expect(stream.checkpoint()).toEqual(first);
  expect(restoreStream(plan, first).checkpoint()).toEqual(first);
  expectSame(stream.close().series, restoreStream(plan, first).close().series);
});

test('a checkpoint can be read from within a larger buffer', () => {
  const bytes = bytesOf();
  const buffer = new Uint8Array(bytes.length + 50);
  buffer.set(bytes, 33);
  expect(codeOf(buffer.subarray(33, 33 + bytes.length))).toBe('restored');
});

test('a checkpoint keeps the counts of the report', () => {
  const stream = openStream(plan, { allowedLateness: 'PT1M' });
  stream.push([input, seriesOf([5, 4_000_001.5], [1, Number.NaN]), seriesOf([1], [1], 'unknown')]);
  const restored = restoreStream(plan, stream.checkpoint(), { allowedLateness: 'PT1M' });
  expect(restored.report()).toEqual(stream.report());
  expect(restored.report().sources[0]!.dropped).toEqual({ missing: 1, outOfRun: 0, duplicate: 0, late: 1 });
  expect(restored.report().unused).toBe(1);
});

test('a closed or failed stream gives no checkpoint and takes no samples', () => {
  const closed = openStream(plan);
  closed.close();
  for (const use of [
    () => closed.push([input]),
    () => closed.advance(0),
    () => closed.close(),
    () => closed.checkpoint(),
  ]) {
    expect(use).toThrow(expect.objectContaining({ code: 'stream.closed' }));
  }
  const failed = openStream(plan, { maxOutputSamples: 3 });
  expect(() => failed.push([seriesOf([0, 9e9, 2e10], [1, 2, 3])])).toThrow(
    expect.objectContaining({ code: 'output.limit' }),
  );
  for (const use of [() => failed.push([input]), () => failed.close(), () => failed.checkpoint()]) {
    expect(use).toThrow(expect.objectContaining({ code: 'stream.closed' }));
  }
});

test('one checkpoint can be restored many times into independent streams', () => {
  const property = fc.property(sceneArbitrary(4), fc.nat(40), ({ request, samples, options }, place) => {
    const own = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
    const sources = sourcesOf(samples);
    const batch = runWithin(own, sources, options);
    if (batch === undefined) return;
    const cut = (from: number, to?: number): Series[] =>
      sources.map((one) => ({ ...one, timeMs: one.timeMs.slice(from, to), value: one.value.slice(from, to) }));
    const stream = openStream(own, options);
    const first = stream.push(cut(0, place));
    const bytes = stream.checkpoint();
    const rest = [stream, restoreStream(own, bytes, options), restoreStream(own, bytes, options)].map((one) => {
      return linesOf([...one.push(cut(place)), ...one.close().series]);
    });
    expect(rest[1]).toEqual(rest[0]);
    expect(rest[2]).toEqual(rest[0]);
    expect(first.every(({ timeMs }) => timeMs.length > 0)).toBe(true);
  });
  fc.assert(property, { numRuns: 300 });
});

test('restores, previews and clocks leave no trace in a checkpoint', () => {
  const cuts = fc.array(fc.nat(40), { maxLength: 4 });
  const property = fc.property(sceneArbitrary(4), cuts, ({ request, samples, options }, borders) => {
    const own = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
    const sources = sourcesOf(samples);
    if (runWithin(own, sources, options) === undefined) return;
    let now = 0;
    const clocked = { ...options, clock: () => (now += 12.5) };
    const undisturbed = openStream(own, options);
    let restored = openStream(own, clocked);
    let from = 0;
    for (const to of [...borders, Number.POSITIVE_INFINITY].sort((a, b) => a - b)) {
      const part = (column: Float64Array): Float64Array => column.slice(from, to);
      const parts = sources.map((one) => ({ ...one, timeMs: part(one.timeMs), value: part(one.value) }));
      undisturbed.push(parts);
      restored.push(parts);
      restored.preview();
      restored = restoreStream(own, restored.checkpoint(), clocked);
      expect(restored.checkpoint()).toEqual(undisturbed.checkpoint());
      from = to;
    }
  });
  fc.assert(property, { numRuns: 500 });
});

test('a clock that throws at the end loses no result', () => {
  let isBroken = false;
  const clock = (): number => {
    if (isBroken) throw new Error('no clock');
    return 0;
  };
  const plan = chainPlan([['Aggregate', { function: 'Sum', interval: 'Hourly' }]]);
  const stream = openStream(plan, { clock });
  const fleet = openFleet(plan, { clock });
  stream.push([seriesOf([0, 1], [1, 2])]);
  fleet.push({ member: Uint32Array.of(fleet.join('a')), timeMs: Float64Array.of(0), value: Float64Array.of(3) });
  isBroken = true;
  expect(() => stream.close()).toThrow('no clock');
  expect(() => fleet.close()).toThrow('no clock');
  isBroken = false;
  expect(stream.close().series.map(({ value }) => [...value])).toEqual([[3]]);
  expect(fleet.close().series.map(({ value }) => [...value])).toEqual([[3]]);
});
