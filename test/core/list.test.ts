import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DoubleList } from '../../src/core/list.js';

/** The calls on a list, each with its counterpart on an array. */
const act = fc.oneof(
  fc.tuple(fc.constant('push' as const), fc.nat(100)),
  fc.tuple(fc.constant('append' as const), fc.nat(40)),
  fc.tuple(fc.constant('shift' as const), fc.nat(60)),
  fc.tuple(fc.constant('insert' as const), fc.nat(100)),
  fc.tuple(fc.constant('set' as const), fc.nat(100)),
  fc.tuple(fc.constant('clear' as const), fc.constant(0)),
);

function perform(list: DoubleList, array: number[], [name, x]: readonly [string, number]): void {
  const at = array.length === 0 ? 0 : x % array.length;
  const column = Float64Array.from({ length: x }, (_, i) => i / 2);
  if (name === 'push') {
    list.push(x);
    array.push(x);
  } else if (name === 'append') {
    list.append(column, x >> 2, x);
    array.push(...column.subarray(x >> 2, x));
  } else if (name === 'shift') {
    const count = Math.min(x, array.length);
    list.shift(count);
    array.splice(0, count);
  } else if (name === 'insert') {
    list.insert(at, -x);
    array.splice(at, 0, -x);
  } else if (name === 'set' && array.length > 0) {
    list.set(at, x);
    array[at] = x;
  } else if (name === 'clear') {
    list.clear();
    array.length = 0;
  }
}

test('a list behaves like an array', () => {
  const property = fc.property(fc.array(act, { maxLength: 80, size: 'max' }), (acts) => {
    const list = new DoubleList();
    const array: number[] = [];
    const lengths = acts.map((one) => {
      perform(list, array, one);
      return [list.length, array.length];
    });
    expect(lengths.map(([own]) => own)).toEqual(lengths.map(([, expected]) => expected));
    expect([...list.view()]).toEqual(array);
    expect(array.map((_, i) => list.at(i))).toEqual(array);
  });
  fc.assert(property, { numRuns: 2000 });
});

test('a binary search of an ascending list agrees with a scan', () => {
  const property = fc.property(
    fc.uniqueArray(fc.nat(200), { maxLength: 60 }),
    fc.nat(30),
    fc.nat(201),
    (items, shifted, wanted) => {
      const rising = items.sort((a, b) => a - b);
      const list = new DoubleList();
      list.append(Float64Array.from(rising), 0, rising.length);
      const count = Math.min(shifted, rising.length);
      list.shift(count);
      const rest = rising.slice(count);
      const found = rest.findIndex((item) => item >= wanted);
      expect(list.firstAtOrAfter(wanted)).toBe(found < 0 ? rest.length : found);
    },
  );
  fc.assert(property, { numRuns: 2000 });
});
