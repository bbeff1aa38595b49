import { formatDuration, parseDuration } from '../core/duration.js';
import type { ErrorCode } from '../core/errors.js';
import { describeValue } from '../core/errors.js';
import { instantMs, readInstant } from '../core/instant.js';
import { parseInterval } from '../core/interval.js';
import { isKnownTime } from '../core/series.js';
import { didYouMean, type OtherNames } from '../core/suggest.js';
import { didYouMeanZone, isUtc, zoneOf } from '../core/zone.js';

/** The parameters of a step in a plan: checked, in the interface's spelling, with defaults filled in. */
export type Parameters = Readonly<Record<string, ParameterValue>>;
export type ParameterValue = string | number | readonly ParameterValue[] | { readonly [name: string]: ParameterValue };

/** Reports a problem at a place below the one being read (`''` for the place itself). */
export type Report = (below: string, code: ErrorCode, expected: string, received: string, suggestion?: string) => void;

/** What reading a parameter may depend on. */
export interface ReadContext {
  /** The zone of the run, 'UTC' by default. */
  readonly timezone: string;
}

/** One parameter of an operation: its JSON Schema and its check. Its description is in the operation's texts. */
export interface Parameter {
  readonly isRequired: boolean;
  /** Filled in if the request gives no value. */
  readonly default?: ParameterValue;
  /** Whether it extends the interface; operations.md marks it with +. */
  readonly isExtension: boolean;
  readonly schema: JsonSchema;
  /** The value for the plan, or undefined after reporting what is wrong with it. */
  readonly read: (value: unknown, report: Report, context: ReadContext) => ParameterValue | undefined;
}

export type JsonSchema = { readonly [key: string]: unknown };

interface Options {
  readonly optional?: true;
  readonly default?: ParameterValue;
  readonly extension?: true;
}

interface ChoiceOptions extends Options {
  /** What other tools call some of the names. */
  readonly otherNames?: OtherNames;
}

/** A parameter with a schema and a reader of its own. */
export function parameter(options: Options, schema: JsonSchema, read: Parameter['read']): Parameter {
  const isRequired = options.optional !== true && options.default === undefined;
  const preset = options.default === undefined ? {} : { default: options.default };
  return { isRequired, isExtension: options.extension === true, schema: { ...schema, ...preset }, read, ...preset };
}

/** A finite number within bounds, both included. */
export function number(options: Options & { minimum?: number; maximum?: number; integer?: true } = {}): Parameter {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY, integer } = options;
  const bounds = {
    ...(minimum > Number.NEGATIVE_INFINITY ? { minimum } : {}),
    ...(maximum < Number.POSITIVE_INFINITY ? { maximum } : {}),
  };
  const expected = (integer ? 'a whole number' : 'a number') + describeRange(minimum, maximum);
  return parameter(options, { type: integer ? 'integer' : 'number', ...bounds }, (value, report) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      return refuse(report, 'request.type', expected, value, numberHint(value));
    }
    if (integer && !Number.isInteger(value)) return refuse(report, 'request.value', expected, value);
    if (value < minimum || value > maximum) return refuse(report, 'request.range', expected, value);
    return value === 0 ? 0 : value;
  });
}

function describeRange(minimum: number, maximum: number): string {
  if (minimum > Number.NEGATIVE_INFINITY && maximum < Number.POSITIVE_INFINITY) return ` of ${minimum} to ${maximum}`;
  return minimum > Number.NEGATIVE_INFINITY ? ` of at least ${minimum}` : '';
}

function numberHint(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '' || !Number.isFinite(Number(value))) return undefined;
  return `write ${Number(value)} without quotes`;
}

/** One of several names, in any case; the plan gets the spelling given here. `extensions` extend the interface. */
export function choice(
  names: readonly string[],
  options: ChoiceOptions = {},
  extensions?: readonly string[],
): Parameter {
  const mark = extensions && { 'x-extensions': names.filter((name) => extensions.includes(name)) };
  return parameter(options, { type: 'string', enum: names, ...mark }, (value, report) =>
    readName(value, names, report, options.otherNames),
  );
}

/** The name that `value` stands for, or undefined after reporting that it is none of them. */
export function readName(
  value: unknown,
  names: readonly string[],
  report: Report,
  otherNames?: OtherNames,
): string | undefined {
  const expected = `one of ${names.join(', ')}`;
  if (typeof value !== 'string') return refuse(report, 'request.type', expected, value);
  const name = names.find((known) => known.toLowerCase() === value.toLowerCase());
  return name ?? refuse(report, 'request.unknown', expected, value, didYouMean(value, names, otherNames));
}

