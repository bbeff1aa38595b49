import { expect, test } from 'vitest';
import { KeptItems } from '../../../src/service/operations/worker/kept-items.js';

const item = (length: number, isRunning = false) => ({ isRunning, schedule: { row: { request: 'x'.repeat(length) } } });

test('items stay up to a number, and to a length of their requests; those that run stay', () => {
  const kept = new KeptItems();
  for (let k = 0; k < 20; k++) kept.set(`${k}`, item(10, k === 1));
  kept.trim(20, 200);
  expect(kept.size).toBe(20);
  kept.trim(10, 200);
  expect([...kept.keys()]).toEqual(['1', '12', '13', '14', '15', '16', '17', '18', '19']);
  kept.set('long', item(1000));
  kept.trim(10, 1050);
  expect([...kept.keys()]).toEqual(['1']);
});

test('an item that is replaced, deleted or forgotten counts no more', () => {
  const kept = new KeptItems();
  for (let k = 0; k < 100; k++) kept.set('a', item(10));
  kept.set('b', item(10));
  kept.delete('b');
  kept.delete('b');
  kept.set('c', item(10));
  kept.trim(10, 20);
  expect([...kept.keys()]).toEqual(['a', 'c']);
  kept.clear();
  kept.set('d', item(20));
  kept.trim(10, 20);
  expect([...kept.keys()]).toEqual(['d']);
});
