import { nextTurn } from '../../src/storage/next-turn.js';

/** How many turns of the event loop another task has while the work is done. */
export async function turnsDuring<Result>(work: () => Promise<Result>) {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  let turnCount = 0;
  for (; !isDone; turnCount++) await nextTurn();
  return { turnCount, result: await working };
}
