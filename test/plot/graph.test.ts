import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlan, pipeline } from '../../src/index.js';
import { drawGraph } from '../../src/plot/graph.js';
import { type LayoutNode, layOut } from '../../src/plot/layers.js';
import { expectWellFormed } from './lines.js';

const nodesArbitrary: fc.Arbitrary<LayoutNode[]> = fc
  .array(fc.tuple(fc.integer({ min: 20, max: 90 }), fc.array(fc.nat(11), { maxLength: 3 })), {
    minLength: 1,
    maxLength: 12,
  })
  .map((nodes) =>
    nodes.map(([height, above], index) => ({ width: 100, height, above: above.filter((at) => at < index) })),
  );

describe('the layout of a graph', () => {
  it('has no overlapping nodes, and every node below those that lead to it', () => {
    fc.assert(
      fc.property(nodesArbitrary, (nodes) => {
        const { nodes: placed, width, height } = layOut(nodes, 10);
        for (const [i, a] of placed.entries()) {
          expect(a.x >= 10 && a.y >= 10 && a.x + 110 <= width && a.y + nodes[i]!.height + 10 <= height).toBe(true);
          for (const at of nodes[i]!.above) expect(placed[at]!.y + nodes[at]!.height).toBeLessThan(a.y);
          for (const [j, b] of placed.entries()) {
            if (j <= i) continue;
            const isBeside = a.x + 100 <= b.x || b.x + 100 <= a.x;
            expect(isBeside || a.y + nodes[i]!.height <= b.y || b.y + nodes[j]!.height <= a.y).toBe(true);
          }
        }
      }),
    );
  });

  it('has at most five nodes side by side', () => {
    fc.assert(
      fc.property(nodesArbitrary, (nodes) => {
        const tops = layOut(nodes, 10).nodes.map(({ y }) => y);
        for (const top of tops) expect(tops.filter((y) => y === top).length).toBeLessThanOrEqual(5);
      }),
    );
  });

  it('keeps a node that nothing leads to near the node below it', () => {
    // Twenty-five pairs: five of them side by side, then the next five.
    const pairs = Array.from({ length: 50 }, (_, i) => ({ width: 100, height: 40, above: i < 25 ? [] : [i - 25] }));
    const { nodes, edges, width } = layOut(pairs, 10);
    expect(width).toBe(5 * 100 + 4 * 24 + 2 * 10);
    for (let i = 0; i < 25; i++) expect(nodes[i + 25]!.y - nodes[i]!.y).toBe(nodes[25]!.y - nodes[0]!.y);
    for (const way of edges) expect(way.length).toBe(2);
  });

  it('routes every edge from node to node, and through no other', () => {
    fc.assert(
      fc.property(nodesArbitrary, (nodes) => {
        const { nodes: placed, edges } = layOut(nodes, 10);
        const wanted = nodes.flatMap(({ above }, to) => [...new Set(above)].map((from) => [from, to] as const));
        expect(edges.length).toBe(wanted.length);
        for (const [index, way] of edges.entries()) {
          const [from, to] = wanted[index]!;
          expect(way[0]!.y).toBe(placed[from]!.y + nodes[from]!.height);
          expect(way.at(-1)!.y).toBe(placed[to]!.y);
          for (const { x, y } of way) {
            const over = placed.some(
              (node, at) => x > node.x && x < node.x + 100 && y > node.y && y < node.y + nodes[at]!.height,
            );
            expect(over).toBe(false);
          }
        }
      }),
    );
  });
});

describe('the picture of a plan', () => {
  it('names the series read, each step with its window or look-back, and the results', () => {
    const spread = pipeline('supply').sub(
      { timeseriesId: 'return', metric: 'Raw' },
      { align: 'asof', maxhold: 'PT30M' },
    );
    const hourly = spread
      .aggregate({ function: 'Average', interval: 'Hourly' })
      .as('Hourly', { processingType: 'stream' });
    const svg = drawGraph(createPlan([hourly]));
    expectWellFormed(svg);
    const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
    for (const text of ['supply/Raw', 'return/Raw', 'Sub', 'Aggregate', 'the average of each Hourly window'])
      expect(texts).toContain(text);
    expect(texts.join(' ')).toContain('uses the last sample at or before, up to PT30M old');
    expect(texts.join(' ')).toContain('uses the samples of its window, at most PT1H');
    expect(texts).toContain('result Hourly, as stream');
    expect(svg.match(/class="edge"/g)).toHaveLength(3);
  });

  it('shortens a long name in its middle, and keeps it whole for screen readers', () => {
    const id = `plant/${'very-'.repeat(20)}long`;
    const svg = drawGraph(createPlan([pipeline(id).abs().as('Abs')]));
    expect(svg).toMatch(/>plant\/very[^<]*\u2026[^<]*long\/Raw</);
    expect(svg).toMatch(new RegExp(`<desc>[^<]*${id}/Raw`));
  });

  it('keeps every text within its box, in the font of a PNG, which knows its weight', async () => {
    const { Resvg } = await import('@resvg/resvg-js');
    const names = [
      'W'.repeat(60),
      'AHU-17 SUPPLY TEMPERATURE AFTER HEATING COIL',
      'm²_'.repeat(30),
      '20240131'.repeat(9),
    ];
    for (const name of names) {
      const svg = drawGraph(createPlan([pipeline(name).abs().as(name)]));
      const [head = ''] = svg.split('<rect');
      const widthOf = (text: string): number => new Resvg(`${head}${text}</svg>`).innerBBox()?.width ?? 0;
      const texts = [...svg.matchAll(/<text[^>]*>[^<]*<\/text>/g)].map(([text]) => text);
      expect(texts).toHaveLength(7);
      for (const text of texts) expect(widthOf(text), text).toBeLessThanOrEqual(330 - 12);
      const [bold = ''] = texts;
      expect(widthOf(bold)).toBeGreaterThan(widthOf(bold.replace('strong', 'faint')));
    }
  });

  it('shortens bold text more, as its letters are wider', () => {
    const svg = drawGraph(createPlan([pipeline('n'.repeat(200)).abs().as('n'.repeat(100))]));
    const longest = (texts: RegExp) => Math.max(...[...svg.matchAll(texts)].map(([, text = '']) => text.length));
    const plain = longest(/<text x[^>]*>([^<]*\u2026[^<]*)</g);
    expect(longest(/<text class="strong"[^>]*>([^<]*\u2026[^<]*)</g)).toBeLessThan(0.9 * plain);
  });
});
