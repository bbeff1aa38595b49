import type { Windows } from '../../../core/windows.js';
import type { Holding } from '../../aggregate/time-weighted-average.js';
import type { Description, RegridRunner } from '../../operation.js';
import type { Parameters } from '../../parameters.js';
import { heldMoving } from './held-functions.js';
import { slidingRunner } from './sliding-runner.js';
import type { KindOptions } from './window-kind.js';

/** A time-weighted function with `method: linear` or a `maxgap`, over the windows of an interval. */
export function openBetween(
  options: Holding & Pick<KindOptions, 'label' | 'empty'> & { readonly windows: Windows },
): RegridRunner {
  const { windows: ends, label, empty } = options;
  const startFor = (endMs: number): number => ends.previous(endMs);
  return slidingRunner(heldMoving(options), { ends, startFor, isRight: false, label, empty });
}

/** Its description: that of the function, and what `method` and `maxgap` add. */
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
