import fc from 'fast-check';
import { IANAZone } from 'luxon';
import { expect, test } from 'vitest';
import { TIME_MS_END, TIME_MS_MIN } from '../../src/core/series.js';
import { zoneOf } from '../../src/core/zone.js';

// luxon is the independent oracle; test/laws/zones.test.ts looks at the transitions.

const names = Intl.supportedValuesOf('timeZone');
function offsetMsByLuxon(zone: IANAZone, timeMs: number): number {
  return Math.round(zone.offset(timeMs) * 60_000);
}

test('offsets of the years 0001 to 9999 are those of luxon', () => {
  const instants = fc.oneof(
    fc.integer({ min: TIME_MS_MIN, max: TIME_MS_END - 1 }),
    fc.integer({ min: -2_500_000_000_000, max: 2_500_000_000_000 }),
    fc.constantFrom(TIME_MS_MIN, TIME_MS_MIN + 1, TIME_MS_END - 1),
  );
  const property = fc.property(fc.constantFrom(...names, 'EST5EDT', 'Etc/GMT-14', 'gmt'), instants, (name, timeMs) => {
    expect(zoneOf(name)!.offsetMsAt(timeMs)).toBe(offsetMsByLuxon(IANAZone.create(name), timeMs));
  });
  fc.assert(property, { numRuns: 3000 });
});

test('the zones that luxon knows are known, and no others', () => {
  const strange = fc.string({ maxLength: 12, unit: fc.constantFrom(...'Europe/Berlin UTC+1:0-_') });
  const property = fc.property(fc.oneof(fc.constantFrom(...names), strange), (name) => {
    expect(zoneOf(name) !== undefined).toBe(/^[A-Za-z]/.test(name) && IANAZone.isValidZone(name));
  });
  fc.assert(property, { numRuns: 3000 });
});
