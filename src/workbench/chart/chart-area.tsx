import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { newestOnly } from '../engine/client.js';
import { nameOf, type Sample, type TimeRange } from '../engine/protocol.js';
import { type PlacedSeries, useWorkbench } from '../state.js';
import { DataTable } from './data-table.js';
import { Exports } from './exports.js';
import { keyActions } from './keys.js';
import { Legend } from './legend.js';
import { Surface } from './surface.js';
import { onThemeChange } from './theme.js';
import { ZoneField } from './zone-field.js';
import { spanText, TIME_MS_MAX, timeText, valueText } from './zoned-time.js';

interface AreaProps {
  readonly lines: readonly PlacedSeries[];
  readonly range: TimeRange;
  readonly zone: string;
  readonly onRange: (range: TimeRange | undefined) => void;
  readonly onSide: (key: string, isRight: boolean) => void;
}

/** The large chart with its tools, legend and table. */
export function ChartArea({ lines, range, zone, onRange, onSide }: AreaProps) {
  const { state, act } = useWorkbench();
  const pick = (line: PlacedSeries | undefined, sample: Sample | null | undefined): void => {
    if (line && sample) act({ type: 'set', to: { asked: { series: line.info, timeMs: sample.timeMs } } });
  };
  const { host, cursor, move, fit, point } = useSurface({ lines, range, zone, onRange, onPick: pick });
  // Movements by keys are announced; with a pointer one sees them.
  const [isByKeys, setIsByKeys] = useState(false);
  const told = cursor?.samples.flatMap((sample, index) =>
    sample ? `${nameOf(lines[index]!.info)} ${valueText(sample.value)} at ${timeText(sample.timeMs, zone)}` : [],
  );
  const series = useMemo(() => lines.map(({ info }) => info), [lines]);
  const keys = keyActions(move.shown, move.to, fit, point, cursor?.timeMs);
  const summary = `${lines.map(({ info }) => nameOf(info)).join(', ') || 'no series'}, ${spanText(range, zone)}`;
  return (
    <>
      <div class="chart-tools" role="toolbar" aria-label="Chart tools">
        {TOOLS.map(([key, label, title]) => (
          <button key={key} type="button" onClick={() => keys(key)} title={title}>
            <span aria-hidden>{label}</span>
          </button>
        ))}
        <span class="spring" />
        <ZoneField
          label="Axis in"
          value={state.chartZone}
          emptyZone={state.timezone}
          onZone={(timezone) => act({ type: 'set', to: { chartZone: timezone } })}
        />
        <Exports lines={lines} range={range} zone={zone} />
      </div>
      <div
        class="chart-host"
        ref={host}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move the chart
        tabIndex={0}
        role="application"
        aria-roledescription="chart"
        aria-label={`Chart of ${summary}. ${KEYS_HELP}`}
        onPointerMove={() => setIsByKeys(false)}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          setIsByKeys(true);
          // Of the lines at the cursor, a result rather than its source.
          const at = Math.max(
            0,
            lines.findIndex(({ pointer }) => pointer !== undefined),
          );
          if (event.key === 'Enter') pick(lines[at], cursor?.samples[at]);
          else if (keys(event.key)) event.preventDefault();
        }}
      />
      <p class="hidden" role="status">
        {isByKeys && (told?.join(', ') ?? spanText(range, zone))}
      </p>
      <Legend lines={lines} cursor={cursor} zone={zone} onSide={onSide} />
      <DataTable series={series} zone={zone} />
    </>
  );
}

const KEYS_HELP =
  'Arrow keys move it, plus and minus zoom, 0 shows all, comma and period move the cursor, Enter tells why.';

const TOOLS: readonly (readonly [key: string, label: string, title: string])[] = [
  ['+', '+', 'Zoom in (+, or Ctrl and the wheel)'],
  ['-', '−', 'Zoom out (−, or Ctrl and the wheel)'],
  ['ArrowLeft', '←', 'Earlier (←)'],
  ['ArrowRight', '→', 'Later (→)'],
  ['0', 'Fit', 'Fit: all of the time (0)'],
];

