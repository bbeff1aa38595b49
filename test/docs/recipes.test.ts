import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import { planEvery, runEvery } from '../../src/engine/every/index.js';
import { readCsv, writeCsv } from '../../src/formats/csv/index.js';
import type { Series } from '../../src/index.js';
import { codeBlocks } from './markdown.js';

// Runs each recipe as the page shows it, and compares the result with a calculation that does not use the engine.

const root = fileURLToPath(new URL('../../', import.meta.url));
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Samples = readonly (readonly [timeMs: number, value: number])[];
type Results = readonly (readonly [number, number])[];

const samplesOf = ({ timeMs, value }: Pick<Series, 'timeMs' | 'value'>): Samples =>
  [...timeMs].flatMap((t, i) => (Number.isNaN(value[i]) ? [] : [[t, value[i]!] as const]));
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length;
const dayOf = (t: number): number => Math.floor(t / DAY) * DAY;
const monthOf = (t: number): number => Date.UTC(new Date(t).getUTCFullYear(), new Date(t).getUTCMonth());

function grouped(samples: Samples, keyOf: (t: number) => number): [number, number[]][] {
  const groups = new Map<number, number[]>();
  for (const [t, x] of samples) groups.set(keyOf(t), [...(groups.get(keyOf(t)) ?? []), x]);
  return [...groups];
}

/** The hours that values in a range were held, each for an hour at most, grouped by `keyOf`. */
function heldHours(samples: Samples, keyOf: (t: number) => number, isIn: (x: number) => boolean): Results {
  const hours = new Map(samples.map(([t]) => [keyOf(t), 0]));
  for (const [i, [t, x]] of samples.entries()) {
    if (!isIn(x)) continue;
    const end = Math.min(samples[i + 1]?.[0] ?? t + HOUR, t + HOUR);
    // In steps of a minute; this data does not change within one.
    for (let at = t; at < end; at += HOUR / 60) {
      const key = keyOf(at);
      hours.set(key, (hours.get(key) ?? 0) + 1 / 60);
    }
  }
  return [...hours].sort(([a], [b]) => a - b);
}

function percentile95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = 0.95 * (sorted.length - 1);
  const low = sorted[Math.floor(rank)]!;
  return low + (sorted[Math.ceil(rank)]! - low) * (rank - Math.floor(rank));
}

/** Supply minus the latest return that is not older than an hour. */
function spread([supply, back]: readonly Samples[]): Samples {
  return supply!.flatMap(([t, x]) => {
    const last = back!.filter(([u]) => u <= t).at(-1);
    return last === undefined || t - last[0] > HOUR ? [] : [[t, x - last[1]] as const];
  });
}

const newYork = (t: number): DateTime => DateTime.fromMillis(t, { zone: 'America/New_York' });

