import type { Holding } from '../../aggregate/held-values.js';
import type { Description } from '../../operation.js';
import type { Parameters } from '../../parameters.js';

/** The parameters that belong to some functions. */
export const ownTexts = {
  method: 'For Integral and TimeWeightedAverage: hold values (`step`, the default) or draw lines (`linear`).',
  maxgap: 'The longest gap between samples that counts; with two inputs, the longest gap to interpolate over.',
  unit: 'The unit of time of Integral, TimeInState, Rate and Slope; PT1H by default.',
  max: 'For Increase and Rate: the value at which the counter rolls over to 0.',
  lower: 'The least value of the state, for TimeInState and Transitions.',
  upper: 'The greatest value of the state, for TimeInState and Transitions.',
};

/** What `explain` says of a function between samples: that of the function, and what `method` and `maxgap` add. */
export function describeBetween(described: Description, { maxgap }: Parameters, { isLinear }: Holding): Description {
  const { reads, final } = described;
  const how = (isLinear ? ', along straight lines' : '') + (maxgap ? `, without gaps over ${maxgap}` : '');
  const does = described.does + how;
  if (reads.kind !== 'window') return { ...described, does };
  const orNone = maxgap ? `, or none for ${maxgap}` : '';
  return {
    ...described,
    does,
    reads: { ...reads, isCarriedOut: true },
    final: `${final}, and a sample has come after it${orNone}`,
  };
}
