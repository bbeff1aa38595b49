// The oracle against the conformance cases, and against hard cases worked out by hand.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type OracleOptions, type OracleSeries, parseDuration, parseInstant, runOracle } from './index.js';

interface CaseSeries {
  timeseriesId: string;
  metric: string;
  samples: [instant: string, value: number | null][];
}

interface ComputationCase {
  name: string;
  request: unknown[];
  options?: { timezone?: string; from?: string; until?: string };
  inputs: CaseSeries[];
  expected: CaseSeries[];
  tolerance: number;
}

interface TextCase {
  name: string;
  kind: 'duration' | 'instant';
  text: string;
  valid: boolean;
  ms?: number;
  timezone?: string;
}

const folder = new URL('../conformance/', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));

/** `as`: we wrote these files; their README describes their form. */
function casesOf<T>(file: string): T[] {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as T[];
}

function toOracle({ timeseriesId, metric, samples }: CaseSeries): OracleSeries {
  return { timeseriesId, metric, samples: samples.map(([instant, value]) => [parseInstant(instant), value]) };
}

function optionsOf({ timezone, from, until }: NonNullable<ComputationCase['options']>): OracleOptions {
  return {
    ...(timezone === undefined ? {} : { timezone }),
    ...(from === undefined ? {} : { fromMs: parseInstant(from, timezone) }),
    ...(until === undefined ? {} : { untilMs: parseInstant(until, timezone) }),
  };
}

const isNear = (a: number, b: number, tolerance: number): boolean =>
  a === b || Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));

/**
 * The actual series with each time and value that is within the tolerance replaced by the expected one, for a readable
 * diff.
 */
function snapped(actual: OracleSeries, expected: OracleSeries, tolerance: number): OracleSeries {
  const samples = actual.samples.map(([timeMs, value], index): [number, number | null] => {
    const [expectedMs, expectedValue] = expected.samples[index] ?? [Number.NaN, null];
    const sameTime = isNear(timeMs, expectedMs, Number.EPSILON);
    const sameValue = value !== null && expectedValue !== null && isNear(value, expectedValue, tolerance);
    return [sameTime ? expectedMs : timeMs, sameValue ? expectedValue : value];
  });
  return { ...actual, samples };
}

describe.each(files.filter((file) => file !== 'time-text.json'))('%s', (file) => {
  const cases = casesOf<ComputationCase>(file);

  it('has cases', () => expect(cases.length).toBeGreaterThan(0));

  it.each(cases)('$name', ({ request, inputs, expected, tolerance, options = {} }) => {
    const result = runOracle(request, inputs.map(toOracle), optionsOf(options));
    for (const wanted of expected.map(toOracle)) {
      const actual = result.series.find(
        ({ timeseriesId, metric }) => timeseriesId === wanted.timeseriesId && metric === wanted.metric,
      );
      expect(actual && snapped(actual, wanted, tolerance)).toEqual(wanted);
    }
  });
});

describe('time-text.json', () => {
  it.each(casesOf<TextCase>('time-text.json'))('$name', ({ kind, text, valid, ms, timezone }) => {
    const parse = () => (kind === 'duration' ? parseDuration(text) : parseInstant(text, timezone));
    if (valid) expect(parse()).toBe(ms);
    else expect(parse).toThrow();
  });
});

// ------------------------------------------------------------------ corners worked out by hand

type Given = [instant: string, value: number | null][];

function seriesOf(timeseriesId: string, samples: Given): OracleSeries {
  return toOracle({ timeseriesId, metric: 'Raw', samples });
}

function step(operation: string, parameters: object, input = ['a/Raw'], output = 'a/Out'): object {
  const reference = (text: string) => ({ timeseriesId: text.split('/')[0], metric: text.split('/')[1] });
  return { operation, parameters, input: input.map(reference), output: [reference(output)] };
}

/** One step over one or two series; the times of the result as text. */
function runStep(operation: string, parameters: object, given: Given[], options: OracleOptions = {}) {
  const ids = ['a', 'b'].slice(0, given.length);
  const inputs = ids.map((id, index) => seriesOf(id, given[index] ?? []));
  const inputNames = ids.map((id) => `${id}/Raw`);
  const { series, dropped } = runOracle(
    [{ metric: 'Out', operations: [step(operation, parameters, inputNames)] }],
    inputs,
    options,
  );
  const samples = series[0]?.samples.map(([timeMs, value]) => [new Date(timeMs).toISOString(), value]);
  return { samples, sources: dropped.sources, step: dropped.steps[0] };
}