const expected: Readonly<Record<string, (inputs: readonly Samples[]) => Results>> = {
  'Comfort hours': ([office]) => heldHours(office!, monthOf, (x) => x >= 68 && x <= 75),
  'Degree days': ([office]) => grouped(office!, dayOf).map(([t, own]) => [t, Math.max(0, mean(own) - 70)]),
  'Peak demand': ([taxi]) => grouped(taxi!, monthOf).map(([t, own]) => [t, Math.max(...own)]),
  'Alarm with hysteresis': ([office]) => {
    let isOn = false;
    return office!.map(([t, x]) => {
      isOn = isOn ? x > 73 : x >= 75;
      return [t, Number(isOn)];
    });
  },
  // The rides themselves; the first reading is where the counter starts.
  'Meter that rolls over': ([taxi]) =>
    grouped(taxi!, dayOf).map(([t, own], day) => [t, sum(own) - (day === 0 ? own[0]! : 0)]),
  'Energy from power': (inputs) => {
    const power = spread(inputs).map(([t, x]) => [t, x * 0.35] as const);
    const days = new Map<number, number>();
    for (const [i, [t, x]] of power.entries()) {
      const end = Math.min(power[i + 1]?.[0] ?? dayOf(t) + DAY, t + HOUR);
      // Samples are on quarters of an hour, so steps of a minute divide a hold at midnight exactly.
      for (let at = t; at < end; at += 60_000) days.set(dayOf(at), (days.get(dayOf(at)) ?? 0) + x / 60);
    }
    return [...days];
  },
  'Occupied hours': ([office]) => {
    const isAtWork = (t: number): boolean => newYork(t).weekday <= 5 && newYork(t).hour >= 8 && newYork(t).hour < 18;
    const atWork = office!.filter(([t]) => isAtWork(t));
    return grouped(atWork, (t) => newYork(t).startOf('day').toMillis()).map(([t, own]) => [t, mean(own)]);
  },
  'Last week compared': ([taxi]) => {
    const at = new Map(taxi);
    return taxi!.flatMap(([t, x]) => (at.has(t - 7 * DAY) ? [[t, x - at.get(t - 7 * DAY)!] as const] : []));
  },
  'Short gaps only': ([office]) =>
    office!.flatMap(([t, x], i) => {
      const [next, y] = office![i + 1] ?? [t, x];
      const lacking = next - t <= 6 * HOUR ? Math.max(0, Math.round((next - t) / HOUR) - 1) : 0;
      const line = Array.from({ length: lacking }, (_, k) => {
        return [t + (k + 1) * HOUR, x + ((y - x) * ((k + 1) * HOUR)) / (next - t)] as const;
      });
      return [[t, x] as const, ...line];
    }),
  'Good quality only': ([flow, quality]) => {
    const at = new Map(quality);
    const hours = grouped(flow!, (t) => Math.floor(t / HOUR) * HOUR).map(([hour]) => {
      // The samples are a quarter of an hour apart, for which each counts.
      const own = flow!.filter(([t]) => t >= hour && t < hour + HOUR && at.get(t)! >= 192);
      return [hour, own.map(([, x]) => x)] as const;
    });
    return hours.filter(([, own]) => own.length > 0).map(([t, own]) => [t, mean(own)]);
  },
  'Sensors that disagree': (inputs) => spread(inputs).map(([t, x]) => [t, Number(Math.abs(x) < 3)]),
  'Unit conversion': ([office]) => office!.map(([t, x]) => [t, Math.round(((x - 32) * 500) / 9) / 100]),
  'Daily percentiles': ([office]) => grouped(office!, dayOf).map(([t, own]) => [t, percentile95(own)]),
  'Rolling mean': ([office]) =>
    office!.map(([t], i) => {
      const last = office!.slice(Math.max(0, i - 24), i + 1).filter(([u]) => u > t - DAY);
      return [t, mean(last.map(([, x]) => x))];
    }),
  'Duty cycle': ([office]) => heldHours(office!, dayOf, (x) => x >= 72).map(([t, hours]) => [t, hours / 24]),
  Coverage: ([office]) => heldHours(office!, dayOf, () => true).map(([t, hours]) => [t, hours / 24]),
  'Points for a chart': ([office]) => lttb(office!),
};

/** Largest triangle three buckets, with weeks since 1970-01-01 as buckets (Steinarsson, 2013). */
function lttb(samples: Samples): Results {
  const inner = samples.slice(1, -1);
  const buckets: Samples[] = [];
  for (const sample of inner) {
    const week = Math.floor(sample[0] / (7 * DAY));
    const last = buckets.at(-1);
    if (last !== undefined && Math.floor(last[0]![0] / (7 * DAY)) === week)
      buckets[buckets.length - 1] = [...last, sample];
    else buckets.push([sample]);
  }
  const kept = [samples[0]!];
  for (const [index, bucket] of buckets.entries()) {
    const next = buckets[index + 1] ?? [samples.at(-1)!];
    const [nextT, nextX] = [mean(next.map(([t]) => t)), mean(next.map(([, x]) => x))];
    const [t, x] = kept.at(-1)!;
    const area = ([u, y]: readonly [number, number]): number => Math.abs((t - nextT) * (y - x) - (t - u) * (nextX - x));
    kept.push(bucket.reduce((best, one) => (area(one) > area(best) ? one : best)));
  }
  return [...kept, samples.at(-1)!];
}

const page = readFileSync(`${root}docs/recipes.md`, 'utf8');
const recipes = page
  .split(/^## /m)
  .slice(1)
  .map((text) => {
    const [request, shown] = codeBlocks(text);
    const [command = '', ...lines] = shown!.text.split('\n');
    return { title: text.split('\n')[0]!, request: request!.text, command, lines: lines.slice(0, -1) };
  });

test('there are seventeen recipes, each with a calculation', () => {
  expect(recipes.map(({ title }) => title)).toEqual(Object.keys(expected));
  expect(recipes).toHaveLength(17);
});

test.each(recipes)('$title', ({ title, request, command, lines }) => {
  const file = /^\$ windrow run request\.json --input (\S+)$/.exec(command)![1]!;
  const { series } = readCsv(readFileSync(root + file), { fileName: file });
  const results = runEvery(planEvery(JSON.parse(request) as unknown), series).series;
  expect(writeCsv(results).split('\n').slice(0, lines.length)).toEqual(lines);
  const found = samplesOf(results[0]!);
  const wanted = expected[title]!(series.map(samplesOf));
  expect(found.map(([t]) => t)).toEqual(wanted.map(([t]) => t));
  for (const [i, [, value]] of found.entries()) expect(value).toBeCloseTo(wanted[i]![1], 8);
});
