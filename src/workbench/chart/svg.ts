import { escapeXml } from '../../plot/drawing.js';
import { valueTicks } from '../../plot/value-ticks.js';
import type { Line } from '../engine/protocol.js';
import { type Frame, frameOf, pathOf, valueExtent } from './path.js';
import { spanText, timeMarks } from './zoned-time.js';

/** A line of a drawing. */
export interface DrawnLine {
  readonly name: string;
  readonly line: Line;
  readonly colour: string;
  readonly isStepped: boolean;
  readonly isRight?: boolean;
  readonly isDashed?: boolean;
  readonly isWide?: boolean;
}

export interface Drawing {
  readonly lines: readonly DrawnLine[];
  readonly fromMs: number;
  readonly untilMs: number;
  readonly timezone: string;
  readonly width: number;
  readonly height: number;
  readonly colours: { readonly background: string; readonly text: string; readonly grid: string };
  /** Vertical marks, such as the watermark. */
  readonly marks?: readonly { readonly timeMs: number; readonly label: string; readonly colour: string }[];
  /** Short marks at the bottom. */
  readonly ticks?: readonly { readonly timeMs: number; readonly colour: string }[];
}

const MARGIN = { left: 62, right: 20, top: 34, bottom: 48 };
const LETTER_WIDTH = 6.8;
const ROW_HEIGHT = 18;
/** Below the names of very many lines the picture grows, to keep this much for the lines themselves. */
const BOX_HEIGHT_MIN = 160;

/** A chart as SVG, with attributes instead of styles, for pages whose policy forbids inline styles. */
export function drawSvg(drawing: Drawing): string {
  const { lines, width, colours, timezone } = drawing;
  const isTwoSided = lines.some(({ isRight }) => isRight);
  const names = legendOf(lines, width - MARGIN.left - MARGIN.right);
  const top = MARGIN.top + ROW_HEIGHT * (names.at(-1)?.row ?? 0);
  const height = Math.max(drawing.height, top + BOX_HEIGHT_MIN + MARGIN.bottom);
  const axes = [false, true].map((isRight) => axisOf(lines, isRight, height - top - MARGIN.bottom));
  const [leftRoom = 0, rightRoom = 0] = axes.map(({ ticks }) =>
    Math.max(MARGIN.left, ...ticks.map(({ label }) => 16 + label.length * LETTER_WIDTH)),
  );
  const box = {
    left: leftRoom,
    top,
    width: width - leftRoom - (isTwoSided ? rightRoom : MARGIN.right),
    height: height - top - MARGIN.bottom,
  };
  const time = [drawing.fromMs, drawing.untilMs] as const;
  const [left, right] = [frameOf(box, time, axes[0]!.extent), frameOf(box, time, axes[1]!.extent)];
  const bottom = box.top + box.height;
  const summary = `${lines.map(({ name }) => name).join(', ')}; ${spanText(drawing, timezone)}`;
  const body = [
    ...valueAxis(axes[0]!.ticks, left, box, colours, false),
    ...(isTwoSided ? valueAxis(axes[1]!.ticks, right, box, colours, true) : []),
    ...timeMarks(time[0], time[1], box.width / 80, timezone).flatMap(({ timeMs, label }) => [
      `<path d="M${round(left.x(timeMs))} ${box.top}V${bottom}" stroke="${colours.grid}" fill="none"/>`,
      ...label
        .split('\n')
        .map((line, row) => text(left.x(timeMs), bottom + 18 + 15 * row, line, colours.text, 'middle')),
    ]),
    text(box.left + box.width, height - 8, `time in ${timezone}`, colours.text, 'end'),
    ...names.flatMap((name) => drawName(name, MARGIN.left, colours.text)),
    // Lines are clipped at the box.
    `<svg x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}" ` +
      `viewBox="${box.left} ${box.top} ${box.width} ${box.height}">`,
    ...lines.map((line) => drawLine(line, line.isRight ? right : left)),
    ...(drawing.ticks ?? []).map(
      ({ timeMs, colour }) =>
        `<path d="M${round(left.x(timeMs))} ${bottom}v-10" stroke="${colour}" stroke-width="1.5"/>`,
    ),
    '</svg>',
    ...(drawing.marks ?? []).flatMap(({ timeMs, label, colour }) => mark(left.x(timeMs), label, colour, box)),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${escapeXml(summary)}">`,
    `<rect width="${width}" height="${height}" fill="${colours.background}"/>`,
    ...body,
    '</svg>',
  ].join('\n');
}

