import { useEffect, useState } from 'preact/hooks';
import { type Line, nameOf, type TimeRange } from '../engine/protocol.js';
import { type ShownSeries, useWorkbench } from '../state.js';
import { frameOf, pathOf, valueExtent } from './path.js';
import { colourVariable } from './theme.js';
import { counted, spanText, valueText } from './zoned-time.js';

const WIDTH = 260;
const HEIGHT = 64;
const BOX = { left: 2, top: 3, width: WIDTH - 4, height: HEIGHT - 6 };
/** The most series that are drawn: more lines would hide each other. */
const LINES_MAX = 12;

/** The small chart of a series, or of one for each member of a pattern, over the times that the large one shows. */
export function Spark({ series }: { readonly series: readonly ShownSeries[] }) {
  const { engine, state, view } = useWorkbench();
  const [lines, setLines] = useState<readonly Line[]>([]);
  const range: TimeRange | undefined = state.range ?? view.extent;
  const drawn = series.slice(0, LINES_MAX);
  const infos = series.map(({ info }) => info);
  const count = infos.reduce((sum, info) => sum + info.count, 0);
  useEffect(() => {
    if (range === undefined || count === 0) {
      setLines([]);
      return;
    }
    let isCurrent = true;
    const references = drawn.map(({ info }) => info);
    void engine.ask('view', references, range, WIDTH).then((found) => isCurrent && setLines(found));
    return () => {
      isCurrent = false;
    };
  }, [...drawn.map(({ info }) => info), range?.fromMs, range?.untilMs]);
  if (count === 0) return <p class="empty small">no samples</p>;
  const [least, greatest] = [Math.min(...infos.map(({ min }) => min)), Math.max(...infos.map(({ max }) => max))];
  const of = infos.length === 1 ? '' : `${counted(infos.length, 'series', '')}, `;
  const said = `${of}${counted(count, 'sample')}, ${valueText(least)} to ${valueText(greatest)}`;
  const names = infos.slice(0, LINES_MAX).map(nameOf).join(', ');
  const frame = range && frameOf(BOX, [range.fromMs, range.untilMs], valueExtent(lines.map(({ value }) => value)));
  return (
    <figure class="spark">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${names}: ${said}${range === undefined ? '' : `, ${spanText(range, view.chartZone)}`}`}
      >
        {drawn.map(({ info, colour }, index) => {
          const line = lines[index];
          const path = line === undefined || frame === undefined ? '' : pathOf(line, frame, info.isBinary);
          return (
            <path key={index} d={path} style={{ stroke: colourVariable(colour) }} vector-effect="non-scaling-stroke" />
          );
        })}
      </svg>
      <figcaption>{said}</figcaption>
    </figure>
  );
}
