import { useEffect, useState } from 'preact/hooks';
import { type Line, nameOf, type SeriesInfo, type TimeRange } from '../engine/protocol.js';
import { useWorkbench } from '../state.js';
import { frameOf, pathOf, valueExtent } from './path.js';
import { colourVariable } from './theme.js';
import { counted, spanText, valueText } from './zoned-time.js';

const WIDTH = 260;
const HEIGHT = 64;

/** The small chart of one series, over the times that the large one shows. */
export function Spark({ info, colour }: { readonly info: SeriesInfo; readonly colour: number }) {
  const { engine, state, view } = useWorkbench();
  const [line, setLine] = useState<Line>();
  const range: TimeRange | undefined = state.range ?? view.extent;
  useEffect(() => {
    if (range === undefined || info.count === 0) {
      setLine(undefined);
      return;
    }
    let isCurrent = true;
    void engine.ask('view', [info], range, WIDTH).then(([found]) => isCurrent && setLine(found));
    return () => {
      isCurrent = false;
    };
  }, [info, range?.fromMs, range?.untilMs]);
  if (info.count === 0) return <p class="empty small">no samples</p>;
  const said = `${counted(info.count, 'sample')}, ${valueText(info.min)} to ${valueText(info.max)}`;
  const drawn =
    line === undefined || range === undefined
      ? ''
      : pathOf(
          line,
          frameOf(
            { left: 2, top: 3, width: WIDTH - 4, height: HEIGHT - 6 },
            [range.fromMs, range.untilMs],
            valueExtent([line.value]),
          ),
          info.isBinary,
        );
  return (
    <figure class="spark">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${nameOf(info)}: ${said}${range === undefined ? '' : `, ${spanText(range, view.chartZone)}`}`}
      >
        <path d={drawn} style={{ stroke: colourVariable(colour) }} vector-effect="non-scaling-stroke" />
      </svg>
      <figcaption>{said}</figcaption>
    </figure>
  );
}
