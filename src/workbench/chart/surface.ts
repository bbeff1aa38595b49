import uPlot from 'uplot';
import { isFlat, ticksWithin } from '../../plot/value-ticks.js';
import type { Line, Sample, TimeRange } from '../engine/protocol.js';
import { lineColour, pageColours } from './theme.js';
import { timeMarks } from './zoned-time.js';

/** A line of the large chart. */
export interface SurfaceLine {
  readonly name: string;
  readonly colour: number;
  readonly isStepped: boolean;
  readonly isRight: boolean;
  readonly isWide: boolean;
}

export interface SurfaceEvents {
  /** A range was chosen with the mouse, the wheel or fingers. */
  readonly onRange: (range: TimeRange) => void;
  readonly onCursor: (timeMs: number | undefined) => void;
  readonly onReset: () => void;
  /** A place on the chart was clicked. */
  readonly onPick: (place: Place) => void;
}

/** A place on the chart: its time, and the distance of a sample from it, in pixels. */
export interface Place {
  readonly timeMs: number;
  readonly distanceTo: (sample: Sample, isRight: boolean) => number;
}

const HEIGHT = 380;
const LETTER_WIDTH = 7;
const VALUE_TICKS_MAX = 10;
// uPlot's numbers for them: its enum exists only as a type.
const NULL_REMOVE = 0;
const NULL_EXPAND = 2;
const ZOOM_STEP = 1.25;

/** The canvas of the large chart, with its mouse and touch events. */
export class Surface {
  readonly #plot: uPlot;
  readonly #host: HTMLElement;
  readonly #events: SurfaceEvents;
  readonly #fingers = new Map<number, number>();
  readonly #owner: object;
  #range: TimeRange;
  #window: TimeRange | undefined;

  /** @param owner stands for the lines that it shows: `setLines` ignores those of another one. */
  constructor(
    host: HTMLElement,
    owner: object,
    lines: readonly SurfaceLine[],
    range: TimeRange,
    zone: string,
    events: SurfaceEvents,
  ) {
    this.#host = host;
    this.#events = events;
    this.#owner = owner;
    this.#range = range;
    const data: uPlot.AlignedData = [[], ...lines.map(() => [])];
    this.#plot = new uPlot(this.#options(lines, zone), data, host);
    this.#listen(this.#plot.over);
    this.#showRange();
  }

