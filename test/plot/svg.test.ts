import { describe, expect, it } from 'vitest';
import { drawSvg } from '../../src/plot/index.js';
import { expectWellFormed, linesOf, minutes, seriesOf } from './lines.js';

/** The paths of lines, without those of the legend. */
function curvesIn(svg: string): string[] {
  return [...svg.matchAll(/<path class="line" d="([^"]*)"/g)].map((match) => match[1] ?? '');
}

describe('SVG chart', () => {
  it('draws a small series as expected', () => {
    const svg = drawSvg(
      linesOf(
        seriesOf(
          'x',
          minutes(4, (i) => i * i),
        ),
      ),
      { title: 'Squares & <others>' },
    );
    expectWellFormed(svg);
    expect(svg).toMatchSnapshot();
  });

  it('breaks the line at a gap, and draws a lone sample as a dot', () => {
    const samples = minutes(400, (i) => i).filter((_, i) => i < 190 || i === 200 || i > 210);
    const svg = drawSvg(linesOf(seriesOf('x', samples)));
    expect(curvesIn(svg)[0]?.match(/M/g)).toHaveLength(2);
    expect(svg).toMatch(/<path class="dot" d="M[\d.]+ [\d.]+h0"\/>/);
  });

  it('marks samples with dots where there is room, so that samples can be told from lines between them', () => {
    const dotCount = (count: number): number => {
      const svg = drawSvg(
        linesOf(
          seriesOf(
            'x',
            minutes(count, (i) => i),
          ),
        ),
      );
      return svg.match(/h0/g)?.length ?? 0;
    };
    expect(dotCount(100)).toBe(100);
    expect(dotCount(120)).toBe(0);
  });

  it('draws each series of zeros and ones in a panel of its own, as one would hide the other', () => {
    const switched = (name: string, length: number) =>
      seriesOf(
        name,
        minutes(12, (i) => Math.floor(i / length) % 2),
      );
    const svg = drawSvg(linesOf(switched('fan', 2), switched('pump', 3)));
    expect(svg.match(/class="grid"/g)).toHaveLength(2);
  });

  it('draws zeros and ones as steps, in a panel of their own', () => {
    const svg = drawSvg(
      linesOf(
        seriesOf(
          'switch',
          minutes(9, (i) => Math.floor(i / 3) % 2),
        ),
        seriesOf(
          'heat',
          minutes(9, (i) => 20 + i),
        ),
      ),
    );
    const [steps = ''] = curvesIn(svg);
    const points = steps.slice(1).split(/[L ]/).map(Number);
    // Every stroke is horizontal or vertical.
    for (let at = 2; at < points.length; at += 2) {
      expect(points[at] === points[at - 2] || points[at + 1] === points[at - 1]).toBe(true);
    }
  });

  it('has at most seven lines in a panel, one to a colour, however different a hundred series are', () => {
    const many = Array.from({ length: 100 }, (_, k) =>
      seriesOf(
        `meter-${k}`,
        minutes(9, (i) => k * k + i),
      ),
    );
    const panels = drawSvg(linesOf(...many))
      .split('class="grid"')
      .slice(1);
    const counts = panels.map((panel) => curvesIn(panel).length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(100);
    expect(Math.max(...counts)).toBeLessThanOrEqual(7);
  });

  it('shares a panel only among similar values', () => {
    const panelCount = (svg: string): number => svg.match(/class="grid"/g)?.length ?? 0;
    const warm = seriesOf(
      'warm',
      minutes(9, (i) => 20 + i),
    );
    const warmer = seriesOf(
      'warmer',
      minutes(9, (i) => 22 + i),
    );
    const power = seriesOf(
      'power',
      minutes(9, (i) => 5000 + 100 * i),
    );
    expect(panelCount(drawSvg(linesOf(warm, warmer)))).toBe(1);
    expect(panelCount(drawSvg(linesOf(warm, power, warmer)))).toBe(2);
  });

  it('is small for many samples, and keeps the maximum and minimum', () => {
    const svg = drawSvg(
      linesOf(
        seriesOf(
          'x',
          minutes(300_000, (i) => (i === 123_456 ? 1000 : Math.sin(i))),
        ),
      ),
    );
    expect(svg.length).toBeLessThan(80_000);
    expect(svg).toContain('300,000 samples from −1 to 1,000');
    const heights = [...(curvesIn(svg)[0] ?? '').matchAll(/ ([\d.]+)(?=[ L]|$)/g)].map((match) => Number(match[1]));
    expect(Math.min(...heights)).toBeLessThan(80);
  });

  it('has a light and a dark style, and a description for screen readers', () => {
    const svg = drawSvg(
      linesOf(
        seriesOf(
          'x',
          minutes(4, (i) => i),
        ),
      ),
      { title: 'Heat', timezone: 'Europe/Berlin' },
    );
    expect(svg).toContain('@media(prefers-color-scheme:dark)');
    expect(svg).toContain('role="img" aria-label="Heat"');
    expect(svg).toContain(
      '<desc>1 Mar 2024 01:00 to 1 Mar 2024 01:03 (Europe/Berlin). a/x: 4 samples from 0 to 3.</desc>',
    );
  });

  it('draws one sample, equal samples, none, and names of any kind', () => {
    for (const samples of [minutes(1, () => 5), minutes(5, () => -7), [], minutes(3, (i) => (i - 1) * 1e300)]) {
      const svg = drawSvg(linesOf(seriesOf('<\u0007&"\ud83c\udf21>', samples)));
      expectWellFormed(svg);
      expect(svg).not.toMatch(/NaN|Infinity/);
      expect(svg).not.toContain('\u0007');
    }
    expect(drawSvg([])).toContain('no samples');
  });

  it('leaves out a time at the edge that would lie on the one before it', () => {
    const svg = drawSvg(
      linesOf(
        seriesOf(
          'x',
          minutes(1, () => 42),
        ),
      ),
    );
    const times = [...svg.matchAll(/<text class="time" x="([\d.]+)"[^>]*>([^<]+)</g)];
    expect(times.length).toBeGreaterThan(5);
    for (const [index, [, x, label = '']] of times.entries()) {
      const next = times[index + 1]?.[1];
      // A digit is about 6 pixels wide.
      if (next !== undefined) expect(Number(next) - Number(x), label).toBeGreaterThan(6 * label.length);
    }
  });

  it('cuts off no label: names are shortened in their middle, times at the edge move inwards', () => {
    const wide = '\u6e29\u5ea6';
    for (const name of [`plant/${'x'.repeat(300)}/outlet`, wide.repeat(80), 'short']) {
      const options = { title: name, timezone: 'America/Argentina/ComodRivadavia', width: 400 };
      const svg = drawSvg(
        linesOf(
          seriesOf(
            name,
            minutes(3 * 1440, (i) => i * 1e6),
          ),
        ),
        options,
      );
      for (const [, attributes = '', content = ''] of svg.matchAll(/<text([^>]*)>([^<]*)</g)) {
        const x = Number(/ x="([^"]*)"/.exec(attributes)?.[1]);
        const scale = attributes.includes('title') ? 16 / 12 : 1;
        const letters =
          Array.from(content).reduce((sum, letter) => sum + (wide.includes(letter) ? 12 : 6.9), 0) * scale;
        const left = /value|zone/.test(attributes) ? x - letters : attributes.includes('time') ? x - letters / 2 : x;
        expect(left, content).toBeGreaterThanOrEqual(0);
        expect(left + letters, content).toBeLessThanOrEqual(400);
      }
      expect(svg).toContain(`<title>a/${name}: `);
    }
  });
});