/** An ISO 8601 duration of fixed length, not shorter than `leastMs`. */
export function duration(leastMs: number, options: Options = {}): Parameter {
  const expected = 'an ISO 8601 duration like PT15M (weeks, days, hours, minutes, seconds)';
  const schema = { type: 'string', format: 'duration', ...(leastMs > 0 ? { pattern: '[1-9]' } : {}) };
  return parameter(options, schema, (value, report) => {
    if (typeof value !== 'string') return refuse(report, 'request.type', expected, value);
    const lengthMs = parseDuration(value);
    if (lengthMs === undefined) return refuse(report, 'request.duration', expected, value, durationHint(value));
    if (lengthMs < leastMs) {
      return refuse(report, 'request.duration', `a duration of at least ${formatDuration(leastMs)}`, value);
    }
    return value;
  });
}

/** A suggestion for a text that looks like a duration but is not one. */
export function durationHint(text: string): string | undefined {
  const named = parseInterval(text);
  if (named?.kind === 'fixed') return `did you mean \`${formatDuration(named.lengthMs)}\`?`;
  // `1M` is a month in pandas and Grafana.
  if (/^P?\d+[MY]/.test(text)) return 'months and years have no fixed length; a minute is `PT1M`';
  if (parseDuration(text.toUpperCase()) !== undefined) return `did you mean \`${text.toUpperCase()}\`?`;
  if (parseDuration(`P${text}`) !== undefined) return `did you mean \`P${text}\`?`;
  const timed = text.replace(/^P(?!T)/, 'PT');
  if (timed !== text && parseDuration(timed) !== undefined) return `did you mean \`${timed}\`?`;
  const untimed = text.replace(/^PT/, 'P');
  if (untimed !== text && parseDuration(untimed) !== undefined) return `did you mean \`${untimed}\`?`;
  return shorthandHint(text);
}

// `15m`, `1 hour`, `30min`: units as they are written in pandas, Polars, Flux, SQL and Grafana.
const SHORTHAND =
  /^\s*(\d+(?:\.\d+)?)\s*(?:(s|secs?|seconds?)|(m|t|mins?|minutes?)|(h|hrs?|hours?)|(d|days?)|(w|weeks?))\s*$/i;

function shorthandHint(text: string): string | undefined {
  const [, count, ...units] = SHORTHAND.exec(text) ?? [];
  if (count === undefined) return undefined;
  const unit = units.findIndex((written) => written !== undefined);
  return `did you mean \`P${unit < 3 ? 'T' : ''}${count}${'SMHDW'[unit]}\`?`;
}

/** An IANA time zone. The plan has 'UTC' for UTC under any name, and the run's zone by default. */
export function timezone(options: Pick<Options, 'extension'> = {}): Parameter {
  return parameter({ ...options, optional: true }, { type: 'string', format: 'timezone' }, (value, report) => {
    const expected = 'an IANA time zone like Europe/Berlin';
    if (typeof value !== 'string') return refuse(report, 'request.type', expected, value);
    if (isUtc(value)) return 'UTC';
    return zoneOf(value)?.name ?? refuse(report, 'request.timezone', expected, value, didYouMeanZone(value));
  });
}

/** What an entry of a list is. */
type Entry = Pick<Parameter, 'schema' | 'read'>;

/** A list of entries. `some` names what the list must have at least one of. */
export function listOf(entry: Entry, options: Options & { readonly some?: string } = {}): Parameter {
  const { some } = options;
  const schema = { type: 'array', items: entry.schema, ...(some === undefined ? {} : { minItems: 1 }) };
  return parameter(options, schema, (value, report, context) => {
    if (!Array.isArray(value)) return refuse(report, 'request.type', `an array${describeEntry(entry)}`, value);
    if (some !== undefined && value.length === 0)
      return refuse(report, 'request.missing', `at least one ${some}`, value);
    const items = Array.from(value, (item, index) => entry.read(item, within(report, `/${index}`), context));
    const sound = items.filter((item) => item !== undefined);
    return sound.length === items.length ? sound : undefined;
  });
}

function describeEntry({ schema: { properties, enum: names } }: Entry): string {
  if (Array.isArray(names)) return ` of ${names.join(', ')}`;
  return properties === undefined ? '' : ` of objects with ${Object.keys(Object(properties)).join(', ')}`;
}

/** An object with fields. If each is valid by itself, `check` gets them as they were read and as they were given. */
export function objectOf(
  fields: Readonly<Record<string, Parameter>>,
  check?: (read: Parameters, report: Report, given: Readonly<Record<string, unknown>>) => void,
): Entry {
  const names = Object.keys(fields);
  const required = names.filter((name) => fields[name]?.isRequired);
  const properties = Object.fromEntries(names.map((name) => [name, fields[name]?.schema]));
  return {
    schema: { type: 'object', properties, ...(required.length === 0 ? {} : { required }) },
    read: (value, report, context) => {
      const read = readParameters(value, fields, report, context);
      if (read !== undefined) check?.(read, report, Object(value));
      return read;
    },
  };
}

