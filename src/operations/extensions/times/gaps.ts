import type { Duration } from '../../../core/duration.js';
import { SHORTEST_MS } from '../../../core/interval.js';
import type { Operation, StepDraft } from '../../operation.js';
import { duration, durationMsIn } from '../../parameters.js';
import { perSample } from '../memory/per-sample.js';

export interface GapsMethods {
  /** @param gap an ISO 8601 duration, as `unit` is. */
  gaps(
    gap: Duration,
    parameters?: { readonly unit?: Duration },
  ): StepDraft<{ readonly gap: Duration; readonly unit?: Duration }>;
}

export const gaps: Operation<GapsMethods> = {
  name: 'Gaps',
  shape: 'regrid',
  methods: { gaps: (gap, parameters = {}) => ({ parameters: { gap, ...parameters } }) },
  parameters: {
    gap: duration(0),
    unit: duration(SHORTEST_MS, { default: 'PT1S' }),
  },
  open: (parameters) => {
    const gapMs = durationMsIn(parameters, 'gap') ?? 0;
    const unitMs = durationMsIn(parameters, 'unit') ?? 1;
    return {
      ...perSample(1, ({ slots }, { timeMs, count }, out) => {
        let lastMs = slots[0]!;
        for (let i = 0; i < count; i++) {
          const lengthMs = timeMs[i]! - lastMs;
          if (lengthMs > gapMs) out.add(lastMs, lengthMs / unitMs);
          lastMs = timeMs[i]!;
        }
        slots[0] = lastMs;
      }),
      start: ({ slots }) => {
        slots[0] = Number.NaN;
      },
      watermark: ({ slots }, watermarkMs) => (slots[0]! < watermarkMs ? slots[0]! : watermarkMs),
    };
  },
};
