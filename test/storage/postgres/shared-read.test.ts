import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SharedRead } from '../../../src/storage/postgres/shared-read.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('a shared read', () => {
  it('tells each caller what was written before its call, and runs once for those who come meanwhile', async () => {
    const step = fc.constantFrom('call', 'write', 'answer', 'fail');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        let written = 0;
        let begunCount = 0;
        const running: { readonly answer: () => void; readonly fail: () => void }[] = [];
        const shared = new SharedRead(() => {
          begunCount++;
          const seen = written;
          return new Promise<number>((resolve, reject) => {
            running.push({ answer: () => resolve(seen), fail: () => reject(new Error('lost')) });
          });
        });
        // How many reads there should be, and whether callers wait for the next.
        let expectedCount = 0;
        let areWaiting = false;
        const calls: { readonly before: number; readonly answer: Promise<number | undefined> }[] = [];
        for (const one of steps) {
          if (one === 'write') written++;
          else if (one === 'call') {
            if (running.length === 0) expectedCount++;
            else areWaiting = true;
            calls.push({ before: written, answer: shared.call().catch(() => undefined) });
          } else if (running.length > 0) {
            running.shift()![one]();
            if (areWaiting) expectedCount++;
            areWaiting = false;
          }
          // A turn takes far less than the time for which callers wait for a read.
          await nextTurn();
          expect(begunCount).toBe(expectedCount);
        }
        while (running.length > 0) {
          running.shift()!.answer();
          await nextTurn();
        }
        for (const { before, answer } of calls) expect((await answer) ?? before).toBeGreaterThanOrEqual(before);
      }),
    );
  });

  it('does not wait for long for one that is not answered', async () => {
    let begunCount = 0;
    const shared = new SharedRead(() => (begunCount++ === 0 ? new Promise<number>(() => {}) : Promise.resolve(7)));
    shared.call();
    await nextTurn();
    expect(await Promise.all([shared.call(), shared.call()])).toEqual([7, 7]);
    expect(begunCount).toBe(2);
  });
});