/** Parameters by their names, with defaults filled in; undefined after reporting what is wrong with them. */
export function readParameters(
  given: unknown,
  parameters: Readonly<Record<string, Parameter>>,
  report: Report,
  context: ReadContext,
): Record<string, ParameterValue> | undefined {
  if (!isObjectOf(given, Object.keys(parameters), report)) return undefined;
  const read: Record<string, ParameterValue> = {};
  let isSound = true;
  for (const [name, parameter] of Object.entries(parameters)) {
    const place = within(report, `/${escapePointer(name)}`);
    const isGiven = given[name] !== undefined;
    if (!isGiven && parameter.isRequired) reportMissing(parameter, place, context);
    const value = isGiven ? parameter.read(given[name], place, context) : parameter.default;
    if (value !== undefined) read[name] = value;
    else if (isGiven || parameter.isRequired) isSound = false;
  }
  return isSound ? read : undefined;
}

/** Reports two bounds that are given the wrong way round. */
export function checkOrder(given: Parameters, lower: string, upper: string, report: Report): void {
  const { [lower]: least, [upper]: greatest } = given;
  if (least === undefined || greatest === undefined || least <= greatest) return;
  report('', 'request.range', `${lower} at most ${upper}`, `${least} over ${greatest}`, 'swap the two');
}

/** Reports a missing parameter, in the words of its own reader. */
export function reportMissing(parameter: Parameter, report: Report, context: ReadContext, hint?: string): void {
  parameter.read(undefined, (_, __, expected) => report('', 'request.missing', expected, 'nothing', hint), context);
}

/** Reports a wrong or missing value. Returns undefined, so a reader can end with `return refuse(…)`. */
export function refuse(report: Report, code: ErrorCode, expected: string, value: unknown, hint?: string): undefined {
  report('', value === undefined ? 'request.missing' : code, expected, describeValue(value), hint);
}

/** The same report, for a place further down. */
export function within(report: Report, place: string): Report {
  return (below, ...problem) => report(place + below, ...problem);
}

/** Whether a value is a JSON object with only known fields; reports what is wrong. */
export function isObjectOf(
  value: unknown,
  fields: readonly string[],
  report: Report,
): value is Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    const expected = fields.length === 0 ? 'an object without fields' : `an object with ${fields.join(', ')}`;
    report('', 'request.type', expected, describeValue(value));
    return false;
  }
  for (const field of Object.keys(value)) {
    if (fields.includes(field)) continue;
    const expected = fields.length === 0 ? 'no fields' : `the fields ${fields.join(', ')}`;
    report(`/${escapePointer(field)}`, 'request.unknown', expected, `\`${field}\``, didYouMean(field, fields));
  }
  return true;
}

/** A field's name as a part of a JSON pointer (RFC 6901). */
function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** An instant as epoch milliseconds; local to the run's zone if it has no offset. */
export function readInstantField(value: unknown, report: Report, context: ReadContext): number | undefined {
  const expected = 'an ISO 8601 instant like 2024-01-31T12:00:00Z';
  const timeMs = typeof value === 'number' ? undefined : instantMs(value);
  if (timeMs !== undefined && isKnownTime(timeMs)) return timeMs;
  if (typeof value !== 'string') return refuse(report, 'request.type', expected, value);
  const reading = readInstant(value, context.timezone === 'UTC' ? undefined : zoneOf(context.timezone));
  if ('timeMs' in reading) return reading.timeMs;
  return refuse(report, 'request.instant', expected, value, `it ${reading.problem}`);
}

/** A number of a plan's parameters. Plans are checked, so anything else is an assertion failure; so below. */
export function numberIn(parameters: Parameters, name: string): number {
  const value = parameters[name];
  if (typeof value !== 'number') throw new Error(`assertion failed: no number ${name}`);
  return value;
}

/** The number, or what stands for it if it is left out. */
export function numberOr<Fallback>(parameters: Parameters, name: string, fallback: Fallback): number | Fallback {
  return parameters[name] === undefined ? fallback : numberIn(parameters, name);
}

export function textIn(parameters: Parameters, name: string): string {
  const value = parameters[name];
  if (typeof value !== 'string') throw new Error(`assertion failed: no text ${name}`);
  return value;
}

/** The length of a duration parameter in milliseconds; undefined if it is left out. */
export function durationMsIn(parameters: Parameters, name: string): number | undefined {
  return parameters[name] === undefined ? undefined : parseDuration(textIn(parameters, name));
}

/** One field of a list of objects as a column, with `fallback` where it is left out. */
export function columnIn(parameters: Parameters, name: string, field: string, fallback: number): Float64Array {
  const list = parameters[name];
  if (!Array.isArray(list)) return new Float64Array(0);
  return Float64Array.from(list, (item: Parameters) => numberOr(item, field, fallback));
}
