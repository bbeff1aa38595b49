import { keyOf, nameOf, type Sample } from '../engine/protocol.js';
import { type PlacedSeries, useWorkbench } from '../state.js';
import { TableHead } from '../table-head.js';
import { colourVariable } from './theme.js';
import { WhyButton } from './why-button.js';
import { timeText, valueText } from './zoned-time.js';

interface LegendProps {
  readonly lines: readonly PlacedSeries[];
  readonly cursor: { readonly timeMs: number; readonly samples: readonly (Sample | null)[] } | undefined;
  readonly zone: string;
  readonly onSide: (key: string, isRight: boolean) => void;
}

/** The lines of the chart, with their samples nearest to the cursor. */
export function Legend({ lines, cursor, zone, onSide }: LegendProps) {
  const { act } = useWorkbench();
  if (lines.length === 0) return <p class="empty">No series is on the chart: tick one.</p>;
  return (
    <div class="table-scroll">
      <table class="legend">
        <caption class="hidden">Values at the cursor</caption>
        <TableHead
          columns={[
            'Series',
            { number: `Value${cursor === undefined ? '' : ' at the cursor'}` },
            'Time of the sample',
            'Axis',
            { hidden: 'Remove' },
          ]}
        />
        <tbody>
          {lines.map(({ info, colour, isRight }, index) => {
            const sample = cursor?.samples[index];
            return (
              <tr key={keyOf(info)}>
                <th scope="row">
                  <span class="swatch" style={{ background: colourVariable(colour) }} />
                  {nameOf(info)}
                </th>
                <td class="number">
                  {sample ? valueText(sample.value) : `${valueText(info.min)} … ${valueText(info.max)}`}
                </td>
                <td>
                  {sample && (
                    <>
                      {timeText(sample.timeMs, zone)}{' '}
                      <WhyButton series={info} timeMs={sample.timeMs} label={`Why this value of ${nameOf(info)}?`} />
                    </>
                  )}
                </td>
                <td>
                  <button
                    type="button"
                    class="small"
                    aria-label={`Axis of ${nameOf(info)}: ${isRight ? 'right' : 'left'}; change`}
                    onClick={() => onSide(keyOf(info), !isRight)}
                  >
                    {isRight ? 'right' : 'left'}
                  </button>
                </td>
                <td>
                  <button
                    type="button"
                    class="small"
                    aria-label={`Take ${nameOf(info)} off the chart`}
                    onClick={() => act({ type: 'draw', series: info, isDrawn: false })}
                  >
                    ×
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
