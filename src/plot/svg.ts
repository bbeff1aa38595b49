import { type Curve, curvesOf, type Frame, frameOf } from './curve.js';
import { escapeXml, fitted, pixel, text, textWidth, wrapSvg } from './drawing.js';
import { type ChartLine, type Extent, extentOf, groupIntoPanels, type Panel, timeExtentOf } from './panels.js';
import { dashes, palette } from './style.js';
import { describeTime, timeTicks } from './time-ticks.js';
import { binaryTicks, groupThousands, shortValue, type ValueTicks, valueTicks } from './value-ticks.js';

/** How a chart looks. */
export interface ChartOptions {
  readonly title?: string;
  /** The IANA time zone of the time axis; UTC by default. */
  readonly timezone?: string;
  readonly width?: number;
}

const WIDTH = 960;
const RIGHT = 28;
const TITLE_HEIGHT = 30;
const LEGEND_HEIGHT = 22;
const PANEL_GAP = 18;
const AXIS_HEIGHT = 60;
/** Heights by the number of panels; with more panels, the last one applies. */
const PANEL_HEIGHTS = [340, 220, 170, 140, 120];
/** The height of a panel of zeros and ones. */
const BINARY_HEIGHT = 80;
/** The size of a title relative to other text. */
const TITLE_SCALE = 1.45;
const TICK_SPACING = { x: 80, y: 32 };
/** Samples at least this far apart are marked with dots, to tell them from the lines between them. */
const DOT_SPACING = 8;

/** Draws lines as an SVG chart: panels of similar values over one time axis, legible on light and dark. */
export function drawSvg(lines: readonly ChartLine[], options: ChartOptions = {}): string {
  const { title = '', timezone = 'UTC', width = WIDTH } = options;
  const panels = groupIntoPanels(lines);
  const time = timeExtentOf(lines);
  const heights = panels.map((panel) => heightOf(panel, panels.length));
  const axes = panels.map((panel, index) => ticksOf(panel, heights[index] ?? 0));
  const left = 22 + Math.max(20, ...axes.flatMap(({ ticks }) => ticks.map(({ label }) => textWidth(label))));
  const body: string[] = [];
  let top = title === '' ? 12 : TITLE_HEIGHT + 12;
  if (title !== '') body.push(text('title', left, 26, fitted(title, (width - left - RIGHT) / TITLE_SCALE)));
  if (time === undefined) body.push(text('faint', left, top + 30, 'no samples'));
  let firstColour = 0;
  for (const [index, panel] of panels.entries()) {
    const height = heights[index] ?? 0;
    const legend = drawLegend(panel, firstColour, left, top, width);
    top += legend.height;
    const place = { left, top, width: width - left - RIGHT, height };
    const frame = frameOf(place, time as Extent, axes[index] as ValueTicks); // panels have lines and axes
    body.push(legend.svg, drawPanel(panel, axes[index] as ValueTicks, frame, firstColour, timezone));
    firstColour += panel.lines.length;
    top += height + PANEL_GAP;
    if (index === panels.length - 1) body.push(drawTimeAxis(frame, timezone, width));
  }
  const totalHeight = Math.round(time === undefined ? top + 60 : top - PANEL_GAP + AXIS_HEIGHT);
  const label = title === '' ? 'Time series' : title;
  return wrapSvg(body, { width, height: totalHeight, label, summary: summarize(lines, timezone) });
}

function heightOf({ isBinary }: Panel, panelCount: number): number {
  const height = PANEL_HEIGHTS[Math.min(panelCount, PANEL_HEIGHTS.length) - 1] ?? 0;
  return isBinary ? Math.min(height, BINARY_HEIGHT) : height;
}

function ticksOf({ lines, isBinary }: Panel, height: number): ValueTicks {
  return isBinary ? binaryTicks : valueTicks(extentOf(lines), Math.max(2, Math.round(height / TICK_SPACING.y)));
}

function drawPanel(
  { lines }: Panel,
  { ticks }: ValueTicks,
  frame: Frame,
  firstColour: number,
  timezone: string,
): string {
  const right = frame.left + frame.width;
  const grid = ticks.map(({ value }) => `M${pixel(frame.left)} ${pixel(frame.y(value))}H${pixel(right)}`).join('');
  const across = ticksOfTime(frame, timezone)
    .map(({ timeMs }) => `M${pixel(frame.x(timeMs))} ${pixel(frame.top)}v${frame.height}`)
    .join('');
  const labels = ticks.map(({ value, label }) => text('value', frame.left - 10, frame.y(value) + 4, label));
  const drawn = lines.map((line, index) => drawLine(line, frame, firstColour + index));
  return [`<path class="grid" d="${across}${grid}"/>`, ...labels, ...drawn].join('\n');
}

