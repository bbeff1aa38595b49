import type { SeriesReference } from '../../index.js';
import { useWorkbench } from '../state.js';

/** Asks where a sample comes from; `label` names the sample for screen readers. */
export function WhyButton(props: {
  readonly series: SeriesReference;
  readonly timeMs: number;
  readonly label: string;
}) {
  const { act } = useWorkbench();
  const { series, timeMs, label } = props;
  return (
    <button
      type="button"
      class="small"
      aria-label={label}
      onClick={() => act({ type: 'set', to: { asked: { series, timeMs } } })}
    >
      Why?
    </button>
  );
}
