import { type Curve, curvesOf, type Frame, frameOf } from './curve.js';
import { type ChartLine, type Extent, extentOf, groupIntoPanels, type Panel, timeExtentOf } from './panels.js';
import { timeTicks } from './time-ticks.js';
import { binaryTicks, type ValueTicks, valueTicks } from './value-ticks.js';

/** How a chart in the terminal looks. */
export interface TerminalOptions {
  /** The width in characters. */
  readonly columns: number;
  /** The height of each panel in lines; 12 by default. */
  readonly rows?: number;
  readonly timezone?: string;
  /** Whether to draw with Braille dots, eight a character, as by default; otherwise in plain ASCII. */
  readonly isUnicode?: boolean;
  /** Colours a text like the line of this index. */
  readonly paint?: (text: string, lineIndex: number) => string;
}

const ROWS = 12;
const ASCII_MARKERS = '*o+x#%@';

/** The dots set in a character: 2 by 4 Braille dots (bits of U+2800), or an ASCII character itself. */
interface Grid {
  readonly dotsX: number;
  readonly dotsY: number;
  readonly character: (bits: number, lineIndex: number) => string;
}

const braille: Grid = { dotsX: 2, dotsY: 4, character: (bits) => String.fromCharCode(0x2800 + bits) };
const ascii: Grid = { dotsX: 1, dotsY: 1, character: (_, line) => ASCII_MARKERS[line % ASCII_MARKERS.length] ?? '*' };
const BRAILLE_BITS = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
];

