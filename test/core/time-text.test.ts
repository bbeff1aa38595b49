import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dateOfDay, dayOfDate, daysInMonth } from '../../src/core/calendar.js';
import { formatDuration, parseDuration } from '../../src/core/duration.js';
import { parseInstant } from '../../src/core/instant.js';
import { formatInterval, parseInterval } from '../../src/core/interval.js';
import { zoneOf } from '../../src/core/zone.js';
import { zoneNames } from '../laws/samples.js';
import { parseDuration as oracleDuration, parseInstant as oracleInstant } from '../oracle/index.js';

/** What the oracle parses, or undefined if it throws. */
function orNothing(read: () => number): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const digits = (min: number, max: number) => fc.integer({ min, max }).map((x) => String(x).padStart(2, '0'));
const year = fc
  .oneof(fc.integer({ min: 1, max: 9999 }), fc.constantFrom(0, 1970, 2024))
  .map((x) => String(x).padStart(4, '0'));
const offset = fc.oneof(
  fc.constantFrom('', 'Z', '+00:00', '-23:59', '+24:00', '+05:60', 'z', '+5', '+05:30:00'),
  fc
    .tuple(fc.constantFrom('+', '-'), digits(0, 23), fc.constantFrom('', ':'), fc.oneof(digits(0, 59), fc.constant('')))
    .map((parts) => parts.join('')),
);
const instantText = fc
  .tuple(
    year,
    digits(0, 13),
    digits(0, 32),
    fc.constantFrom('T', ' ', 't', ''),
    digits(0, 24),
    digits(0, 60),
    fc.option(digits(0, 60)),
    fc.oneof(
      fc.constant(''),
      fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 20 }).map((text) => `.${text}`),
    ),
    offset,
  )
  .map(([y, m, d, separator, hour, minute, second, fraction, zone]) => {
    const time =
      separator === '' ? '' : `${separator}${hour}:${minute}${second === null ? '' : `:${second}${fraction}`}${zone}`;
    return `${y}-${m}-${d}${time}`;
  });

// The end of a day, and times just after it.
const dayEndText = fc
  .tuple(
    digits(1, 12),
    digits(1, 31),
    fc.constantFrom('24:00', '24:00:00', '24:00:00.000', '24:00:00.001', '24:01', '24:00:01', '25:00'),
    offset,
  )
  .map(([month, day, clock, zone]) => `2024-${month}-${day}T${clock}${zone}`);

test('24:00 is the end of its day: the midnight after it, or the first instant after one that clocks skip', () => {
  expect(parseInstant('2024-12-31T24:00')).toBe(parseInstant('2025-01-01'));
  expect(parseInstant('2024-02-28 24:00:00+01')).toBe(parseInstant('2024-02-29T00:00+01'));
  const beirut = zoneOf('Asia/Beirut');
  expect(parseInstant('2024-03-31T00:00', beirut)).toBeUndefined();
  expect(parseInstant('2024-03-30T24:00', beirut)).toBe(parseInstant('2024-03-31T01:00', beirut));
});

test('a year is in range by its instant, not by its spelling', () => {
  expect(parseInstant('0000-12-31T00:01-23:59')).toBe(dayOfDate(1, 1, 1) * 86_400_000);
  expect(parseInstant('0000-12-31T23:59:59Z')).toBeUndefined();
  expect(parseInstant('9999-12-31T23:59:59-01:00')).toBeUndefined();
});

test('instants parse as in the oracle, in UTC and in zones', () => {
  const zone = fc.option(fc.constantFrom(...zoneNames), { nil: undefined });
  const property = fc.property(fc.oneof(instantText, dayEndText, fc.string()), zone, (text, name) => {
    const known = name === undefined ? undefined : zoneOf(name);
    expect(parseInstant(text, known)).toBe(orNothing(() => oracleInstant(text, name)));
  });
  fc.assert(property, { numRuns: 5000 });
});

const amount = fc.oneof(
  fc.nat(99).map(String),
  fc.constantFrom('0', '007', '1.5', '.5', '1.', '0.1', '12345678901234567890', '1e3', '-1'),
);
const durationText = fc
  .tuple(
    fc.subarray(['W', 'D', 'T', 'H', 'M', 'S', 'Y']),
    fc.array(amount, { minLength: 7, maxLength: 7 }),
    fc.constantFrom('P', 'P', 'P', 'p', ''),
  )
  .map(([parts, amounts, lead]) => lead + parts.map((part, at) => (part === 'T' ? 'T' : amounts[at] + part)).join(''));

test('durations parse as in the oracle', () => {
  const property = fc.property(fc.oneof(durationText, fc.string()), (text) => {
    expect(parseDuration(text)).toBe(orNothing(() => oracleDuration(text)));
  });
  fc.assert(property, { numRuns: 5000 });
});

test('a duration beyond the range of a double is refused', () => {
  const digits = '9'.repeat(400);
  for (const text of [`P${digits}D`, `P${digits}DT0.5S`, `PT${digits}.5S`]) expect(parseDuration(text)).toBeUndefined();
});

test('a formatted duration parses back to the same length', () => {
  const length = fc.oneof(
    fc.nat(10_000_000_000),
    fc.nat(100_000).map((x) => x * 900_000),
    fc.nat(1_000_000).map((x) => x / 1000),
  );
  fc.assert(
    fc.property(length, (ms) => Math.abs(parseDuration(formatDuration(ms))! - ms) <= ms * 2 ** -40),
    { numRuns: 3000 },
  );
  fc.assert(
    fc.property(fc.nat(10_000_000_000), (ms) => parseDuration(formatDuration(ms)) === ms),
    { numRuns: 3000 },
  );
});

test('an interval has one text, which parses back to the interval', () => {
  const text = fc.oneof(
    durationText,
    fc.constantFrom('hourly', 'DAILY', 'weekly', 'P1M', 'P1Y', 'P1W', 'PT1H', 'PT24H', 'P1D', 'PT30M'),
  );
  const property = fc.property(text, (given) => {
    const interval = parseInterval(given);
    fc.pre(interval !== undefined && (interval.kind === 'calendar' || Number.isInteger(interval.lengthMs)));
    fc.pre(interval.kind === 'calendar' || interval.lengthMs < 2 ** 50);
    expect(parseInterval(formatInterval(interval))).toEqual(interval);
  });
  fc.assert(property, { numRuns: 3000 });
});

test('the calendar agrees with Date', () => {
  const property = fc.property(
    fc.integer({ min: -719_162, max: 2_932_896 }),
    fc.integer({ min: -30, max: 30 }),
    (dayNumber, months) => {
      const date = new Date(dayNumber * 86_400_000);
      const [y, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
      expect(dateOfDay(dayNumber)).toEqual({ year: y, month, day });
      expect(dayOfDate(y, month, day)).toBe(dayNumber);
      expect(dayOfDate(y, month + months, 1)).toBe(new Date(0).setUTCFullYear(y, month - 1 + months, 1) / 86_400_000);
      expect(daysInMonth(y, month)).toBe(new Date(new Date(0).setUTCFullYear(y, month, 0)).getUTCDate());
    },
  );
  fc.assert(property, { numRuns: 5000 });
});