describe('sources', () => {
  it('drop missing values first, then samples outside the run, then all but the last of a time', () => {
    const given: Given = [
      ['2024-01-01T00:00', 1],
      ['2024-01-01T00:02', 3],
      ['2024-01-01T00:01', 2],
      ['2024-01-01T00:01', 5],
      ['2024-01-01T00:01', null],
      ['2024-01-01T00:03', 4],
    ];
    const options = { fromMs: parseInstant('2024-01-01T00:01'), untilMs: parseInstant('2024-01-01T00:03') };
    expect(runStep('Abs', {}, [given], options)).toEqual({
      samples: [
        ['2024-01-01T00:01:00.000Z', 5],
        ['2024-01-01T00:02:00.000Z', 3],
      ],
      sources: { 'a/Raw': { missing: 1, outOfRun: 2, duplicate: 1 } },
      step: {},
    });
  });
});

describe('requests', () => {
  it('can be written in any order, and an item is known by its metric and by its last output', () => {
    const request = [
      { metric: 'Late', operations: [step('Add', {}, ['a/Early', 'a/Inner'], 'a/Late')] },
      {
        metric: 'Early',
        operations: [step('Mul', { scalar: 10 }, ['a/Half'], 'a/Inner')],
      },
      { metric: 'Half', operations: [step('Div', { scalar: 2 }, ['a/Raw'], 'a/Half')] },
    ];
    const { series } = runOracle(request, [seriesOf('a', [['2024-01-01', 4]])]);
    expect(series.map(({ metric, samples }) => [metric, samples[0]?.[1]])).toEqual([
      ['Late', 40],
      ['Early', 20],
      ['Half', 2],
    ]);
  });

  it('shift by the window of the nearest aggregate upstream, through other steps and in its zone', () => {
    const request = [
      {
        metric: 'Out',
        operations: [
          step('Aggregate', { function: 'Sum', interval: 'Daily', timezone: 'Europe/Berlin' }, ['a/Raw'], 'a/Sum'),
          step('Round', { roundtodigits: 0 }, ['a/Sum'], 'a/Round'),
          step('Shift', { function: 'ShiftByWindow', shift: 1, direction: 'forward' }, ['a/Round'], 'a/Out'),
        ],
      },
    ];
    const { series } = runOracle(request, [seriesOf('a', [['2024-03-31T10:00Z', 1]])]);
    expect(series[0]?.samples).toEqual([[parseInstant('2024-03-31T22:00Z'), 1]]);
  });
});

describe('zones', () => {
  const daily = { function: 'Count', interval: 'Daily' };
  const countDays = (timezone: string, instants: string[]) =>
    runStep('Aggregate', daily, [instants.map((instant) => [instant, 1])], { timezone }).samples;

  it('a midnight that comes twice starts the day at its first time', () => {
    // St. John's, 2010-11-07: at 00:01 (-02:30) the clock went back to 23:01 (-03:30) of the 6th.
    expect(countDays('America/St_Johns', ['2010-11-07T02:29:59Z', '2010-11-07T02:30Z', '2010-11-07T03:00Z'])).toEqual([
      ['2010-11-06T02:30:00.000Z', 1],
      ['2010-11-07T02:30:00.000Z', 2],
    ]);
  });

  it('a midnight that does not exist starts the day at the first instant after it', () => {
    // Sao Paulo, 2018-11-04: at 00:00 (-03:00) the clock went forward to 01:00 (-02:00).
    expect(countDays('America/Sao_Paulo', ['2018-11-04T02:59:59Z', '2018-11-04T03:00Z'])).toEqual([
      ['2018-11-03T03:00:00.000Z', 1],
      ['2018-11-04T03:00:00.000Z', 1],
    ]);
  });

  it('a day that a zone skipped has no window', () => {
    // Samoa went from the end of 2011-12-29 (-10:00) to the start of 2011-12-31 (+14:00).
    const parameters = { ...daily, empty: 'zero' };
    const given: Given = [
      ['2011-12-29T10:00Z', 1],
      ['2011-12-31T10:00Z', 1],
    ];
    expect(runStep('Aggregate', parameters, [given], { timezone: 'Pacific/Apia' }).samples).toEqual([
      ['2011-12-29T10:00:00.000Z', 1],
      ['2011-12-30T10:00:00.000Z', 0],
      ['2011-12-31T10:00:00.000Z', 1],
    ]);
  });

  it('a local time that does not exist is an error; one that comes twice is its first instant', () => {
    expect(() => parseInstant('2024-03-31T02:30', 'Europe/Berlin')).toThrow('does not exist');
    expect(parseInstant('2024-10-27T02:30', 'Europe/Berlin')).toBe(parseInstant('2024-10-27T00:30Z'));
    expect(parseInstant('1883-11-18T12:00', 'America/New_York')).toBe(parseInstant('1883-11-18T16:56:02Z'));
  });

  it('a shift by months keeps the day and time of day, or takes the last day of a shorter month', () => {
    const given: Given = [
      ['2024-01-01', 1],
      ['2024-01-15T12:00', 2],
      ['2024-01-31', 3],
      ['2024-01-31T06:00', 4],
      ['2024-02-01', 5],
    ];
    const parameters = { function: 'ShiftByWindow', shift: 1, direction: 'forward', window: 'Monthly' };
    expect(runStep('Shift', parameters, [given])).toMatchObject({
      samples: [
        ['2024-02-01T00:00:00.000Z', 1],
        ['2024-02-15T12:00:00.000Z', 2],
        ['2024-02-29T00:00:00.000Z', 3],
        ['2024-02-29T06:00:00.000Z', 4],
        ['2024-03-01T00:00:00.000Z', 5],
      ],
      step: {},
    });
  });
});

