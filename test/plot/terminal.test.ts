import { describe, expect, it } from 'vitest';
import { drawTerminal } from '../../src/plot/index.js';
import { linesOf, minutes, seriesOf } from './lines.js';

describe('terminal chart', () => {
  const wave = seriesOf(
    'wave',
    minutes(121, (i) => 20 + 5 * Math.sin(i / 10)).filter((_, i) => i < 60 || i > 80),
  );

  it('draws dots, ticks and times, and leaves gaps open', () => {
    expect(drawTerminal(linesOf(wave), { columns: 60, rows: 6 })).toMatchSnapshot();
  });

  it('can use ASCII characters only', () => {
    const text = drawTerminal(
      linesOf(
        wave,
        seriesOf(
          'low',
          minutes(121, (i) => i / 10 - 20),
        ),
      ),
      { columns: 60, rows: 6, isUnicode: false },
    );
    expect(text).toMatchSnapshot();
    expect(text).toMatch(/^[\n -~]*$/);
  });

  it('draws each line in its colour', () => {
    const other = seriesOf(
      'other',
      minutes(121, (i) => 18 + i / 20),
    );
    const paint = (text: string, index: number): string => (text.trim() === '' ? text : `<${index}${text}>`);
    const text = drawTerminal(linesOf(wave, other), { columns: 40, rows: 4, paint });
    expect(text).toContain('<0\u2501\u2501 a/wave>   <1\u2501\u2501 a/other>');
    expect(text).toMatch(/<0[\u2800-\u28ff]+>/);
    expect(text).toMatch(/<1[\u2800-\u28ff]+>/);
  });

  it('distinguishes lines without colours: by panels or, in ASCII, by characters', () => {
    const others = Array.from({ length: 9 }, (_, index) =>
      seriesOf(
        `other${index}`,
        minutes(121, (i) => 18 + index / 10 + i / 20),
      ),
    );
    const lines = linesOf(wave, ...others);
    const plain = drawTerminal(lines, { columns: 60, rows: 4 });
    expect(plain.match(/^ {2}\u2501\u2501 a\/\w+$/gm)).toHaveLength(10);
    const ascii = drawTerminal(lines, { columns: 60, rows: 4, isUnicode: false });
    for (const [legend] of ascii.matchAll(/^ {2}\S a\/.*$/gm)) {
      const signs = legend
        .trim()
        .split(/ {3}/)
        .map((entry) => entry[0]);
      expect(new Set(signs).size).toBe(signs.length);
    }
  });

  it('keeps to the width, even a narrow one', () => {
    for (const columns of [30, 80, 200]) {
      const lines = drawTerminal(linesOf(wave), { columns }).split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    }
  });

  it('says so if there is nothing to draw', () => {
    expect(drawTerminal([], { columns: 80 })).toBe('no samples\n');
  });
});