/** Draws lines as a chart of characters, with a panel for each group of similar values. */
export function drawTerminal(lines: readonly ChartLine[], options: TerminalOptions): string {
  const time = timeExtentOf(lines);
  if (time === undefined) return 'no samples\n';
  const panels = canTellApart(options) ? groupIntoPanels(lines) : lines.flatMap(panelOfOne);
  const rows = options.rows ?? ROWS;
  const axes = panels.map(({ lines: own, isBinary }) => (isBinary ? binaryTicks : valueTicks(extentOf(own), rows / 2)));
  const labelWidth = Math.max(...axes.flatMap(({ ticks }) => ticks.map(({ label }) => label.length)));
  const width = Math.max(16, options.columns - labelWidth - 4);
  const parts: string[] = [];
  let firstLine = 0;
  for (const [index, panel] of panels.entries()) {
    const ticks = axes[index] as ValueTicks; // one for each panel
    const frame = cellFrame(panel, ticks, time, width, options);
    parts.push(legend(panel, firstLine, options), ...drawPanel(panel, ticks, frame, labelWidth, firstLine, options));
    firstLine += panel.lines.length;
  }
  const axis = frameOf({ left: 0, top: 0, width: width - 1, height: 1 }, time, { min: 0, max: 1 });
  parts.push(...timeAxis(axis, labelWidth, options));
  return `${parts.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Whether the lines of a panel can be told apart, by colours or by ASCII markers. */
function canTellApart({ paint, isUnicode = true }: TerminalOptions): boolean {
  return paint !== undefined || !isUnicode;
}

function panelOfOne(line: ChartLine): Panel[] {
  return line.timeMs.length === 0 ? [] : [{ lines: [line], isBinary: line.isBinary }];
}

function gridOf({ isUnicode = true }: TerminalOptions): Grid {
  return isUnicode ? braille : ascii;
}

function cellFrame(panel: Panel, ticks: ValueTicks, time: Extent, width: number, options: TerminalOptions): Frame {
  const { dotsX, dotsY } = gridOf(options);
  const rows = panel.isBinary ? 4 : (options.rows ?? ROWS);
  return frameOf({ left: 0, top: 0, width: width * dotsX - 1, height: rows * dotsY - 1 }, time, ticks);
}

function legend({ lines }: Panel, firstLine: number, { paint = plain, isUnicode = true }: TerminalOptions): string {
  const entries = lines.map(({ name }, index) => {
    const sample = isUnicode ? '\u2501\u2501' : ascii.character(0, firstLine + index);
    return paint(`${sample} ${name}`, firstLine + index);
  });
  return `  ${entries.join('   ')}`;
}

function plain(text: string): string {
  return text;
}

function drawPanel(
  { lines }: Panel,
  { ticks }: ValueTicks,
  frame: Frame,
  labelWidth: number,
  firstLine: number,
  options: TerminalOptions,
): string[] {
  const { paint = plain, isUnicode = true } = options;
  const grid = gridOf(options);
  const columnCount = Math.round((frame.width + 1) / grid.dotsX);
  const rowCount = Math.round((frame.height + 1) / grid.dotsY);
  const bits = Array.from({ length: rowCount }, () => new Uint8Array(columnCount));
  const owner = bits.map(() => new Int16Array(columnCount));
  for (const [index, line] of lines.entries()) {
    for (const curve of curvesOf(line, frame, 1)) {
      eachDot(curve, (x, y) => {
        const row = Math.floor(y / grid.dotsY);
        const column = Math.floor(x / grid.dotsX);
        const cells = bits[row];
        if (cells === undefined || column < 0 || column >= columnCount) return;
        cells[column] = (cells[column] ?? 0) | (BRAILLE_BITS[x % grid.dotsX]?.[y % grid.dotsY] ?? 1);
        (owner[row] as Int16Array)[column] = firstLine + index; // as many rows as bits
      });
    }
  }
  const labels = new Map(ticks.map(({ value, label }) => [Math.floor(Math.round(frame.y(value)) / grid.dotsY), label]));
  return bits.map((cells, row) => {
    const label = labels.get(row);
    const border = isUnicode ? (label === undefined ? '\u2502' : '\u2524') : '|';
    const characters = paintRuns(cells, owner[row] as Int16Array, grid, paint); // as many rows as bits
    const shown = isUnicode ? (label ?? '') : (label ?? '').replace('\u2212', '-');
    return `${shown.padStart(labelWidth + 1)} ${border}${characters}`;
  });
}

// Adjacent characters of one colour are painted together.
function paintRuns(
  cells: Uint8Array,
  owner: Int16Array,
  grid: Grid,
  paint: (text: string, lineIndex: number) => string,
): string {
  let painted = '';
  let run = '';
  let runLine = -1;
  for (const [column, cell] of cells.entries()) {
    const line = cell === 0 ? -1 : (owner[column] ?? 0);
    if (line !== runLine) {
      painted += runLine < 0 ? run : paint(run, runLine);
      run = '';
      runLine = line;
    }
    run += cell === 0 ? ' ' : grid.character(cell, line);
  }
  return painted + (runLine < 0 ? run : paint(run, runLine));
}

// Calls `set` for every dot from point to point.
function eachDot(curve: Curve, set: (x: number, y: number) => void): void {
  let [fromX, fromY] = curve[0] ?? [0, 0];
  for (const [x, y] of curve) {
    const count = Math.max(1, Math.ceil(Math.max(Math.abs(x - fromX), Math.abs(y - fromY))));
    for (let k = 0; k <= count; k++) {
      set(Math.round(fromX + ((x - fromX) * k) / count), Math.round(fromY + ((y - fromY) * k) / count));
    }
    [fromX, fromY] = [x, y];
  }
}

function timeAxis(frame: Frame, labelWidth: number, { timezone = 'UTC', isUnicode = true }: TerminalOptions): string[] {
  const ticks = timeTicks(frame.time, Math.max(2, Math.floor(frame.width / 14)), timezone);
  const columns = ticks.map(({ timeMs }) => Math.round(frame.x(timeMs)));
  const [across, mark, corner] = isUnicode ? ['\u2500', '\u252c', '\u2514'] : ['-', '+', '+'];
  const rule = Array.from({ length: frame.width + 1 }, (_, column) => (columns.includes(column) ? mark : across));
  const indent = ' '.repeat(labelWidth + 2);
  const labels = ticks.map(({ label }, index) => ({ at: columns[index] ?? 0, label }));
  const contexts = ticks.flatMap(({ context }, index) =>
    context ? [{ at: columns[index] ?? 0, label: context }] : [],
  );
  const width = frame.width + 1;
  const lines = [`${indent}${corner}${rule.join('')}`, `${indent} ${placed(labels, width)}`];
  const last = placed(contexts, width - timezone.length - 1);
  return [...lines, `${indent} ${last.padEnd(width - timezone.length)}${timezone}`];
}

// Centres labels on their ticks; leaves out a label that would touch the one before.
function placed(labels: readonly { at: number; label: string }[], width: number): string {
  let line = '';
  for (const { at, label } of labels) {
    const from = Math.min(Math.max(0, at - Math.floor(label.length / 2)), width - label.length);
    if (from >= line.length + (line === '' ? 0 : 1)) line = line.padEnd(from) + label;
  }
  return line;
}
