import { expect, test } from 'vitest';
import { shareTurns } from '../../src/storage/next-turn.js';

test('the work of many callers is divided among turns of the event loop', async () => {
  const turnOf = shareTurns(10);
  let turn = 0;
  let areDone = false;
  const count = (): void => {
    turn++;
    if (!areDone) setImmediate(count);
  };
  // Before the work's own, so that it counts in the turn that it is done in.
  setImmediate(count);
  const doneIn: number[] = [];
  const callers = Array.from({ length: 30 }, async () => {
    for (let part = 0; part < 3; part++) {
      await turnOf(2);
      doneIn[turn] = (doneIn[turn] ?? 0) + 2;
    }
  });
  await Promise.all(callers);
  areDone = true;
  expect(Math.max(...doneIn)).toBe(10);
  expect(doneIn.reduce((sum, work) => sum + work, 0)).toBe(180);
});

test('work that fits a turn waits for none', () => {
  const turnOf = shareTurns(10);
  expect([turnOf(5), turnOf(5)]).toEqual([undefined, undefined]);
  expect(turnOf(1)).toBeInstanceOf(Promise);
});
