import fc from 'fast-check';
import { IANAZone } from 'luxon';
import { expect, test } from 'vitest';
import { TIME_MS_END, TIME_MS_MIN } from '../../src/core/series.js';
import { type Zone, zoneOf } from '../../src/core/zone.js';

// luxon, which nobody here wrote, is the oracle.

const names = Intl.supportedValuesOf('timeZone');
const FROM_MS = Date.UTC(1970, 0, 1);
const TO_MS = Date.UTC(2038, 0, 1);
const STEP_MS = 3 * 86_400_000;

function offsetMsByLuxon(zone: IANAZone, timeMs: number): number {
  return Math.round(zone.offset(timeMs) * 60_000);
}

/** The seconds at which a zone changes its offset. That none is missed is a law of `test/laws/zones.test.ts`. */
function transitionsOf({ offsetMsAt }: Zone): number[] {
  const found: number[] = [];
  for (let t = FROM_MS; t < TO_MS; t += STEP_MS) {
    const before = offsetMsAt(t);
    if (offsetMsAt(t + STEP_MS) === before) continue;
    let [low, high] = [t, t + STEP_MS];
    while (high - low > 1000) {
      const middle = low + Math.floor((high - low) / 2000) * 1000;
      if (offsetMsAt(middle) === before) low = middle;
      else high = middle;
    }
    found.push(high);
  }
  return found;
}

test('the offset around and between all transitions of every IANA zone from 1970 to 2037 is that of luxon', () => {
  const faults: string[] = [];
  let transitionCount = 0;
  for (const name of names) {
    const [zone, oracle] = [zoneOf(name)!, IANAZone.create(name)];
    let lastMs = FROM_MS;
    for (const transitionMs of [...transitionsOf(zone), TO_MS]) {
      transitionCount++;
      for (const timeMs of [(lastMs + transitionMs) / 2, transitionMs - 1, transitionMs, transitionMs + 0.5]) {
        if (zone.offsetMsAt(timeMs) !== offsetMsByLuxon(oracle, timeMs)) faults.push(`${name} at ${timeMs}`);
      }
      lastMs = transitionMs;
    }
  }
  expect(faults).toEqual([]);
  expect(transitionCount).toBeGreaterThan(20_000);
});

test('so it is at any instant of the years 0001 to 9999', () => {
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

test('what luxon takes for a zone is one, and nothing else', () => {
  const strange = fc.string({ maxLength: 12, unit: fc.constantFrom(...'Europe/Berlin UTC+1:0-_') });
  const property = fc.property(fc.oneof(fc.constantFrom(...names), strange), (name) => {
    expect(zoneOf(name) !== undefined).toBe(/^[A-Za-z]/.test(name) && IANAZone.isValidZone(name));
  });
  fc.assert(property, { numRuns: 3000 });
});
