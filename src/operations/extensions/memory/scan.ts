import type { Description, RegridRunner } from '../../operation.js';

/** A step that gives at most one result for each sample, at once and at its time, from what it remembers. */
export function scan(slotCount: number, push: RegridRunner['push'], listCount = 0): RegridRunner {
  return {
    kind: 'regrid',
    slotCount,
    listCount,
    push,
    advance: () => undefined,
    close: () => undefined,
    watermark: (_state, watermarkMs) => watermarkMs,
  };
}

/** What such a step says of itself, apart from what it does and keeps. */
export const FROM_THE_PAST = {
  reads: { kind: 'past' },
  final: 'with its sample',
} as const satisfies Partial<Description>;
