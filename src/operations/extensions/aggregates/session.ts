import type { Chunk } from '../../../core/chunk.js';
import { formatDuration } from '../../../core/duration.js';
import { type Accumulator, emitResult } from '../../aggregate/functions.js';
import type { Output, RegridRunner, State } from '../../operation.js';
import { duration, durationMsIn, textIn } from '../../parameters.js';
import { heldSoFar } from './held-functions.js';
import type { WindowKind } from './window-kind.js';

/** Sessions: runs of samples with no long gap between them. */
export const session: WindowKind = {
  type: 'session',
  fields: {
    gap: duration(0),
  },
  canFill: () => false,
  describe: (window, { does, keeps }) => {
    const gapMs = durationMsIn(window, 'gap') ?? 0;
    return {
      does: `${does} of each session, which a gap over ${textIn(window, 'gap')} ends`,
      reads: { kind: 'session', gapMs },
      keeps,
      final: `when no sample has come for ${formatDuration(gapMs)}`,
    };
  },
  open: (window, { code, label }) => {
    const accumulator = 'held' in code ? heldSoFar(code) : code.accumulator;
    return sessionRunner(accumulator, durationMsIn(window, 'gap') ?? 0, label);
  },
};

const IS_OPEN = 0;
const START_MS = 1;
const LAST_MS = 2;
const COUNT = 3;
const FUNCTION = 4; // the accumulator's own slots

function sessionRunner(accumulator: Accumulator, gapMs: number, label: 'start' | 'end'): RegridRunner {
  const labelMs = label === 'start' ? START_MS : LAST_MS;
  const { keptSlotCount = 0 } = accumulator;

  function emit(state: State, out: Output): void {
    const { slots, lists } = state;
    slots[IS_OPEN] = 0;
    emitResult(accumulator, state, FUNCTION, slots[COUNT]!, slots[labelMs]!, out);
    for (const list of lists) list.clear();
  }

  function open(state: State, timeMs: number): void {
    const { slots } = state;
    slots.fill(0, FUNCTION + keptSlotCount);
    slots[IS_OPEN] = 1;
    slots[START_MS] = timeMs;
    slots[LAST_MS] = timeMs;
    slots[COUNT] = 0;
    accumulator.open?.(state, FUNCTION, timeMs);
  }

  return {
    kind: 'regrid',
    slotCount: FUNCTION + accumulator.slotCount,
    listCount: accumulator.listCount,
    push: (state, chunk, out) => {
      const { slots } = state;
      const { timeMs, count } = chunk;
      for (let from = 0; from < count; ) {
        if (slots[IS_OPEN] === 1 && timeMs[from]! - slots[LAST_MS]! > gapMs) emit(state, out);
        if (slots[IS_OPEN] === 0) open(state, timeMs[from]!);
        const to = endOfSession(chunk, from, gapMs);
        accumulator.add(state, FUNCTION, chunk, from, to, slots[COUNT]!);
        slots[COUNT] = slots[COUNT]! + (to - from);
        slots[LAST_MS] = timeMs[to - 1]!;
        from = to;
      }
    },
    advance: (state, watermarkMs, out) => {
      if (state.slots[IS_OPEN] === 1 && watermarkMs - state.slots[LAST_MS]! > gapMs) emit(state, out);
    },
    close: (state, _advancedMs, out) => {
      if (state.slots[IS_OPEN] === 1) emit(state, out);
    },
    watermark: ({ slots }, watermarkMs) => (slots[IS_OPEN] === 1 ? slots[labelMs]! : watermarkMs),
  };
}

function endOfSession({ timeMs, count }: Chunk, from: number, gapMs: number): number {
  let to = from + 1;
  while (to < count && timeMs[to]! - timeMs[to - 1]! <= gapMs) to++;
  return to;
}
