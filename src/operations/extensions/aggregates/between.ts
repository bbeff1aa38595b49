import type { Windows } from '../../../core/windows.js';
import type { Holding } from '../../aggregate/held-values.js';
import type { RegridRunner } from '../../operation.js';
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
