import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { newestOnly } from '../engine/client.js';
import { keyOf, type Line, nameOf, type Sample, type SeriesInfo, type TimeRange } from '../engine/protocol.js';
import { type ShownSeries, useWorkbench } from '../state.js';
import { DataTable } from './data-table.js';
import { Legend } from './legend.js';
import { Surface, zoomed } from './surface.js';
import { drawSvg, pngOf } from './svg.js';
import { lineColour, onThemeChange, pageColours } from './theme.js';
import { isZone, spanText, zoneNames } from './zoned-time.js';
import { download } from '../download.js';

/** The large chart: any series over each other, with one time axis. */
export function LargeChart() {
  const { state, view, act } = useWorkbench();
  const [sides, setSides] = useState<ReadonlyMap<string, boolean>>(new Map());
  const lines = useMemo(() => withSides(view.lines, sides), [view.lines, sides]);
  if (view.extent === undefined) {
    return (
      <section class="chart-panel" aria-label="Chart">
        <p class="empty">Drop a CSV file anywhere on this page, or take one of the samples.</p>
      </section>
    );
  }
  const range = state.range ?? view.extent;
  return (
    <section class="chart-panel" aria-label="Chart">
      <ChartArea
        lines={lines}
        range={range}
        zone={view.chartZone}
        onRange={(next) => act({ type: 'range', range: next })}
        onSide={(key, isRight) => setSides(new Map(sides).set(key, isRight))}
      />
    </section>
  );
}

export interface PlacedSeries extends ShownSeries {
  readonly isRight: boolean;
}

// Of the height that all would share, a line fills at least this part, or goes to the other side.
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
  return filled.every(({ min, max, isBinary }) => isBinary === info.isBinary && (max - min >= span * FILLED_MIN || span === 0));
}

interface AreaProps {
  readonly lines: readonly PlacedSeries[];
  readonly range: TimeRange;
  readonly zone: string;
  readonly onRange: (range: TimeRange | undefined) => void;
  readonly onSide: (key: string, isRight: boolean) => void;
}

const SETTLED_MS = 150;

function ChartArea({ lines, range, zone, onRange, onSide }: AreaProps) {
  const { engine, state, act } = useWorkbench();
  const host = useRef<HTMLDivElement>(null);
  const surface = useRef<Surface | undefined>(undefined);
  const shown = useRef(range);
  const [cursor, setCursor] = useState<{ timeMs: number; samples: readonly (Sample | null)[] }>();
  const [theme, setTheme] = useState(0);
  const series = useMemo(() => lines.map(({ info }) => info), [lines]);

  const look = useMemo(() => {
    const fail = (): void => undefined;
    const draw = newestOnly(
      (wanted: TimeRange) => engine.ask('view', series, wanted, surface.current?.columns ?? 500),
      (found) => surface.current?.setLines(found),
      fail,
    );
    const point = newestOnly(
      (timeMs: number) => engine.ask('nearest', series, timeMs),
      (samples, timeMs) => setCursor({ timeMs, samples }),
      fail,
    );
    let timer = 0;
    const move = (next: TimeRange): void => {
      shown.current = next;
      surface.current?.setRange(next);
      draw(next);
      clearTimeout(timer);
      // The other charts follow once the hand rests.
      timer = setTimeout(() => onRange(next), SETTLED_MS);
    };
    return { draw, point, move };
  }, [series]);

  useEffect(() => onThemeChange(() => setTheme((count) => count + 1)), []);
  useEffect(() => {
    if (host.current === null) return;
    const named = lines.map(({ info, colour, isRight }) => ({
      name: nameOf(info),
      colour,
      isStepped: info.isBinary,
      isRight,
    }));
    const own = new Surface(host.current, named, shown.current, zone, {
      onRange: look.move,
      onCursor: (timeMs) => (timeMs === undefined ? setCursor(undefined) : look.point(timeMs)),
      onReset: () => onRange(undefined),
    });
    surface.current = own;
    const observer = new ResizeObserver(() => own.resize());
    observer.observe(host.current);
    look.draw(shown.current);
    return () => {
      observer.disconnect();
      own.destroy();
    };
  }, [lines, zone, theme, look]);
  useEffect(() => {
    shown.current = range;
    surface.current?.setRange(range);
    look.draw(range);
  }, [range.fromMs, range.untilMs, look, state.answer]);

  const keys = keyActions(shown, look.move, () => onRange(undefined), (timeMs) => {
    surface.current?.setCursor(timeMs);
    look.point(timeMs);
  }, cursor?.timeMs);
  const summary = `${lines.map(({ info }) => nameOf(info)).join(', ') || 'no series'}, ${spanText(range, zone)}`;
  return (
    <>
      <div class="chart-tools" role="toolbar" aria-label="Chart tools">
        <button type="button" onClick={() => keys('+')} aria-label="Zoom in" title="Zoom in (+)">+</button>
        <button type="button" onClick={() => keys('-')} aria-label="Zoom out" title="Zoom out (−)">−</button>
        <button type="button" onClick={() => keys('ArrowLeft')} aria-label="Earlier" title="Earlier (←)">←</button>
        <button type="button" onClick={() => keys('ArrowRight')} aria-label="Later" title="Later (→)">→</button>
        <button type="button" onClick={() => keys('0')} title="All of the time (0)">Fit</button>
        <span class="spring" />
        <ZoneField label="Axis in" value={state.chartZone} placeholder={state.timezone} onZone={(timezone) => act({ type: 'chartZone', timezone })} />
        <Exports lines={lines} range={range} zone={zone} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the chart is moved with keys */}
      <div
        class="chart-host"
        ref={host}
        tabIndex={0}
        role="application"
        aria-roledescription="chart"
        aria-label={`Chart of ${summary}. Arrow keys move it, plus and minus zoom, 0 shows all, comma and point move the cursor.`}
        onKeyDown={(event) => {
          if (!event.ctrlKey && !event.metaKey && keys(event.key)) event.preventDefault();
        }}
      />
      <Legend lines={lines} cursor={cursor} zone={zone} onSide={onSide} />
      <DataTable series={series} zone={zone} />
    </>
  );
}

