import fc from 'fast-check';
import { it } from 'vitest';
import { expectSame } from '../../laws/running.js';
import { change, minutes, START_MS } from './posted.js';
import { drawnSizes, openRig } from './rig.js';

// Items of one request may read results of items of another, final and provisional samples alike.

type Step = readonly [operation: string, parameters: object, inputCount: number];

const steps: readonly Step[] = [
  ['Aggregate', { function: 'Average', interval: 'QuarterHourly' }, 1],
  ['Aggregate', { function: 'Last', interval: 'Hourly' }, 1],
  ['Mul', { scalar: 3 }, 1],
  ['Resample', { frequency: 'PT7M', method: 'linear' }, 1],
  ['HoldLastValue', { interval: 'QuarterHourly' }, 1],
  ['Shift', { function: 'ShiftByTime', shift: 'PT20M', direction: 'backward' }, 1],
  ['Add', { align: 'hold' }, 2],
  ['Sub', { align: 'linear' }, 2],
  ['Where', { valuerangelist: [{ lower: 20 }] }, 1],
];

const kinds = ['stream', 'stream', 'stream', 'PT15M', 'PT1H'] as const;

const link = fc.record({
  step: fc.constantFrom(...steps),
  first: fc.nat(),
  second: fc.nat(),
  kind: fc.constantFrom(...kinds),
});

const source = minutes('s', 90, (i) => (i * 53) % 97);
const actions = fc.array(
  fc.record({
    from: fc.nat(89),
    count: fc.integer({ min: 1, max: 30 }),
    isDeleted: fc.boolean(),
    next: fc.constantFrom('nothing', 'nothing', 'idle', 'restart', 'kill', 'advance'),
  }),
  { minLength: 2, maxLength: 8 },
);

it('each result equals one batch over the stored samples of its sources, even if those are results', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(link, { minLength: 2, maxLength: 5 }),
      actions,
      drawnSizes,
      async (links, done, sizes) => {
        const rig = await openRig({ nowMs: START_MS + 40 * 60_000, ...sizes });
        try {
          for (const [index, { step, first, second, kind }] of links.entries()) {
            const [operation, parameters, inputCount] = step;
            const input = [first, second].slice(0, inputCount).map((pick) => nameOf(pick % (index + 1)));
            const output = [nameOf(index + 1)];
            const processing =
              kind === 'stream' ? { processingType: kind } : { processingType: 'Batch', frequency: kind };
            await rig.register([
              { metric: 'Result', ...processing, operations: [{ operation, input, output, parameters }] },
            ]);
          }
          for (const { from, count, isDeleted, next } of done) {
            const part = change(source, from, from + count);
            const none = new Float64Array(0);
            const deleted = { fromMs: part.timeMs[0]!, untilMs: part.timeMs.at(-1)! + 1 };
            await rig.append(isDeleted && from % 3 === 0 ? { ...part, timeMs: none, value: none, deleted } : part);
            if (next === 'idle') await rig.worker().onIdle();
            else if (next === 'advance') rig.advance(20 * 60_000);
            else if (next !== 'nothing') await rig[next]();
          }
          await rig.worker().onIdle();
          const { expected, found } = await rig.compare();
          expectSame(found, expected);
        } finally {
          await rig.close();
        }
      },
    ),
    { numRuns: Number(process.env.WINDROW_RUNS ?? 25) },
  );
}, 600_000);

function nameOf(index: number) {
  return index === 0 ? { timeseriesId: 's', metric: 'Raw' } : { timeseriesId: `r${index}`, metric: 'Result' };
}
