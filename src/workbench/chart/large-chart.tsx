import { useMemo, useState } from 'preact/hooks';
import { keyOf, type SeriesInfo } from '../engine/protocol.js';
import { type PlacedSeries, type ShownSeries, useWorkbench } from '../state.js';
import { ChartArea } from './chart-area.js';
import { WhyPanel } from './why-panel.js';

/** The large chart: any series together, over one time axis, and where a sample of it comes from. */
export function LargeChart() {
  const { state, view, act } = useWorkbench();
  const [sides, setSides] = useState<ReadonlyMap<string, boolean>>(new Map());
  const lines = useMemo(() => withSides(view.lines, sides), [view.lines, sides]);
  if (view.extent === undefined) {
    const missing = view.checked.issues.flatMap(({ code, received }) => (code === 'input.missing' ? [received] : []));
    return (
      <section class="chart-panel" aria-label="Chart">
        <p class="empty">
          {missing.length > 0
            ? `Open the files with the series that the pipeline reads: ${[...new Set(missing)].join(', ')}.`
            : 'Drop a CSV, Parquet, Arrow or NDJSON file here, or take a sample.'}
        </p>
      </section>
    );
  }
  const range = state.range ?? view.extent;
  return (
    <>
      <section class="chart-panel" aria-label="Chart">
        <ChartArea
          lines={lines}
          range={range}
          zone={view.chartZone}
          onRange={(next) => act({ type: 'set', to: { range: next } })}
          onSide={(key, isRight) => setSides(new Map(sides).set(key, isRight))}
        />
      </section>
      <WhyPanel />
    </>
  );
}

/** A line that would fill less than this share of the height goes to the value axis on the right. */
const FILLED_MIN = 0.12;

function withSides(lines: readonly ShownSeries[], sides: ReadonlyMap<string, boolean>): PlacedSeries[] {
  const left: SeriesInfo[] = [];
  return lines.map((line) => {
    const isRight = sides.get(keyOf(line.info)) ?? !fits(left, line.info);
    if (!isRight) left.push(line.info);
    return { ...line, isRight };
  });
}

function fits(left: readonly SeriesInfo[], info: SeriesInfo): boolean {
  const filled = [...left, info].filter(({ count }) => count > 0);
  if (filled.length < 2) return true;
  const span = Math.max(...filled.map(({ max }) => max)) - Math.min(...filled.map(({ min }) => min));
  return filled.every(
    ({ min, max, isBinary }) => isBinary === info.isBinary && (max - min >= span * FILLED_MIN || span === 0),
  );
}
