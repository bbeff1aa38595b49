import { parseInterval } from '../../../core/interval.js';
import type { Windows } from '../../../core/windows.js';
import { type Accumulator, emitResult } from '../../aggregate/functions.js';
import type { RegridRunner, State } from '../../operation.js';
import { type Parameter, type Parameters, parameter, readInstantField, refuse } from '../../parameters.js';
import { checkInterval, interval, openWindows } from '../../windowing.js';
import { heldSoFar } from './held-functions.js';
import { repeatedly } from './moving-functions.js';
import type { WindowKind } from './window-kind.js';

/** Running windows: from a start to each sample. */
export const running: WindowKind = {
  type: 'running',
  fields: { since: since() },
  check: (window, timezone, report) => {
    if (typeof window.since === 'string') checkInterval(window.since, timezone, report);
  },
  canFill: () => false,
  describe: (window, { does, zone, keeps }) => ({
    does: `${does} so far, since ${sinceWords(window, zone)}, with each sample`,
    reads: { kind: 'past' },
    keeps,
    final: 'with its sample',
  }),
  open: (window, { name, parameters, code, timezone, closed }) => {
    const accumulator = 'held' in code ? heldSoFar(code) : repeatedly(name, code.accumulator, parameters);
    const isRight = closed === 'right' && !('held' in code);
    return runningRunner(accumulator, startsOf(window, timezone), isRight);
  },
};

function sinceWords({ since: given }: Parameters, zone: string): string {
  return typeof given === 'number' ? new Date(given).toISOString() : `the start of each ${given} window${zone}`;
}

/** An interval, or an instant. */
function since(): Parameter {
  const schema = { type: 'string', examples: ['Daily', 'Monthly', '2024-01-01T00:00:00Z'] };
  return parameter({}, schema, (value, report, context) => {
    if (typeof value === 'number') return readInstantField(value, report, context);
    if (typeof value !== 'string')
      return refuse(report, 'request.type', 'an interval like Daily, or an instant', value);
    const isInstant = /^[+-]?\d/.test(value);
    return isInstant ? readInstantField(value, report, context) : interval().read(value, report, context);
  });
}

/** The windows of an interval, or one endless window from an instant on. */
function startsOf({ since: given }: Parameters, timezone: string): Pick<Windows, 'startOf' | 'next' | 'previous'> {
  if (typeof given === 'string' && parseInterval(given) !== undefined) return openWindows(given, timezone);
  if (typeof given !== 'number') throw new Error('assertion failed: no interval');
  const fromMs = given;
  return {
    startOf: (timeMs) => (timeMs >= fromMs ? fromMs : Number.NEGATIVE_INFINITY),
    next: (startMs) => (startMs < fromMs ? fromMs : Number.POSITIVE_INFINITY),
    previous: () => Number.NEGATIVE_INFINITY,
  };
}

const IS_OPEN = 0;
const START_MS = 1;
const END_MS = 2;
const COUNT = 3;
const FUNCTION = 4; // the accumulator's own slots

function runningRunner(accumulator: Accumulator, windows: ReturnType<typeof startsOf>, isRight: boolean): RegridRunner {
  const { keptSlotCount = 0 } = accumulator;

  function open(state: State, timeMs: number): void {
    const { slots, lists } = state;
    const startMs = windows.startOf(timeMs);
    const ownMs = isRight && startMs === timeMs ? windows.previous(timeMs) : startMs;
    slots.fill(0, FUNCTION + keptSlotCount);
    for (const list of lists) list.clear();
    slots[IS_OPEN] = 1;
    slots[START_MS] = ownMs;
    slots[END_MS] = windows.next(ownMs);
    slots[COUNT] = 0;
    accumulator.open?.(state, FUNCTION, ownMs);
  }

  return {
    kind: 'regrid',
    slotCount: FUNCTION + accumulator.slotCount,
    listCount: accumulator.listCount,
    push: (state, chunk, out) => {
      const { slots } = state;
      const { timeMs, count } = chunk;
      for (let i = 0; i < count; i++) {
        const t = timeMs[i]!;
        if (slots[IS_OPEN] === 0 || (isRight ? t > slots[END_MS]! : t >= slots[END_MS]!)) open(state, t);
        accumulator.add(state, FUNCTION, chunk, i, i + 1, slots[COUNT]!);
        slots[COUNT]!++;
        // Samples before the instant give no result, but the last of them may be held into the window.
        if (slots[START_MS] === Number.NEGATIVE_INFINITY) continue;
        emitResult(accumulator, state, FUNCTION, slots[COUNT]!, t, out);
      }
    },
    advance: () => undefined,
    close: () => undefined,
    watermark: (_state, watermarkMs) => watermarkMs,
  };
}
