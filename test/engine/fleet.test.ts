import { expect, test } from 'vitest';
import { type FleetInput, openFleet, openStream, restoreFleet, restoreStream } from '../../src/index.js';
import { chainPlan } from './streams.js';

const plan = chainPlan([['Aggregate', { function: 'Median', interval: 'PT1M' }]]);

function samples(member: FleetInput['member'], timeMs: readonly number[], value: readonly number[]): FleetInput {
  return { member, timeMs: Float64Array.from(timeMs), value: Float64Array.from(value) };
}

const first = samples(['a', 'b', 'a'], [0, 5, 10], [1, 2, 3]);

test('members join with their first sample and are numbered in the order of joining', () => {
  const fleet = openFleet(plan);
  expect(fleet.join('b')).toBe(0);
  fleet.push(first);
  expect([fleet.size, fleet.join('a'), fleet.join('b'), fleet.nameOf(1)]).toEqual([2, 1, 0, 'a']);
  const results = fleet.push(samples(Uint32Array.of(0, 1, 1), [70_000, 70_000, 140_000], [5, 6, 7]));
  expect(results).toEqual([
    {
      item: 0,
      metric: 'Result',
      member: Uint32Array.of(0, 1, 1),
      timeMs: Float64Array.of(0, 0, 60_000),
      value: Float64Array.of(2, 2, 6),
    },
  ]);
});

test('a member that joins late knows of every earlier advance', () => {
  const fleet = openFleet(plan);
  fleet.advance(60_000);
  expect(fleet.push(first)).toEqual([]);
  expect(fleet.late).toEqual([
    { member: Uint32Array.of(0, 1, 0), timeMs: Float64Array.of(0, 5, 10), value: Float64Array.of(1, 2, 3) },
  ]);
  expect(fleet.report().sources[0]!.dropped.late).toBe(3);
  const restored = restoreFleet(plan, fleet.checkpoint());
  restored.push(samples(['new'], [1], [1]));
  expect(restored.report().sources[0]!.dropped.late).toBe(4);
});

test.each<[title: string, code: string, given: unknown]>([
  ['no columns', 'input.columns', { member: [] }],
  ['columns of different lengths', 'input.columns', samples(['a'], [0, 1], [0, 1])],
  ['a time out of range', 'input.time', samples(['a', 'new'], [0, 1e300], [0, 1])],
  ['a time that is NaN', 'input.time', samples(['new'], [Number.NaN], [0])],
  ['an unknown number', 'input.columns', samples(Uint32Array.of(0, 7), [0, 1], [0, 1])],
  ['a name that is not a string', 'input.columns', samples(['new', 5 as never], [0, 1], [0, 1])],
  ['nothing', 'input.columns', undefined],
  ['no members', 'input.columns', { ...first, member: undefined }],
  ['an unknown source', 'input.columns', { ...first, source: 1 }],
])('samples are refused as a whole, and no member joins: %s', (_title, code, given) => {
  const fleet = openFleet(plan);
  fleet.push(first);
  const bytes = fleet.checkpoint();
  expect(() => fleet.push(given as FleetInput)).toThrow(expect.objectContaining({ code }));
  expect(fleet.checkpoint()).toEqual(bytes);
});

test('unknown numbers and invalid names are refused everywhere', () => {
  const fleet = openFleet(plan);
  for (const use of [() => fleet.nameOf(0), () => fleet.preview([0]), () => fleet.join(undefined as never)]) {
    expect(use).toThrow(expect.objectContaining({ code: 'input.columns' }));
  }
});

test('a preview of some members holds only these', () => {
  const fleet = openFleet(plan);
  fleet.push(first);
  expect(fleet.preview([1]).map(({ member, value }) => [[...member], [...value]])).toEqual([[[1], [2]]]);
  expect(fleet.preview().map(({ member, value }) => [[...member], [...value]])).toEqual([
    [
      [0, 1],
      [2, 2],
    ],
  ]);
});

test('a closed or failed fleet gives no checkpoint and takes no samples', () => {
  const closed = openFleet(plan);
  closed.push(first);
  closed.close();
  const failed = openFleet(chainPlan([['HoldLastValue', { interval: 'PT1M' }]]), { maxOutputSamples: 3 });
  expect(() => failed.push(samples(['a', 'a', 'a'], [0, 9e9, 9e10], [1, 2, 3]))).toThrow(
    expect.objectContaining({ code: 'output.limit' }),
  );
  for (const fleet of [closed, failed]) {
    const push = () => fleet.push(first);
    const uses = [push, () => fleet.join('new'), () => fleet.advance(0), () => fleet.close(), () => fleet.preview()];
    for (const use of [...uses, () => fleet.checkpoint()]) {
      expect(use).toThrow(expect.objectContaining({ code: 'stream.closed' }));
    }
  }
});

test("streams and fleets refuse each other's checkpoints; damaged ones and those of other plans are refused", () => {
  const fleet = openFleet(plan);
  fleet.push(first);
  const bytes = fleet.checkpoint();
  const ofFormat = expect.objectContaining({ code: 'checkpoint.format' });
  expect(() => restoreStream(plan, bytes)).toThrow(ofFormat);
  expect(() => restoreFleet(plan, openStream(plan).checkpoint())).toThrow(ofFormat);
  expect(() => restoreFleet(plan, bytes.slice(0, -1))).toThrow(ofFormat);
  expect(() => restoreFleet(plan, undefined as never)).toThrow(ofFormat);
  for (let at = 13; at < bytes.length; at++) {
    const damaged = bytes.slice();
    damaged[at]! ^= 1;
    expect(() => restoreFleet(plan, damaged)).toThrow(ofFormat);
  }
  const other = chainPlan([['Aggregate', { function: 'Median', interval: 'PT2M' }]]);
  expect(() => restoreFleet(other, bytes)).toThrow(expect.objectContaining({ code: 'checkpoint.plan' }));
  expect(restoreFleet(plan, bytes).checkpoint()).toEqual(bytes);
});

test('members over several pages, with long names and long open windows, survive a checkpoint', () => {
  const names = Array.from({ length: 9000 }, (_, k) => (k === 4500 ? 'x'.repeat(2345) : `sensor ${k}`));
  const fleet = openFleet(plan);
  for (let turn = 0; turn < 5; turn++) {
    const timeMs = names.map(() => turn * 1000);
    fleet.push(
      samples(
        names,
        timeMs,
        [...names.keys()].map((k) => (k * 7 + turn * 3) % 11),
      ),
    );
  }
  const restored = restoreFleet(plan, fleet.checkpoint());
  expect(restored.nameOf(4500)).toBe(names[4500]);
  expect(restored.close()).toEqual(fleet.close());
});