interface Cursor {
  /** Those that the samples belong to: the chart may have other lines by now. */
  readonly lines: readonly PlacedSeries[];
  readonly timeMs: number;
  readonly samples: readonly (Sample | null)[];
}

interface Picking {
  readonly onPick: (line: PlacedSeries | undefined, sample: Sample | null | undefined) => void;
}

const SETTLED_MS = 150;

/** A surface in an element of the page, updated with the lines, the range and the theme. */
function useSurface({ lines, range, zone, onRange, onPick }: Omit<AreaProps, 'onSide'> & Picking) {
  const {
    engine,
    state,
    view: { extent },
  } = useWorkbench();
  const host = useRef<HTMLDivElement>(null);
  const surface = useRef<Surface | undefined>(undefined);
  const shown = useRef(range);
  const [cursor, setCursor] = useState<Cursor>();
  const [theme, setTheme] = useState(0);
  const view = useView(lines, surface, setCursor);
  const timer = useRef(0);
  const show = (next: TimeRange, settled: TimeRange | undefined): void => {
    shown.current = next;
    surface.current?.setRange(next);
    view.draw(next);
    clearTimeout(timer.current);
    // The other charts follow once the range stays the same for a moment.
    timer.current = window.setTimeout(() => onRange(settled), SETTLED_MS);
  };
  const to = (next: TimeRange): void => {
    const { fromMs, untilMs } = next;
    if (untilMs - fromMs >= 1 && Math.max(-fromMs, untilMs) < TIME_MS_MAX) show(next, next);
  };
  const fit = (): void => show(extent!, undefined);
  useEffect(() => onThemeChange(() => setTheme((count) => count + 1)), []);
  useEffect(() => {
    if (host.current === null) return;
    const series = lines.map(({ info }) => info);
    const named = lines.map(({ info, colour, isRight, isWide }) => {
      return { name: nameOf(info), colour, isStepped: info.isBinary, isRight, isWide };
    });
    const own = new Surface(host.current, lines, named, shown.current, zone, {
      onRange: to,
      onCursor: (timeMs) => (timeMs === undefined ? setCursor(undefined) : view.point(timeMs)),
      onReset: fit,
      onPick: async ({ timeMs, distanceTo }) => {
        const samples = await engine.ask('nearest', series, timeMs);
        const distances = samples.map((sample, i) => (sample ? distanceTo(sample, lines[i]!.isRight) : Infinity));
        const nearest = distances.indexOf(Math.min(...distances));
        onPick(lines[nearest], samples[nearest]);
      },
    });
    surface.current = own;
    const observer = new ResizeObserver(() => own.resize());
    observer.observe(host.current);
    own.setWindow(state.window);
    view.draw(shown.current);
    return () => {
      observer.disconnect();
      own.destroy();
    };
  }, [lines, zone, theme]);
  useEffect(() => {
    shown.current = range;
    surface.current?.setRange(range);
    view.draw(range);
  }, [range.fromMs, range.untilMs, view, state.answer]);
  useEffect(() => surface.current?.setWindow(state.window), [state.window]);
  const point = (timeMs: number): void => {
    surface.current?.setCursor(timeMs);
    view.point(timeMs);
  };
  return { host, cursor: cursor?.lines === lines ? cursor : undefined, fit, point, move: { shown, to } };
}

/** Asks the engine for what the surface shows; if questions come fast, only the last answer counts. */
function useView(
  lines: readonly PlacedSeries[],
  surface: { readonly current: Surface | undefined },
  onCursor: (cursor: Cursor) => void,
) {
  const { engine } = useWorkbench();
  return useMemo(() => {
    const series = lines.map(({ info }) => info);
    // A series that was just removed cannot be drawn, and need not be.
    const fail = (): void => undefined;
    const draw = newestOnly(
      (wanted: TimeRange) => engine.ask('view', series, wanted, surface.current?.columns ?? 500),
      // Answers for other lines are ignored.
      (found) => surface.current?.setLines(found, lines),
      fail,
    );
    const point = newestOnly(
      (timeMs: number) => engine.ask('nearest', series, timeMs),
      (samples, timeMs) => onCursor({ lines, timeMs, samples }),
      fail,
    );
    return { draw, point };
  }, [lines, engine]);
}