  get columns(): number {
    return Math.max(50, Math.round(this.#plot.bbox.width / devicePixelRatio));
  }

  resize(): void {
    this.#plot.setSize({ width: this.#host.clientWidth, height: HEIGHT });
  }

  /** Moves what is drawn at once; finer lines for the range follow. */
  setRange(range: TimeRange): void {
    this.#range = range;
    this.#showRange();
  }

  setLines(lines: readonly Line[], owner: object): void {
    if (owner !== this.#owner) return;
    const tables = lines.map(({ timeMs, value }): uPlot.AlignedData => {
      return [Array.from(timeMs), Array.from(value, (v) => (Number.isNaN(v) ? null : v))];
    });
    // A gap of one line stays a gap, whatever points other lines have in it.
    const modes = tables.map((): uPlot.JoinNullMode[] => [NULL_REMOVE, NULL_EXPAND]);
    this.#plot.setData(tables.length === 0 ? [[]] : uPlot.join(tables, modes), false);
    this.#showRange();
  }

  /** Puts the cursor at a time; undefined takes it away. */
  setCursor(timeMs: number | undefined): void {
    const left = timeMs === undefined ? -10 : this.#plot.valToPos(timeMs, 'x');
    this.#plot.setCursor({ left, top: timeMs === undefined ? -10 : 10 }, false);
  }

  /** Marks a window behind the lines; undefined takes the mark away. */
  setWindow(window: TimeRange | undefined): void {
    this.#window = window;
    this.#plot.redraw(false);
  }

  destroy(): void {
    this.#plot.destroy();
  }

  #showRange(): void {
    this.#plot.setScale('x', { min: this.#range.fromMs, max: this.#range.untilMs });
  }

  #options(lines: readonly SurfaceLine[], zone: string): uPlot.Options {
    const { text, grid } = pageColours();
    const stroke = text;
    const axis = {
      stroke,
      grid: { stroke: grid, width: 1 },
      ticks: { stroke: grid, width: 1 },
      font: '12px system-ui',
    };
    let marks: ReturnType<typeof timeMarks> = [];
    const isRightUsed = lines.some(({ isRight }) => isRight);
    const range: uPlot.Scale.Range = (_, min, max) => (min === null ? [0, 1] : padded(min, max));
    return {
      width: this.#host.clientWidth,
      height: HEIGHT,
      ms: 1,
      scales: { x: { time: false }, y: { range }, right: { range } },
      axes: [
        {
          ...axis,
          splits: ({ width }, _, fromMs, untilMs) => {
            marks = timeMarks(fromMs, untilMs, width / 80, zone);
            return marks.map(({ timeMs }) => timeMs);
          },
          values: () => marks.map(({ label }) => label),
        },
        { ...axis, ...valueTicks(), scale: 'y' },
        ...(isRightUsed ? [{ ...axis, ...valueTicks(), scale: 'right', side: 1 as const, grid: { show: false } }] : []),
      ],
      series: [
        {},
        ...lines.map(({ name, colour, isStepped, isRight, isWide }): uPlot.Series => {
          const stepped = isStepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
          return {
            label: name,
            scale: isRight ? 'right' : 'y',
            stroke: lineColour(colour),
            width: isWide ? 6 : 1.5,
            alpha: isWide ? 0.4 : 1,
            points: { filter: (plot, index, areAllShown) => (areAllShown ? null : loneSamples(plot.data[index]!)) },
            ...(stepped === undefined ? {} : { paths: stepped }),
          };
        }),
      ],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false },
        dataIdx: (plot, series, index) => nearestPoint(plot.data[series], index),
        bind: { dblclick: () => () => this.#reset() },
      },
      hooks: {
        drawClear: [() => this.#drawWindow()],
        setSelect: [(plot) => this.#takeSelection(plot)],
        setCursor: [({ cursor: { left = -1 } }) => this.#events.onCursor(left < 0 ? undefined : this.#timeAt(left))],
      },
    };
  }

  #drawWindow(): void {
    if (this.#window === undefined) return;
    const { ctx, bbox } = this.#plot;
    const edge = (timeMs: number): number =>
      Math.min(bbox.left + bbox.width, Math.max(bbox.left, this.#plot.valToPos(timeMs, 'x', true)));
    const [from, until] = [edge(this.#window.fromMs), edge(this.#window.untilMs)];
    ctx.fillStyle = pageColours().grid;
    ctx.fillRect(from, bbox.top, Math.max(2, until - from), bbox.height);
  }

  #reset(): null {
    this.#events.onReset();
    return null;
  }

  #timeAt(left: number): number {
    return this.#plot.posToVal(left, 'x');
  }

  #takeSelection(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    const range = { fromMs: this.#timeAt(left), untilMs: this.#timeAt(left + width) };
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#events.onRange(range);
  }

  #listen(over: HTMLElement): void {
    over.addEventListener(
      'wheel',
      (event) => {
        const isMove = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
        // The plain wheel scrolls the page; two fingers on a touchpad come as the wheel with Ctrl.
        if (!isMove && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const { fromMs, untilMs } = this.#range;
        const spanMs = untilMs - fromMs;
        if (isMove) {
          const byMs = (spanMs * Math.sign(event.deltaX || event.deltaY)) / 15;
          this.#events.onRange({ fromMs: fromMs + byMs, untilMs: untilMs + byMs });
        } else {
          this.#events.onRange(
            zoomed(this.#range, event.deltaY > 0 ? ZOOM_STEP : 1 / ZOOM_STEP, this.#timeAt(event.offsetX)),
          );
        }
      },
      { passive: false },
    );
    // uPlot stops the click after a drag.
    over.addEventListener('click', ({ offsetX, offsetY }) => {
      const distanceTo = ({ timeMs, value }: Sample, isRight: boolean): number =>
        Math.hypot(
          this.#plot.valToPos(timeMs, 'x') - offsetX,
          this.#plot.valToPos(value, isRight ? 'right' : 'y') - offsetY,
        );
      this.#events.onPick({ timeMs: this.#timeAt(offsetX), distanceTo });
    });
    over.addEventListener('pointerdown', (event) => {
      if (event.pointerType === 'mouse') return;
      this.#fingers.set(event.pointerId, event.clientX);
    });
    over.addEventListener('pointermove', (event) => this.#moveFinger(event));
    for (const name of ['pointerup', 'pointercancel', 'pointerleave'] as const) {
      over.addEventListener(name, (event) => this.#fingers.delete(event.pointerId));
    }
  }

  // One finger pans, two fingers zoom.
  #moveFinger(event: PointerEvent): void {
    const before = this.#fingers.get(event.pointerId);
    if (before === undefined) return;
    const { left } = this.#plot.over.getBoundingClientRect();
    const other = [...this.#fingers].find(([id]) => id !== event.pointerId)?.[1];
    this.#fingers.set(event.pointerId, event.clientX);
    if (other === undefined) {
      const byMs = this.#timeAt(before - left) - this.#timeAt(event.clientX - left);
      this.#events.onRange({ fromMs: this.#range.fromMs + byMs, untilMs: this.#range.untilMs + byMs });
    } else if (Math.abs(event.clientX - other) > 10) {
      const ratio = Math.abs(before - other) / Math.abs(event.clientX - other);
      this.#events.onRange(zoomed(this.#range, ratio, this.#timeAt(other - left)));
    }
  }
}

/** The ticks of a value axis, which is as wide as the longest label needs. */
function valueTicks(): Pick<uPlot.Axis, 'size' | 'splits' | 'values'> {
  let ticks: ReturnType<typeof ticksWithin> = [];
  return {
    size: (_, labels) => Math.max(64, ...(labels ?? []).map((label) => 20 + label.length * LETTER_WIDTH)),
    splits: (_, __, min, max) => {
      ticks = ticksWithin({ min, max }, VALUE_TICKS_MAX);
      return ticks.map(({ value }) => value);
    },
    values: () => ticks.map(({ label }) => label),
  };
}

/** The range `ratio` times as long, in which `aroundMs` keeps its place. */
export function zoomed({ fromMs, untilMs }: TimeRange, ratio: number, aroundMs: number): TimeRange {
  return { fromMs: aroundMs - (aroundMs - fromMs) * ratio, untilMs: aroundMs + (untilMs - aroundMs) * ratio };
}

function padded(min: number, max: number): [number, number] {
  const room = isFlat({ min, max }) ? Math.abs(max) / 10 || 1 : (max - min) * 0.06;
  return [min - room, max + room];
}

/** Where the samples between two gaps are, which no line shows. */
function loneSamples(values: uPlot.AlignedData[number]): number[] {
  const lone: number[] = [];
  let length = 0;
  let last = 0;
  // After the last one there is nothing, as in a gap.
  for (let index = 0; index <= values.length; index++) {
    const value = index < values.length ? values[index] : null;
    // Only another line has a sample at this time.
    if (value === undefined) continue;
    if (value === null && length === 1) lone.push(last);
    length = value === null ? 0 : length + 1;
    last = index;
  }
  return lone;
}

// Lines have times of their own: where a line has no point at the cursor, its nearest one is taken.
function nearestPoint(values: uPlot.AlignedData[number] | undefined, index: number): number {
  if (values === undefined) return index;
  for (let distance = 0; distance < values.length; distance++) {
    if (values[index - distance] != null) return index - distance;
    if (values[index + distance] != null) return index + distance;
  }
  return index;
}
