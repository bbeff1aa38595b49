import type { Duration } from '../../../core/duration.js';
import type { Operation, OtherInput, StepDraft } from '../../operation.js';
import { duration, durationMsIn } from '../../parameters.js';
import { joined } from '../joined.js';

export interface CoalesceParameters {
  readonly maxhold?: Duration;
}

export interface CoalesceMethods {
  /** This series or, where it has no value, the first of the others that does. */
  coalesce(others: OtherInput | readonly OtherInput[], parameters?: CoalesceParameters): StepDraft<CoalesceParameters>;
}

export const coalesce: Operation<CoalesceMethods> = {
  name: 'Coalesce',
  shape: 'regrid',
  inputs: 'two or more',
  methods: {
    coalesce: (others, parameters = {}) => ({
      parameters,
      others: 'length' in others ? others : [others],
    }),
  },
  parameters: {
    maxhold: duration(0, { default: 'PT0S' }),
  },
  open: (parameters, { inputCount }) => {
    const ageMsMax = durationMsIn(parameters, 'maxhold') ?? 0;
    return joined(inputCount, (timeMs, { atMs, value }, out) => {
      let first = 0;
      // An input without a sample yet is infinitely old.
      while (!(timeMs <= atMs[first]! + ageMsMax)) first++;
      out.add(timeMs, value[first]!);
      return true;
    });
  },
};
