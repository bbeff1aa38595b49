import { describeValue } from '../../../core/errors.js';
import { RAW_METRIC } from '../../../formats/csv/read/long-rows.js';
import { readTime } from '../../../formats/csv/read/read-text.js';
import { badRequest, ServiceError } from '../../http/errors.js';
import { addSample, type SampleBatch, seriesIndexOf } from './batch.js';

// The general way from JSON to samples. scan-json.ts takes the usual form faster, and a property test holds it to this.

/** What a sample without these fields means: the series of the path, and its metric. */
export interface SampleDefaults {
  readonly timeseriesId?: string;
  readonly metric?: string;
}

const FIELDS: readonly string[] = ['timeseriesId', 'metric', 'timestamp', 'val'];
const NAME_LENGTH_MAX = 256;
// Control characters, and halves of surrogate pairs, which UTF-8 cannot hold.
const FAULTY = /[\p{Cc}\p{Cs}]/u;

/** Reads a body `[{timeseriesId, metric, timestamp, val}]` into the batch; faults go to `issues`. */
export function readJsonSamples(
  text: string,
  batch: SampleBatch,
  issues: SampleIssues,
  defaults: SampleDefaults,
): void {
  const samples = parseJson(text);
  if (!Array.isArray(samples)) {
    const expected = 'an array of {timeseriesId, metric, timestamp, val}';
    addIssue(issues, { pointer: '', expected, received: describeValue(samples) });
    return;
  }
  for (const [index, sample] of samples.entries()) {
    readSample(sample, batch, defaults, (field, expected, received) =>
      addIssue(issues, { pointer: `/${index}${field}`, expected, received }),
    );
  }
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
    sample = JSON.parse(text);
  } catch {
    addIssue(issues, { line, expected: 'a JSON object', received: describeValue(text) });
    return;
  }
  readSample(sample, batch, defaults, (field, expected, received) => {
    const issue: SampleIssue = { line, expected, received };
    addIssue(issues, field === '' ? issue : { ...issue, pointer: field });
  });
}

type OnFault = (field: string, expected: string, received: string) => void;

function readSample(sample: unknown, batch: SampleBatch, defaults: SampleDefaults, fault: OnFault): void {
  if (sample === null || typeof sample !== 'object' || Array.isArray(sample)) {
    fault('', 'an object {timeseriesId, metric, timestamp, val}', describeValue(sample));
    return;
  }
  const fields = sample as Readonly<Record<string, unknown>>; // just checked
  let isGood = true;
  const bad: OnFault = (field, expected, received) => {
    isGood = false;
    fault(field, expected, received);
  };
  for (const name of Object.keys(fields)) {
    if (!FIELDS.includes(name))
      bad(`/${pointerPart(name)}`, `one of the fields ${FIELDS.join(', ')}`, describeValue(name));
  }
  const timeseriesId = readName(fields, 'timeseriesId', defaults.timeseriesId, undefined, bad);
  const metric = readName(fields, 'metric', defaults.metric, RAW_METRIC, bad);
  const timeMs = readTimestamp(fields.timestamp, bad);
  const { val } = fields;
  if (val !== null && typeof val !== 'number') bad('/val', 'a number, or null where it is missing', describeValue(val));
  if (!isGood) return;
  addSample(batch, seriesIndexOf(batch, timeseriesId, metric), timeMs, val === null ? Number.NaN : Number(val));
}

function readName(
  fields: Readonly<Record<string, unknown>>,
  field: 'timeseriesId' | 'metric',
  fixed: string | undefined,
  absent: string | undefined,
  bad: OnFault,
): string {
  const given = fields[field] ?? fixed ?? absent;
  const problem = nameProblem(given);
  if (problem !== undefined) bad(`/${field}`, problem, describeValue(given));
  else if (fixed !== undefined && given !== fixed)
    bad(`/${field}`, `${describeValue(fixed)}, as the path or query says`, describeValue(given));
  return String(given);
}

/** What is expected of the name of a series where this is none. */
export function nameProblem(name: unknown): string | undefined {
  const isName = typeof name === 'string' && name !== '' && name.length <= NAME_LENGTH_MAX && !FAULTY.test(name);
  return isName ? undefined : `a text of 1 to ${NAME_LENGTH_MAX} characters, none of them a control character`;
}

function readTimestamp(timestamp: unknown, bad: OnFault): number {
  const isText = typeof timestamp === 'string' || typeof timestamp === 'number';
  const reading = isText ? readTime(String(timestamp)) : { problem: '' };
  if ('timeMs' in reading) return reading.timeMs;
  const expected = 'an ISO 8601 instant like 2024-01-31T12:00:00Z';
  bad(
    '/timestamp',
    expected,
    `${describeValue(timestamp)}${reading.problem === '' ? '' : `, which ${reading.problem}`}`,
  );
  return Number.NaN;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw badRequest(`the body is not JSON: ${reason}`, { code: 'request.json' });
  }
}

function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
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

/** So many faults are told one by one; all are counted. */
const SHOWN_ISSUES_MAX = 100;

/** The faults of a body, for one answer that names them. */
export interface SampleIssues {
  readonly shown: SampleIssue[];
  count: number;
}

export function createSampleIssues(): SampleIssues {
  return { shown: [], count: 0 };
}

export function addIssue(issues: SampleIssues, issue: SampleIssue): void {
  issues.count++;
  if (issues.shown.length < SHOWN_ISSUES_MAX) issues.shown.push(issue);
}

/** 400 with every fault, when there is one. @param stored samples of the body that are stored already. */
export function refuseIssues({ shown, count }: SampleIssues, stored: number): void {
  const [first] = shown;
  if (first === undefined) return;
  const { line, pointer } = first;
  const place =
    line === undefined ? pointer || 'the body' : `line ${line}${pointer === undefined ? '' : ` ${pointer}`}`;
  const more = count === 1 ? '' : `, and ${count - 1} more`;
  const kept =
    stored === 0 ? 'nothing was stored' : `${stored} samples before it are stored; sending all again is safe`;
  const message = `${place}: expected ${first.expected}, received ${first.received}${more}; ${kept}`;
  throw new ServiceError(400, message, { details: { issues: shown, issueCount: count, samplesStored: stored } });
}
