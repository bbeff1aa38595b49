import type { Windows } from '../../../core/windows.js';
import type { Description, RegridRunner } from '../../operation.js';
import type { Parameters } from '../../parameters.js';
import type { Holding } from '../../time-weighted-average.js';
import { heldMoving } from './held-functions.js';
import { slidingRunner } from './sliding-runner.js';
import type { KindOptions } from './window-kind.js';

/**
 * What a function of how long values were held counts of the time between two samples (`method` and `maxgap`), over the
 * windows of an interval.
 */
export function openBetween(
  of: Holding & Pick<KindOptions, 'label' | 'empty'> & { readonly windows: Windows },
): RegridRunner {
  const { windows: ends, label, empty } = of;
  const startFor = (endMs: number): number => ends.previous(endMs);
  return slidingRunner(heldMoving(of), { ends, startFor, isRight: false, label, empty });
}

/** What a description says more of it. */
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
