import type { SeriesReference } from '../../index.js';
import { useWorkbench } from '../state.js';

/** Asks where a sample comes from; `label` says which one it is to those who do not see its row. */
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
