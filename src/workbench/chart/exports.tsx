import { download } from '../download.js';
import { type Line, nameOf, type TimeRange } from '../engine/protocol.js';
import { type PlacedSeries, useWorkbench } from '../state.js';
import { drawSvg, pngOf } from './svg.js';
import { lineColour, pageColours } from './theme.js';

interface ExportsProps {
  readonly lines: readonly PlacedSeries[];
  readonly range: TimeRange;
  readonly zone: string;
}

/** The chart as a file. */
export function Exports({ lines, range, zone }: ExportsProps) {
  const { engine } = useWorkbench();
  const [width, height] = [960, 420];
  const draw = async (): Promise<string> => {
    const found: readonly Line[] = await engine.ask(
      'view',
      lines.map(({ info }) => info),
      range,
      width,
    );
    const drawn = lines.map(({ info, colour, isRight, isWide }, index) => ({
      name: nameOf(info),
      line: found[index]!,
      colour: lineColour(colour),
      isStepped: info.isBinary,
      isRight,
      isWide,
    }));
    return drawSvg({ lines: drawn, ...range, timezone: zone, width, height, colours: pageColours() });
  };
  return (
    <>
      <button
        type="button"
        onClick={async () => download('chart.svg', new Blob([await draw()], { type: 'image/svg+xml' }))}
      >
        SVG
      </button>
      <button type="button" onClick={async () => download('chart.png', await pngOf(await draw()))}>
        PNG
      </button>
      <button
        type="button"
        onClick={async () =>
          download(
            'chart.csv',
            await engine.ask(
              'csv',
              lines.map(({ info }) => info),
            ),
          )
        }
      >
        CSV
      </button>
    </>
  );
}
