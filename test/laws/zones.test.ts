import fc from 'fast-check';
import { IANAZone } from 'luxon';
import { expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/calendar.js';
import { parseInterval } from '../../src/core/interval.js';
import { windowsOf } from '../../src/core/interval-windows.js';
import type { Windows } from '../../src/core/windows.js';
import { type Zone, zoneOf } from '../../src/core/zone.js';
import { windowsOf as oracleWindowsOf } from '../oracle/windows.js';

const FROM_MS = Date.UTC(1970, 0, 1);
const TO_MS = Date.UTC(2038, 0, 1);

const zones: readonly Zone[] = Intl.supportedValuesOf('timeZone').map((name) => zoneOf(name)!);
const intervals = ['Daily', 'Hourly', 'QuarterHourly', 'Weekly', 'Monthly'];

function windowsIn(interval: string, zone: Zone): Windows {
  return windowsOf(parseInterval(interval)!, zone);
}

/**
 * The instants at which the zone changes its offset, by the clock of Date: sampled every three days, then located to
 * the second. Intl, which the other tests ask, took fifteen times as long for the same instants.
 */
function transitionsOf({ name }: Zone): number[] {
  const before = process.env.TZ;
  process.env.TZ = name;
  try {
    return changesOfLocalTime();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

function changesOfLocalTime(): number[] {
  const date = new Date(0);
  const offsetAt = (timeMs: number): number => {
    date.setTime(timeMs);
    return date.getTimezoneOffset();
  };
  const found: number[] = [];
  let before = offsetAt(FROM_MS);
  for (let t = FROM_MS; t < TO_MS; t += 3 * DAY_MS) {
    const after = offsetAt(t + 3 * DAY_MS);
    if (after === before) continue;
    let [low, high] = [t, t + 3 * DAY_MS];
    while (high - low > 1000) {
      const middle = low + Math.floor((high - low) / 2000) * 1000;
      if (offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    found.push(high);
    before = after;
  }
  return found;
}

const transitions = new Map<Zone, readonly number[]>();
function knownTransitionsOf(zone: Zone): readonly number[] {
  const known = transitions.get(zone) ?? transitionsOf(zone);
  transitions.set(zone, known);
  return known;
}

/** What is wrong with the window around an instant, if anything. */
function faultAt(windows: Windows, timeMs: number): string | undefined {
  const start = windows.startOf(timeMs);
  const end = windows.next(start);
  if (!(start <= timeMs && timeMs < end)) return `${start}..${end} does not hold it`;
  if (windows.startOf(start) !== start) return `the start ${start} starts another window`;
  if (windows.startOf(end - 1) !== start) return `the last instant before ${end} lies in another window`;
  if (windows.startOf(end) !== end) return `the end ${end} starts no window`;
  if (windows.previous(end) !== start) return `the window before ${end} starts at ${windows.previous(end)}`;
  if (windows.next(windows.previous(start)) !== start) return `there is a gap before ${start}`;
  if (windows.step(start, 0) !== start) return `no step moves ${start}`;
  if (windows.step(start, 1) !== end || windows.step(end, -1) !== start) return `step disagrees with next at ${start}`;
  if (windows.step(windows.step(start, 3), -3) !== start) return `three steps there and back miss ${start}`;
  return undefined;
}

const HOUR_MS = 3_600_000;
const around = [-1, 0, -HOUR_MS, HOUR_MS, -DAY_MS, 23.5 * HOUR_MS];

test('windows of a zone tile time without gap or overlap at every transition of every IANA zone since 1970', () => {
  const faults: string[] = [];
  let transitionCount = 0;
  for (const zone of zones) {
    const tilings = intervals.map((interval) => ({
      interval,
      windows: windowsIn(interval, zone),
      isLong: /ek|nth/.test(interval),
    }));
    for (const transitionMs of knownTransitionsOf(zone)) {
      transitionCount++;
      for (const { interval, windows, isLong } of tilings) {
        // Longer windows have at most one border near a transition.
        for (const offMs of isLong ? [-1, 0] : around) {
          const fault = faultAt(windows, transitionMs + offMs);
          if (fault !== undefined) faults.push(`${zone.name} ${interval} ${transitionMs}${offMs}: ${fault}`);
        }
      }
    }
  }
  expect(faults).toEqual([]);
  expect(transitionCount).toBeGreaterThan(20_000);
});

/** Local time minus UTC, by Intl. */
function intlOffsetMs(format: Intl.DateTimeFormat, timeMs: number): number {
  const parts = Object.fromEntries(format.formatToParts(timeMs).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(timeMs / 1000) * 1000;
}

test('offsets are those of Intl, also around transitions', () => {
  const zone = fc.constantFrom(...zones);
  const formats = new Map<Zone, Intl.DateTimeFormat>();
  const formatOf = (one: Zone): Intl.DateTimeFormat => {
    const known = formats.get(one) ?? intlFormat(one.name);
    formats.set(one, known);
    return known;
  };
  const property = fc.property(zone, fc.integer({ min: FROM_MS, max: TO_MS - 1 }), fc.nat(), (one, timeMs, place) => {
    const known = knownTransitionsOf(one);
    const transitionMs = known[place % Math.max(1, known.length)] ?? timeMs;
    for (const t of [timeMs, transitionMs - 1, transitionMs, transitionMs + 1]) {
      expect(one.offsetMsAt(t)).toBe(intlOffsetMs(formatOf(one), t));
    }
  });
  fc.assert(property, { numRuns: 2500 });
});

function intlFormat(timeZone: string): Intl.DateTimeFormat {
  const [year, month, day] = ['numeric', 'numeric', 'numeric'] as const;
  const [hour, minute, second] = ['numeric', 'numeric', 'numeric'] as const;
  return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', year, month, day, hour, minute, second });
}

test('offsets around and between all transitions are those of luxon', () => {
  const faults: string[] = [];
  for (const zone of zones) {
    const luxon = IANAZone.create(zone.name);
    const atOf = (timeMs: number): number => Math.round(luxon.offset(timeMs) * 60_000);
    let lastMs = FROM_MS;
    for (const transitionMs of [...knownTransitionsOf(zone), TO_MS]) {
      for (const timeMs of [(lastMs + transitionMs) / 2, transitionMs - 1, transitionMs, transitionMs + 0.5]) {
        if (zone.offsetMsAt(timeMs) !== atOf(timeMs)) faults.push(`${zone.name} at ${timeMs}`);
      }
      lastMs = transitionMs;
    }
  }
  expect(faults).toEqual([]);
});

test('windows around a transition are those of the oracle', () => {
  const zone = fc.constantFrom(...zones.filter((one) => knownTransitionsOf(one).length > 0));
  const interval = fc.constantFrom(...intervals, 'PT8H', 'PT20M', 'Yearly');
  const offMs = fc.oneof(fc.constantFrom(...around), fc.integer({ min: -3 * DAY_MS, max: 3 * DAY_MS }));
  const property = fc.property(zone, interval, fc.nat(), offMs, (one, name, place, off) => {
    const known = knownTransitionsOf(one);
    const timeMs = known[place % known.length]! + off;
    const windows = windowsIn(name, one);
    const oracle = oracleWindowsOf(name, one.name);
    const start = windows.startOf(timeMs);
    const found = [start, windows.next(start), windows.previous(start)];
    expect(found).toEqual([oracle.borderAtOrBefore(timeMs), oracle.borderAfter(timeMs), oracle.borderBefore(start)]);
  });
  fc.assert(property, { numRuns: 1500 });
});