type Box = { readonly left: number; readonly top: number; readonly width: number; readonly height: number };

/** The extent of a value axis, and its ticks. */
function axisOf(lines: readonly DrawnLine[], isRight: boolean, height: number) {
  const extent = valueExtent(lines.filter((line) => (line.isRight ?? false) === isRight).map(({ line }) => line.value));
  const [min, max] = extent;
  const { ticks } = valueTicks({ min, max }, Math.max(2, Math.floor(height / 45)));
  return { extent, ticks: ticks.filter(({ value }) => value >= min && value <= max) };
}

type Ticks = ReturnType<typeof axisOf>['ticks'];

function valueAxis(ticks: Ticks, { y }: Frame, box: Box, colours: Drawing['colours'], isRight: boolean): string[] {
  const end = box.left + box.width;
  return ticks.flatMap(({ value, label }) => [
    isRight ? '' : `<path d="M${box.left} ${round(y(value))}H${end}" stroke="${colours.grid}" fill="none"/>`,
    text(isRight ? end + 8 : box.left - 8, y(value) + 4, label, colours.text, isRight ? 'start' : 'end'),
  ]);
}

function drawLine({ line, colour, isStepped, isDashed, isWide }: DrawnLine, frame: Frame): string {
  const own = isWide ? '6" stroke-opacity="0.4' : isDashed ? '1.6" stroke-dasharray="4 3' : '1.6';
  return (
    `<path d="${pathOf(line, frame, isStepped)}" stroke="${colour}" fill="none" ` +
    `stroke-linejoin="round" stroke-linecap="round" stroke-width="${own}"/>`
  );
}

function mark(x: number, label: string, colour: string, box: Box): string[] {
  if (!(x >= box.left && x <= box.left + box.width)) return [];
  const anchor = x > box.left + box.width / 2 ? 'end' : 'start';
  return [
    `<path d="M${round(x)} ${box.top}v${box.height}" stroke="${colour}" stroke-width="1.5" stroke-dasharray="3 3"/>`,
    text(x + (anchor === 'end' ? -6 : 6), box.top + 13, label, colour, anchor),
  ];
}

/** The names of the lines, side by side in as many rows as they need. */
function legendOf(lines: readonly DrawnLine[], width: number) {
  let [x, row] = [0, 0];
  return lines.map((line) => {
    const label = `${line.name}${line.isRight ? ' (right)' : ''}`;
    const room = 26 + label.length * LETTER_WIDTH;
    if (x > 0 && x + room > width) [x, row] = [0, row + 1];
    const placed = { line, label, x, row };
    x += room + 14;
    return placed;
  });
}

function drawName(
  { line, label, x, row }: ReturnType<typeof legendOf>[number],
  left: number,
  colour: string,
): readonly string[] {
  const y = 16 + ROW_HEIGHT * row;
  const dash = line.isDashed ? ' stroke-dasharray="4 3"' : '';
  return [
    `<path d="M${round(left + x)} ${y}h16" stroke="${line.colour}" stroke-width="2.5"${dash}/>`,
    text(left + x + 22, y + 4, label, colour, 'start'),
  ];
}

function text(x: number, y: number, content: string, colour: string, anchor: string): string {
  return `<text x="${round(x)}" y="${round(y)}" fill="${colour}" text-anchor="${anchor}">${escapeXml(content)}</text>`;
}

function round(length: number): number {
  return Math.round(length * 10) / 10;
}

/** The same picture as a PNG of twice the resolution. */
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('the browser made no picture')) : resolve(blob)),
      'image/png',
    ),
  );
}
