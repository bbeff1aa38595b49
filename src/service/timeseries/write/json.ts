import { describeValue } from '../../../core/errors.js';
import { RAW_METRIC } from '../../../formats/table/naming.js';
import { readTime } from '../../../formats/table/read-text.js';
import { ServiceError } from '../../http/errors.js';
import { describeLineFault, JsonIssueError, parseJson, parseJsonBody, pointerPart } from '../../http/json.js';
import { nameProblem } from '../names.js';
import { addSample, knownSeries, type SampleBatch, seriesIndexOf } from './batch.js';

/** What a sample without these fields means: the series of the path, and its metric. */
export interface SampleDefaults {
  readonly timeseriesId?: string;
  readonly metric?: string;
}

/** One fault of a body of samples. */
export interface SampleIssue {
  /** JSON pointer into the body. */
  readonly pointer?: string;
  /** Line of a body that is read line by line, from 1. */
  readonly line?: number;
  readonly expected: string;
  readonly received: string;
}

const FIELDS: readonly string[] = ['timeseriesId', 'metric', 'timestamp', 'val'];
const SAMPLE = `{${FIELDS.join(', ')}}`;
/** How many faults are listed; all are counted. */
const SHOWN_ISSUES_MAX = 100;

/** Collects the faults of a body for one answer. */
export class SampleIssues {
  /** The first of them. */
  readonly shown: SampleIssue[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Whether further faults are only counted. */
  get isFull(): boolean {
    return this.shown.length === SHOWN_ISSUES_MAX;
  }

  add(issue: SampleIssue): void {
    this.#count++;
    if (!this.isFull) this.shown.push(issue);
  }

  /** Throws 400 with the faults, if there are any. @param samplesStored of this body so far. */
  refuse(samplesStored: number): void {
    const [first] = this.shown;
    if (first === undefined) return;
    const { line, pointer } = first;
    const place =
      line === undefined ? pointer || 'the body' : `line ${line}${pointer === undefined ? '' : ` ${pointer}`}`;
    const more = this.#count === 1 ? '' : `, and ${this.#count - 1} more`;
    const fault = `${place}: expected ${first.expected}, received ${first.received}${more}`;
    const details = { issues: this.shown, issueCount: this.#count, samplesStored };
    throw new ServiceError(400, `${fault}; ${describeStored(samplesStored)}`, { details });
  }
}

/** What was stored of a body that was not read to its end. */
export function describeStored(samplesStored: number): string {
  if (samplesStored === 0) return 'nothing was stored';
  return `${samplesStored} samples before it are stored; sending all again is safe`;
}

/** The samples of a body `[{timeseriesId, metric, timestamp, val}]`, not checked yet. */
export async function parseSamples(text: string, issues: SampleIssues): Promise<readonly unknown[]> {
  const samples = await parseJsonBody(text);
  if (Array.isArray(samples)) return samples;
  issues.add({ pointer: '', expected: `an array of ${SAMPLE}`, received: describeValue(samples) });
  return [];
}

/** How many fields that no sample has to report before others are answered: some milliseconds of work. */
const WRONG_FIELDS_PER_TURN = 20_000;

/** Reads samples of a body into the batch, fewer if they have very many wrong fields. @returns where the next begin. */
export function readSamples(
  samples: readonly unknown[],
  from: number,
  until: number,
  batch: SampleBatch,
  issues: SampleIssues,
  defaults: SampleDefaults,
): number {
  const end = Math.min(until, samples.length);
  let index = from;
  for (let wrongCount = 0; index < end && wrongCount < WRONG_FIELDS_PER_TURN; index++) {
    const sample = samples[index];
    if (takeUsual(sample, batch, defaults)) continue;
    wrongCount += readSample(sample, batch, defaults, (field, expected, received) =>
      issues.add({ pointer: `/${index}${field}`, expected, received }),
    );
  }
  return index;
}

/** Reads one line of NDJSON. */
export function readJsonLine(
  text: string,
  line: number,
  batch: SampleBatch,
  issues: SampleIssues,
  defaults: SampleDefaults,
): void {
  let sample: unknown;
  try {
    sample = parseJson(text);
  } catch (error) {
    if (error instanceof JsonIssueError) issues.add({ line, ...error.issue });
    else {
      const received = (issues.isFull ? undefined : describeLineFault(text)) ?? describeValue(text);
      issues.add({ line, expected: 'a JSON object', received });
    }
    return;
  }
  if (takeUsual(sample, batch, defaults)) return;
  readSample(sample, batch, defaults, (field, expected, received) => {
    const issue: SampleIssue = { line, expected, received };
    issues.add(field === '' ? issue : { ...issue, pointer: field });
  });
}

/** Takes a sample without faults of a series whose names have been checked; false for any other. */
function takeUsual(sample: unknown, batch: SampleBatch, defaults: SampleDefaults): boolean {
  if (sample === null || typeof sample !== 'object') return false;
  for (const name in sample) if (!FIELDS.includes(name)) return false;
  const { timeseriesId, metric, timestamp, val } = sample as Readonly<Record<string, unknown>>; // checked below
  const id = timeseriesId ?? defaults.timeseriesId;
  const name = metric ?? defaults.metric ?? RAW_METRIC;
  if (typeof val !== 'number' || typeof timestamp !== 'string') return false;
  if (typeof id !== 'string' || typeof name !== 'string') return false;
  if (defaults.timeseriesId !== undefined && id !== defaults.timeseriesId) return false;
  if (defaults.metric !== undefined && name !== defaults.metric) return false;
  const series = knownSeries(batch, id, name);
  if (series === undefined || !USUAL_TIME.test(timestamp)) return false;
  addSample(batch, series, Date.parse(timestamp), val);
  return true;
}

// Times that `Date.parse` reads like `readTime`, but several times as fast: UTC, every field within its range.
const DAY = '(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31';
const USUAL_TIME = new RegExp(`^(?!0000)\\d{4}-(?:${DAY})T(?:[01]\\d|2[0-3])(?::[0-5]\\d){2}(?:\\.\\d{3})?Z$`);

type OnFault = (field: string, expected: string, received: string) => void;

/** @returns how many fields it has that no sample has. */
function readSample(sample: unknown, batch: SampleBatch, defaults: SampleDefaults, fault: OnFault): number {
  if (sample === null || typeof sample !== 'object' || Array.isArray(sample)) {
    fault('', `an object ${SAMPLE}`, describeValue(sample));
    return 0;
  }
  const fields = sample as Readonly<Record<string, unknown>>; // just checked
  let isGood = true;
  const bad: OnFault = (field, expected, received) => {
    isGood = false;
    fault(field, expected, received);
  };
  const wrong = Object.keys(fields).filter((name) => !FIELDS.includes(name));
  for (const name of wrong) {
    bad(`/${pointerPart(name)}`, `one of the fields ${FIELDS.join(', ')}`, describeValue(name));
  }
  const timeseriesId = readName(fields, 'timeseriesId', defaults.timeseriesId, undefined, bad);
  const metric = readName(fields, 'metric', defaults.metric, RAW_METRIC, bad);
  const timeMs = readTimestamp(fields.timestamp, bad);
  const { val } = fields;
  if (val !== null && typeof val !== 'number') bad('/val', 'a number, or null where it is missing', describeValue(val));
  if (isGood) {
    addSample(batch, seriesIndexOf(batch, timeseriesId, metric), timeMs, val === null ? Number.NaN : Number(val));
  }
  return wrong.length;
}

function readName(
  fields: Readonly<Record<string, unknown>>,
  field: 'timeseriesId' | 'metric',
  fixed: string | undefined,
  absent: string | undefined,
  bad: OnFault,
): string {
  const given = fields[field] ?? fixed ?? absent;
  const expected = nameFault(given, fixed);
  if (expected !== undefined) bad(`/${field}`, expected, describeValue(given));
  return typeof given === 'string' ? given : '';
}

// What is expected instead of a name that the path or the query may fix.
function nameFault(name: unknown, fixed: string | undefined): string | undefined {
  const isOther = fixed !== undefined && name !== fixed;
  return nameProblem(name) ?? (isOther ? `${JSON.stringify(fixed)}, as the path or query says` : undefined);
}

/** Where a body that is not JSON names a series. */
export interface NamePlace {
  readonly text: string;
  /** For programs. */
  readonly details?: { readonly line: number } | { readonly frame: number };
}

/** Throws 400 if a body that is not JSON names another series than the path or the query. */
export function checkNames(
  defaults: SampleDefaults,
  given: { readonly timeseriesId: string; readonly metric: string },
  { text, details }: NamePlace,
) {
  for (const field of ['timeseriesId', 'metric'] as const) {
    const expected = nameFault(given[field], defaults[field]);
    if (expected === undefined) continue;
    const fault = `${field}: expected ${expected}, received ${describeValue(given[field])}`;
    throw new ServiceError(400, `${text}: ${fault}`, { details });
  }
}

function readTimestamp(timestamp: unknown, bad: OnFault): number {
  const isText = typeof timestamp === 'string' || typeof timestamp === 'number';
  const reading = isText ? readTime(String(timestamp)) : { problem: '' };
  if ('timeMs' in reading) return reading.timeMs;
  const expected = 'an ISO 8601 instant like 2024-01-31T12:00:00Z';
  const problem = reading.problem === '' ? '' : `, which ${reading.problem}`;
  bad('/timestamp', expected, `${describeValue(timestamp)}${problem}`);
  return Number.NaN;
}
