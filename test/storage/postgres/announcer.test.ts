import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Announcer, type OwnCommits } from '../../../src/storage/postgres/announcer.js';

const SHARD = 3;

/** What a listener heard, as [commit, is own]. */
function listen(announcer: Announcer): [number, boolean][] {
  const heard: [number, boolean][] = [];
  announcer.onCommit((shard, commit, isOwn) => heard.push([shard === SHARD ? commit : Number.NaN, isOwn]));
  return heard;
}

/** A group of `count` commits: of another process, or of this one, whose COMMIT may fail. */
const group = fc.record({
  writer: fc.constantFrom('other', 'own', 'own, failed'),
  count: fc.integer({ min: 1, max: 3 }),
  /** The order in which answers and notifications come. */
  arrivesAt: fc.integer({ min: 0, max: 100 }),
  isNotified: fc.boolean(),
});

it('commits are announced once, in order and by whom, whenever answers and notifications come', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(group, { maxLength: 12 }), fc.integer({ min: 0, max: 100 }), async (groups, start) => {
      const announcer = new Announcer();
      const heard = listen(announcer);
      announcer.startAfter(SHARD, start);
      const expected: [number, boolean][] = [];
      const arrivals: { at: number; arrive: () => void }[] = [];
      let commit = start;
      const arrive = (untilMoment: number) => {
        for (const arrival of arrivals.splice(0)) {
          if (arrival.at <= untilMoment) arrival.arrive();
          else arrivals.push(arrival);
        }
      };
      for (const [moment, { writer, count, arrivesAt, isNotified }] of groups.entries()) {
        const at = moment * 20 + arrivesAt;
        const last = commit + count;
        if (writer !== 'other') {
          const own: OwnCommits = announcer.sending(SHARD, commit, last);
          const answer = writer === 'own' ? () => announcer.committed(own) : () => announcer.notCommitted(own);
          arrivals.push({ at, arrive: answer });
        }
        if (writer !== 'own, failed') {
          for (let number = commit + 1; number <= last; number++) expected.push([number, writer === 'own']);
          commit = last;
        }
        const known = commit;
        const notify = () => announcer.reached(SHARD, known);
        if (isNotified) arrivals.push({ at: moment * 20 + (100 - arrivesAt), arrive: notify });
        arrivals.sort((a, b) => a.at - b.at);
        arrive(moment * 20);
      }
      arrive(Number.POSITIVE_INFINITY);
      announcer.reached(SHARD, commit);
      // Listeners hear in microtasks.
      await Promise.resolve();
      expect(heard).toEqual(expected);
    }),
  );
});

it('what another process tells while an own commit is not answered waits for that answer', async () => {
  const announcer = new Announcer();
  const heard = listen(announcer);
  announcer.startAfter(SHARD, 10);
  const own = announcer.sending(SHARD, 11, 12);
  announcer.reached(SHARD, 13);
  await Promise.resolve();
  expect(heard).toEqual([[11, false]]);
  announcer.committed(own);
  await Promise.resolve();
  expect(heard).toEqual([
    [11, false],
    [12, true],
    [13, false],
  ]);
});

it('the numbers of a commit that failed are those of others', async () => {
  const announcer = new Announcer();
  const heard = listen(announcer);
  announcer.startAfter(SHARD, 10);
  const own = announcer.sending(SHARD, 10, 11);
  announcer.reached(SHARD, 11);
  announcer.notCommitted(own);
  await Promise.resolve();
  expect(heard).toEqual([[11, false]]);
});

it('of many commits the last thousand are told, and a listener that throws stops nobody', async () => {
  const announcer = new Announcer();
  const uncaught: unknown[] = [];
  const listeners = process.rawListeners('uncaughtException') as NodeJS.UncaughtExceptionListener[];
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error));
  announcer.onCommit((_shard, commit) => {
    if (commit === 3_000_000) throw new Error('of a listener');
  });
  const heard = listen(announcer);
  announcer.startAfter(SHARD, 10);
  announcer.reached(SHARD, 3_000_000);
  announcer.reached(SHARD, 3_000_001);
  await new Promise(setImmediate);
  process.removeAllListeners('uncaughtException');
  for (const one of listeners) process.on('uncaughtException', one);
  expect([heard.length, heard[0], heard.at(-1)]).toEqual([1001, [2_999_001, false], [3_000_001, false]]);
  expect(uncaught).toMatchObject([{ message: 'of a listener' }]);
});
