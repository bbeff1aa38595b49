import { seriesName } from '../core/series.js';
import { describeReach, describeStep } from '../plan/explain.js';
import type { Plan } from '../plan/plan.js';
import { fitted, pixel, text, textWidth, wrapSvg } from './drawing.js';
import { type LayoutNode, layOut, type Placed } from './layers.js';
import { graphStyle } from './style.js';

const BOX_WIDTH = 330;
const PADDING = 12;
const LINE_HEIGHT = 17;
/** The width of bold letters relative to others. */
const BOLD_SCALE = 1.2;
const MARGIN = 16;

/** A line of text in a box. */
interface BoxLine {
  readonly className: string;
  readonly text: string;
}

interface Box extends LayoutNode {
  readonly className: string;
  readonly lines: readonly BoxLine[];
}

/** Draws a plan: its sources at the top, and each step below its inputs, with the samples that it uses. */
export function drawGraph(plan: Plan): string {
  const boxes = [...sourceBoxes(plan), ...stepBoxes(plan)];
  const { nodes, edges, width, height } = layOut(boxes, MARGIN);
  const body = [
    ...edges.map((points) => `<path class="edge" d="${curve(points)}"/>`),
    ...nodes.map((placed, index) => drawBox(boxes[index]!, placed)),
  ];
  const results = plan.items.map(({ output }) => seriesName(output)).join(', ');
  const steps = boxes.map(({ lines }) => lines.map((line) => line.text).join(', ')).join('; ');
  return wrapSvg(body, { width, height, label: `Pipeline of ${results}`, summary: steps, style: graphStyle() });
}

function sourceBoxes(plan: Plan): Box[] {
  return plan.sources.map((source) =>
    boxOf(
      'source',
      [],
      [
        { className: 'strong', text: seriesName(source) },
        { className: 'faint', text: 'is read' },
      ],
    ),
  );
}

function stepBoxes(plan: Plan): Box[] {
  return plan.steps.map(({ operation, inputs, output }, index) => {
    const { does, reads } = describeStep(plan, index);
    const published = plan.items.filter((item) => item.step === index);
    const results = published.map(({ processingType, output: { metric }, frequency }) => {
      const often = frequency === undefined ? '' : `, every ${frequency}`;
      return `result ${metric}, as ${processingType}${often}`;
    });
    const lines = [
      { className: 'strong', text: operation },
      ...wrapped(does).map((line) => ({ className: '', text: line })),
      ...wrapped(`uses ${describeReach(reads)}`).map((line) => ({ className: 'faint', text: line })),
      { className: '', text: `gives ${seriesName(output)}` },
      ...results.map((line) => ({ className: 'strong', text: line })),
    ];
    const above = inputs.map(({ from, index: at }) => (from === 'source' ? at : plan.sources.length + at));
    return boxOf(published.length > 0 ? 'result' : 'step', above, lines);
  });
}

function boxOf(className: string, above: readonly number[], lines: readonly BoxLine[]): Box {
  return { className, above, lines, width: BOX_WIDTH, height: 2 * PADDING + lines.length * LINE_HEIGHT - 4 };
}

// Breaks a text into lines that fit into a box.
function wrapped(content: string): string[] {
  const lines: string[] = [];
  for (const word of content.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`.trim();
    if (lines.length > 0 && textWidth(longer) <= BOX_WIDTH - 2 * PADDING) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function drawBox({ className, lines, width, height }: Box, { x, y }: Placed): string {
  const place = `x="${pixel(x)}" y="${pixel(y)}" width="${width}" height="${height}"`;
  const texts = lines.map((line, index) => {
    const top = y + PADDING + 10 + index * LINE_HEIGHT;
    const letters = line.className === 'strong' ? BOLD_SCALE : 1;
    return text(line.className, x + PADDING, top, fitted(line.text, (width - 2 * PADDING) / letters));
  });
  return `<g><rect class="box ${className}" ${place} rx="7"/>${texts.join('')}</g>`;
}

function curve(points: readonly Placed[]): string {
  const [first, ...rest] = points;
  let from = first!;
  const parts = [`M${pixel(from.x)} ${pixel(from.y)}`];
  for (const to of rest) {
    const middle = pixel((from.y + to.y) / 2);
    parts.push(`C${pixel(from.x)} ${middle} ${pixel(to.x)} ${middle} ${pixel(to.x)} ${pixel(to.y)}`);
    from = to;
  }
  return parts.join('');
}
