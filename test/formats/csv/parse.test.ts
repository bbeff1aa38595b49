import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { zoneOf } from '../../../src/core/zone.js';
import { parseNumber } from '../../../src/formats/csv/read/number.js';
import { createClock, parseTime } from '../../../src/formats/csv/read/time.js';
import { readNumber, readTime } from '../../../src/formats/table/read-text.js';
import { numberText, timeText } from './texts.js';

const COMMA = 0x2c;
const padded = (text: string, end: string) => new TextEncoder().encode(`${text}${end}${'\n'.repeat(32)}`);
const ends = fc.constantFrom(',', '\n', '\r\n');

describe('the fast parsers', () => {
  test('give numbers the bits of the general path', () => {
    const out = new Float64Array(1);
    let parsed = 0;
    const check = (text: string, end: string): void => {
      const bytes = padded(text, end);
      if (parseNumber(bytes, 0, COMMA, out, 0) !== text.length) return;
      parsed++;
      expect(Object.is(out[0], readNumber(text)), `${text}: ${out[0]}, but ${readNumber(text)}`).toBe(true);
    };
    fc.assert(fc.property(numberText, ends, check), { numRuns: 50_000 });
    expect(parsed).toBeGreaterThan(10_000);
  });

  test('give times the bits of the general path, in every zone', () => {
    const zones = [undefined, zoneOf('Europe/Berlin'), zoneOf('Africa/Monrovia'), zoneOf('Pacific/Apia')];
    const clocks = zones.map((zone) => createClock(zone));
    const out = new Float64Array(1);
    let parsed = 0;
    const check = (text: string, end: string, index: number): void => {
      const bytes = padded(text, end);
      const clock = clocks[index]!;
      if (parseTime(bytes, new DataView(bytes.buffer), 0, clock, out, 0) !== text.length) return;
      parsed++;
      expect([text, readTime(text, clock.zone)]).toEqual([text, { timeMs: out[0] }]);
    };
    fc.assert(fc.property(timeText, ends, fc.nat(3), check), { numRuns: 60_000 });
    expect(parsed).toBeGreaterThan(10_000);
  });

  test('parse every second of a day and every hour around a clock change as the general path does', () => {
    const zone = zoneOf('Europe/Berlin');
    const clock = createClock(zone);
    const out = new Float64Array(1);
    const texts = Array.from({ length: 86_400 }, (_, second) => new Date(second * 1000).toISOString().slice(0, 19));
    for (let hour = -72; hour < 72; hour++) {
      texts.push(new Date(Date.UTC(2024, 2, 31, hour)).toISOString().slice(0, 19));
      texts.push(new Date(Date.UTC(2024, 9, 27, hour)).toISOString().slice(0, 19));
    }
    for (const text of texts) {
      const bytes = padded(text, ',');
      const isParsed = parseTime(bytes, new DataView(bytes.buffer), 0, clock, out, 0) === 19;
      const reading = readTime(text, zone);
      if (isParsed && !('timeMs' in reading && reading.timeMs === out[0])) expect.fail(text);
      if (!isParsed && !/^2024-(03-(29|3)|04-0|10-2)/.test(text)) expect.fail(`${text} is refused`);
    }
  });
});