/** What keys, and the buttons that stand for them, do; tells whether a key does anything. */
function keyActions(
  shown: { readonly current: TimeRange },
  move: (range: TimeRange) => void,
  reset: () => void,
  point: (timeMs: number) => void,
  cursorMs: number | undefined,
): (key: string) => boolean {
  const shift = (part: number) => () => {
    const { fromMs, untilMs } = shown.current;
    const byMs = (untilMs - fromMs) * part;
    move({ fromMs: fromMs + byMs, untilMs: untilMs + byMs });
  };
  const zoom = (ratio: number) => () => {
    const { fromMs, untilMs } = shown.current;
    move(zoomed(shown.current, ratio, (fromMs + untilMs) / 2));
  };
  const step = (part: number) => () => {
    const { fromMs, untilMs } = shown.current;
    const at = (cursorMs ?? (fromMs + untilMs) / 2) + (untilMs - fromMs) * part;
    point(Math.min(untilMs, Math.max(fromMs, at)));
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: shift(-0.15),
    ArrowRight: shift(0.15),
    '+': zoom(1 / 1.5),
    '=': zoom(1 / 1.5),
    '-': zoom(1.5),
    '0': reset,
    Home: reset,
    ',': step(-0.01),
    '.': step(0.01),
  };
  return (key) => {
    actions[key]?.();
    return key in actions;
  };
}

function ZoneField(props: { label: string; value: string; placeholder: string; onZone: (timezone: string) => void }) {
  const [text, setText] = useState(props.value);
  const isSound = text === '' || isZone(text);
  return (
    <label class="inline">
      {props.label}
      <input
        list="zones"
        value={text}
        placeholder={props.placeholder}
        aria-invalid={!isSound}
        size={16}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          if (value === '' || isZone(value)) props.onZone(value);
        }}
      />
    </label>
  );
}

export function ZoneList() {
  return (
    <datalist id="zones">
      {zoneNames.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

function Exports({ lines, range, zone }: Pick<AreaProps, 'lines' | 'range' | 'zone'>) {
  const { engine } = useWorkbench();
  const [width, height] = [960, 420];
  const draw = async (): Promise<string> => {
    const found: readonly Line[] = await engine.ask('view', lines.map(({ info }) => info), range, width);
    const drawn = lines.map(({ info, colour, isRight }, index) => ({
      name: nameOf(info),
      line: found[index]!,
      colour: lineColour(colour),
      isStepped: info.isBinary,
      isRight,
    }));
    return drawSvg({ lines: drawn, ...range, timezone: zone, width, height, colours: pageColours() });
  };
  return (
    <>
      <button type="button" onClick={async () => download('chart.svg', new Blob([await draw()], { type: 'image/svg+xml' }))}>SVG</button>
      <button type="button" onClick={async () => download('chart.png', await pngOf(await draw(), width, height))}>PNG</button>
      <button type="button" onClick={async () => download('results.csv', await engine.ask('csv', lines.map(({ info }) => info)))}>CSV</button>
    </>
  );
}
