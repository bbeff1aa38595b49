/** Lines that share a value axis. */
export interface Panel {
  readonly lines: readonly ChartLine[];
  readonly isBinary: boolean;
}

/** Each line fills at least this share of its panel's height, so that its shape can be seen. */
const FILLED_MIN = 0.3;
/** As many as there are colours and markers. */
const LINES_MAX = 7;
/** So many panels, or as many as all lines need, but at most so many. */
const PANELS_USUAL = 6;
const PANELS_MAX = 20;

/** Groups lines of similar values: a ratio of 0 to 1 would look flat beside thousands. */
export function groupIntoPanels(lines: readonly ChartLine[]): Panel[] {
  const drawn = lines.filter(({ timeMs }) => timeMs.length > 0);
  const panelsMax = Math.min(PANELS_MAX, Math.max(PANELS_USUAL, Math.ceil(drawn.length / LINES_MAX)));
  const panels: ChartLine[][] = [];
  for (const line of drawn) {
    const fitting = panels.find((panel) => fits(panel, line));
    if (fitting !== undefined) fitting.push(line);
    else if (panels.length < panelsMax) panels.push([line]);
    else panels.reduce((least, panel) => (panel.length <= least.length ? panel : least)).push(line);
  }
  return panels.map((panel) => ({ lines: panel, isBinary: panel.every(({ isBinary }) => isBinary) }));
}

function fits(panel: readonly ChartLine[], line: ChartLine): boolean {
  // Lines of zeros and ones would cover each other.
  if (panel.length >= LINES_MAX || line.isBinary || panel.some(({ isBinary }) => isBinary)) return false;
  const all = [...panel, line];
  const { min, max } = extentOf(all);
  const needed = (max - min) * FILLED_MIN;
  // A constant line needs no height, only values near the others.
  return all.every((one) => spanOf(one) >= needed || (spanOf(one) === 0 && isNear(one.min, panel, max - min)));
}

function spanOf({ min, max }: Extent): number {
  return max - min;
}

function isNear(value: number, panel: readonly ChartLine[], span: number): boolean {
  const { min, max } = extentOf(panel);
  return value >= min - span / 2 && value <= max + span / 2;
}

/** A line of a chart: points in time order, reduced to what can be seen. */
export interface ChartLine {
  readonly name: string;
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
  /** 1 if there is a gap before the point. */
  readonly isAfterGap: Uint8Array;
  /** Over all samples, not only the points kept. */
  readonly sampleCount: number;
  readonly min: number;
  readonly max: number;
  /** Whether all values are 0 or 1; such a line is drawn as steps. */
  readonly isBinary: boolean;
}

/** A range, inclusive at both ends. */
export interface Extent {
  readonly min: number;
  readonly max: number;
}

/** The smallest extent that contains all lines. */
export function extentOf(lines: readonly Extent[]): Extent {
  return {
    min: Math.min(...lines.map(({ min }) => min)),
    max: Math.max(...lines.map(({ max }) => max)),
  };
}

/** The first and the last instant of all lines with points. */
export function timeExtentOf(lines: readonly ChartLine[]): Extent | undefined {
  const drawn = lines.filter(({ timeMs }) => timeMs.length > 0);
  if (drawn.length === 0) return undefined;
  const { min, max } = extentOf(
    drawn.map(({ timeMs }) => ({ min: timeMs[0] ?? 0, max: timeMs[timeMs.length - 1] ?? 0 })),
  );
  return min === max ? { min: min - 1000, max: max + 1000 } : { min, max };
}