describe('counts', () => {
  it('cover results that are not finite, single samples, times out of range and samples without a partner', () => {
    const given: Given = [
      ['2024-01-01T00:00', 0],
      ['2024-01-01T00:30', 2],
      ['9999-12-31T23:30', 4],
    ];
    const hourly = { interval: 'Hourly' };
    expect(runStep('Div', { scalar: 0 }, [given]).step).toEqual({ nonFinite: 3 });
    expect(runStep('Aggregate', { ...hourly, function: 'Variance' }, [given]).step).toEqual({ insufficient: 1 });
    expect(runStep('Aggregate', { ...hourly, function: 'Sum', label: 'end' }, [given]).step).toEqual({ outOfRange: 1 });
    const second: Given = [
      ['2024-01-01T00:15', 1],
      ['2024-01-01T00:30', 1],
    ];
    expect(runStep('Add', {}, [given, second]).step).toEqual({ unmatched: 3 });
    expect(runStep('Add', { align: 'asof' }, [given, second]).step).toEqual({ unmatched: 2 });
    expect(runStep('Add', { align: 'asof', maxhold: 'PT0S' }, [given, second]).step).toEqual({ unmatched: 3 });
    expect(runStep('Add', { align: 'hold' }, [given, second]).step).toEqual({ unmatched: 1 });
    expect(runStep('Add', { align: 'linear' }, [given, second]).step).toEqual({ unmatched: 2 });
  });
});

describe('windows', () => {
  it('closed on the right include their end and not their start', () => {
    const given: Given = [
      ['2024-01-01T00:00', 1],
      ['2024-01-01T00:30', 2],
      ['2024-01-01T01:00', 4],
    ];
    const parameters = { function: 'Sum', interval: 'Hourly', closed: 'right' };
    const expected = [
      ['2023-12-31T23:00:00.000Z', 1],
      ['2024-01-01T00:00:00.000Z', 6],
    ];
    expect(runStep('Aggregate', parameters, [given]).samples).toEqual(expected);
    expect(runStep('Aggregate', parameters, [given], { timezone: 'Europe/London' }).samples).toEqual(expected);
  });

  it('of held values reach up to `until`, exclusive, and stop where the value is too old', () => {
    const options = { untilMs: parseInstant('2024-01-01T01:00') };
    const given: Given = [['2024-01-01T00:10', 7]];
    const ticks = { function: 'HoldLastValue', interval: 'QuarterHourly' };
    expect(runStep('HoldLastValue', ticks, [given], options).samples).toEqual([
      ['2024-01-01T00:15:00.000Z', 7],
      ['2024-01-01T00:30:00.000Z', 7],
      ['2024-01-01T00:45:00.000Z', 7],
    ]);
    expect(runStep('HoldLastValue', { ...ticks, maxhold: 'PT20M' }, [given], options).samples).toEqual([
      ['2024-01-01T00:15:00.000Z', 7],
      ['2024-01-01T00:30:00.000Z', 7],
    ]);
  });

  it('of a pipeline are those of its stages, one after another', () => {
    const given: Given = [
      ['2024-01-01T00:10', 1],
      ['2024-01-01T00:20', 3],
      ['2024-01-01T05:00', 10],
      ['2024-02-01T05:00', 5],
    ];
    const pipeline = [
      { function: 'Average', interval: 'Hourly' },
      { function: 'Sum', interval: 'Daily' },
      { function: 'Max', interval: 'Monthly' },
    ];
    expect(runStep('Aggregate Pipeline', { pipeline, label: 'end' }, [given]).samples).toEqual([
      ['2024-02-01T00:00:00.000Z', 12],
      ['2024-03-01T00:00:00.000Z', 5],
    ]);
  });
});

describe('instants', () => {
  it('are the double nearest to their digits, within the years 0001-9999', () => {
    expect(parseInstant('0001-01-01')).toBe(-62_135_596_800_000);
    expect(parseInstant('0000-12-31T23:00-01:00')).toBe(-62_135_596_800_000);
    expect(parseInstant('1969-12-31T23:59:59.9996')).toBe(-0.4);
    expect(() => parseInstant('0001-01-01T00:00+00:01')).toThrow('years');
    expect(() => parseInstant('9999-12-31T23:59-00:01')).toThrow('years');
  });
});
