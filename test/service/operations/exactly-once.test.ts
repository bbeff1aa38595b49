import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Columns, SampleChange } from '../../../src/storage/samples/samples.js';
import { NO_COLUMNS } from '../../../src/storage/samples/samples.js';
import { expectSame, sceneArbitrary } from '../../laws/running.js';
import { bodyOf, cleaned, share } from './drawn.js';
import { drawnSizes, openRig, type Rig } from './rig.js';

// Whatever happens, in whatever order, each stored result equals one batch over the stored samples.

const value = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.double({ min: -1e6, max: 1e6, noNaN: true }));

interface Run {
  readonly kind: 'run';
  readonly source: number;
  readonly from: number;
  readonly count: number;
}

type Action =
  | Run
  | { readonly kind: 'some'; readonly source: number; readonly picks: readonly number[]; readonly add: number }
  | { readonly kind: 'delete'; readonly source: number; readonly from: number; readonly count: number }
  | { readonly kind: 'burst'; readonly runs: readonly Run[] }
  | { readonly kind: 'fail'; readonly count: number; readonly times: number }
  | { readonly kind: 'advance'; readonly share: number }
  | { readonly kind: 'again' | 'idle' | 'restart' | 'kill' | 'compact' | 'register' };

const source = fc.nat(2);
const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 6 });

const run = fc.record({ kind: fc.constant('run' as const), source, from: share, count: fc.nat(30) });
const runs = fc.array(run, { minLength: 2, maxLength: 4 });
const times = fc.constantFrom(1, 2, Number.POSITIVE_INFINITY);

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: run },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('burst'), runs }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('some'), source, picks, add: fc.constantFrom(0, 0, 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete'), source, from: share, count: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail'), count: fc.nat(4), times }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('advance'), share }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'again' }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('idle', 'restart', 'kill', 'compact', 'register') }) },
) as fc.Arbitrary<Action>;

const scene = sceneArbitrary(5, value).map(({ request, samples }) => ({ request, samples: samples.map(cleaned) }));
const kinds = fc.array(fc.constantFrom('stream', 'stream', 'PT15M', 'PT1H', 'PT24H'), { minLength: 6, maxLength: 6 });

const title = 'results equal one batch over what is stored, after arrivals, corrections, deletions, restarts, crashes';

it(title, async () => {
  await fc.assert(
    fc.asyncProperty(
      scene,
      kinds,
      fc.array(action, { minLength: 3, maxLength: 14 }),
      share,
      drawnSizes,
      fc.constantFrom(1, 8),
      async ({ request, samples }, processing, actions, startShare, sizes, groups) => {
        const body = await bodyOf(request, samples, processing);
        const times = samples.flatMap(({ timeMs }) => [...timeMs]);
        const spanMs = Math.max(...times, 0) - Math.min(...times, 0);
        const nowMs = Math.floor((times.length === 0 ? 0 : Math.min(...times)) + startShare * spanMs);
        const rig = await openRig({
          nowMs: Number.isFinite(nowMs) ? nowMs : 0,
          groups,
          ...sizes,
        });
        try {
          await act(rig, actions, body, samples, Math.min(spanMs, 3e11));
          await rig.kill();
          await rig.worker().onIdle();
          const { expected, found } = await rig.compare();
          expectSame(found, expected);
          expect((await rig.items()).map(({ state }) => state)).toEqual(body.map(() => 'Active'));
        } finally {
          await rig.close();
        }
      },
    ),
    { numRuns: Number(process.env.WINDROW_RUNS ?? 40) },
  );
}, 600_000);

async function act(
  rig: Rig,
  actions: readonly Action[],
  body: readonly unknown[],
  samples: readonly Columns[],
  spanMs: number,
): Promise<void> {
  await rig.register(body);
  let last: SampleChange = { ...reference(0), ...NO_COLUMNS };
  const append = (one: Run | Extract<Action, { kind: 'some' }>): Promise<void> => {
    last = { ...reference(one.source), ...chosen(one, samples[one.source]!) };
    return rig.append(last);
  };
  for (const one of actions) {
    switch (one.kind) {
      case 'run':
      case 'some':
        await append(one);
        break;
      case 'burst':
        await Promise.all(one.runs.map(append));
        break;
      case 'again': {
        // The sender's last sample again, with another value.
        const at = last.timeMs.length - 1;
        await rig.append({ ...last, timeMs: last.timeMs.slice(at), value: last.value.slice(at).map((x) => x + 1) });
        break;
      }
      case 'delete': {
        const { timeMs } = samples[one.source]!;
        const at = Math.floor(one.from * timeMs.length);
        const fromMs = timeMs[at];
        if (fromMs === undefined) break;
        const untilMs = timeMs[at + one.count] ?? 253_402_300_800_000;
        if (fromMs >= untilMs) break;
        const none = new Float64Array(0);
        await rig.append({ ...reference(one.source), timeMs: none, value: none, deleted: { fromMs, untilMs } });
        break;
      }
      case 'fail':
        rig.failFrom(one.count, one.times);
        break;
      case 'advance':
        rig.advance(Math.floor((one.share * spanMs) / 2));
        break;
      case 'register':
        await rig.register(body);
        break;
      case 'idle':
        await rig.worker().onIdle();
        break;
      default:
        await rig[one.kind]();
    }
  }
}

function reference(index: number) {
  return { timeseriesId: `s${index}`, metric: 'Raw' };
}

function chosen(one: Extract<Action, { kind: 'run' | 'some' }>, { timeMs, value: values }: Columns) {
  const count = timeMs.length;
  const start = one.kind === 'run' ? Math.floor(one.from * count) : 0;
  const indexes =
    one.kind === 'run'
      ? Array.from({ length: Math.min(one.count, count - start) }, (_, i) => start + i)
      : [...new Set(one.picks.map((pick) => pick % Math.max(1, count)))].filter((i) => i < count).sort((a, b) => a - b);
  const add = one.kind === 'some' ? one.add : 0;
  return {
    timeMs: Float64Array.from(indexes, (i) => timeMs[i]!),
    value: Float64Array.from(indexes, (i) => values[i]! + add),
  };
}