function ticksOfTime({ time, width }: Frame, timezone: string) {
  return timeTicks(time, Math.floor(width / TICK_SPACING.x), timezone);
}

function drawTimeAxis(frame: Frame, timezone: string, width: number): string {
  const bottom = frame.top + frame.height;
  const parts = [`<path class="axis" d="M${pixel(frame.left)} ${pixel(bottom)}h${pixel(frame.width)}"/>`];
  const ticks = ticksOfTime(frame, timezone);
  // A label at the edge moves inwards so that it is not cut off.
  const place = (x: number, label: string): number => {
    const half = textWidth(label) / 2 + 4;
    return Math.min(width - half, Math.max(half, x));
  };
  let labelEnd = 0;
  let contextEnd = 0;
  for (const [index, { timeMs, label, context }] of ticks.entries()) {
    const x = frame.x(timeMs);
    const at = place(x, label);
    const labelHalf = textWidth(label) / 2;
    // Moved inwards, the last label may lie on the one before it; widths are estimates.
    if (at - labelHalf > labelEnd - 4) parts.push(text('time', at, bottom + 18, label));
    labelEnd = at + labelHalf;
    if (context === undefined || context === '') continue;
    // The first context is left out if the next one begins close to it.
    const next = ticks.slice(index + 1).find((tick) => tick.context !== undefined);
    const half = textWidth(context) / 2;
    const isCrowded = index === 0 && next !== undefined && frame.x(next.timeMs) - x < 2 * half + 12;
    if (isCrowded || x - half < contextEnd) continue;
    parts.push(text('time faint', place(x, context), bottom + 34, context));
    contextEnd = x + half + 12;
  }
  parts.push(text('zone faint', frame.left + frame.width, bottom + 51, `time in ${timezone}`));
  return parts.join('\n');
}

function drawLegend(panel: Panel, firstColour: number, left: number, top: number, width: number) {
  const parts: string[] = [];
  let x = left;
  let y = top + 12;
  for (const [index, line] of panel.lines.entries()) {
    // The title of the line has the whole name.
    const name = fitted(line.name, width - RIGHT - left - 26);
    const room = 26 + textWidth(name) + 20;
    if (x > left && x + room > width - RIGHT) {
      x = left;
      y += LEGEND_HEIGHT;
    }
    parts.push(`<path class="line ${classOf(firstColour + index)}" d="M${pixel(x)} ${pixel(y - 4)}h18"/>`);
    parts.push(text('', x + 25, y, name));
    x += room;
  }
  return { svg: parts.join('\n'), height: y - top + 10 };
}

function drawLine(line: ChartLine, frame: Frame, colour: number): string {
  const curves = curvesOf(line, frame, 1);
  const long = curves.filter(({ length }) => length > 1);
  // A point between two gaps is always a dot, which is a line of length zero with round ends.
  const isSparse = !line.isBinary && line.timeMs.length * DOT_SPACING <= frame.width;
  const dots = isSparse ? curves.flat() : curves.filter(({ length }) => length === 1).flat();
  // Thinner strokes leave room between lines that are close together.
  const thin = line.timeMs.length > frame.width ? ' thin' : '';
  const parts = [
    `<g class="${classOf(colour)}${thin}"><title>${escapeXml(line.name)}: ${escapeXml(describeLine(line))}</title>`,
  ];
  if (long.length > 0) parts.push(`<path class="line" d="${long.map(pathOf).join('')}"/>`);
  if (dots.length > 0) parts.push(`<path class="dot" d="${dots.map((dot) => `${pathOf([dot])}h0`).join('')}"/>`);
  parts.push('</g>');
  return parts.join('');
}

function pathOf(curve: Curve): string {
  return curve.map(([x, y], index) => `${index === 0 ? 'M' : index === 1 ? 'L' : ' '}${pixel(x)} ${pixel(y)}`).join('');
}

function classOf(colour: number): string {
  const dash = Math.floor(colour / palette.length) % dashes.length;
  return dash === 0 ? `c${colour % palette.length}` : `c${colour % palette.length} d${dash}`;
}

function describeLine({ sampleCount, min, max }: ChartLine): string {
  if (sampleCount === 0) return 'no samples';
  const samples = `${groupThousands(String(sampleCount))} sample${sampleCount === 1 ? '' : 's'}`;
  return min === max
    ? `${samples}, all ${shortValue(min)}`
    : `${samples} from ${shortValue(min)} to ${shortValue(max)}`;
}

function summarize(lines: readonly ChartLine[], timezone: string): string {
  const time = timeExtentOf(lines);
  const parts = lines.map((line) => `${line.name}: ${describeLine(line)}`).join('; ');
  if (time === undefined) return parts;
  return `${describeTime(time.min, timezone)} to ${describeTime(time.max, timezone)} (${timezone}). ${parts}.`;
}
