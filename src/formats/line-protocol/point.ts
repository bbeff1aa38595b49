import { describeValue } from '../../core/errors.js';

/** What a line holds, as it is written. */
export interface Point {
  readonly series: string;
  readonly time: string;
  readonly fields: readonly (readonly [name: string, value: FieldValue])[];
}

/** A number as it is written, a boolean, or a text. */
export type FieldValue = string | boolean | { readonly text: string };

/**
 * A parsed line, or what is wrong with it.
 *
 * @param known the series of measurements with tags, as they are written, to which this one is added.
 */
export function parsePoint(text: string, known: Map<string, string>): Point | string {
  const [key, fields, time, ...more] = splitAt(text.trim(), ' ', 1).filter((part) => part !== '');
  if (key === undefined || fields === undefined || more.length > 0) {
    return `expected \`measurement,tag=value field=1 time\`, received ${describeValue(text)}`;
  }
  if (time === undefined) return 'the line has no time; without one, InfluxDB takes that of its clock';
  const series = known.get(key) ?? seriesOf(key);
  if (typeof series !== 'string') return series.problem;
  known.set(key, series);
  const values: (readonly [string, FieldValue])[] = [];
  for (const field of splitAt(fields, ',')) {
    const [name, value, ...others] = splitAt(field, '=');
    if (!name || !value) return `the field ${describeValue(field)}: expected \`name=value\``;
    if (others.length > 0) return `the field ${name} has several values; a text stands in quotes`;
    const read = readField(value);
    if (read === undefined) return `the field ${name} has the value ${value}; expected a number, a boolean or a text`;
    values.push([plain(name), read]);
  }
  const repeated = values.length === 1 ? undefined : repeatedName(values);
  if (repeated !== undefined) return `the field ${repeated} has several values`;
  return { series, time, fields: values };
}

function repeatedName(values: readonly (readonly [string, unknown])[]): string | undefined {
  const names = new Set<string>();
  for (const [name] of values) {
    if (names.has(name)) return name;
    names.add(name);
  }
  return undefined;
}

/** The series of a measurement with its tags, or what is wrong with them. */
export function seriesOf(key: string): string | { readonly problem: string } {
  const [measurement = '', ...tagTexts] = splitAt(key, ',', Number.POSITIVE_INFINITY);
  if (measurement === '') return { problem: 'the line has no measurement' };
  const tags = new Map<string, string>();
  for (const tag of tagTexts) {
    const [name, value, ...others] = splitAt(tag, '=', Number.POSITIVE_INFINITY).map(plain);
    if (!name || !value || others.length > 0) {
      return { problem: `the tag ${describeValue(tag)}: expected \`name=value\`` };
    }
    if (tags.has(name)) return { problem: `the tag ${name} has several values` };
    tags.set(name, value);
  }
  const sorted = [...tags].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${value}`);
  return [plain(measurement), ...sorted].join(',');
}

/** What is wrong with a time that would be in the first months of 1970 if it counted nanoseconds. */
export function unitFault({ time }: Point): string | undefined {
  const { length } = time;
  if (!/^[1-9]\d{8,15}$/.test(time)) return undefined;
  const unit = length < 12 ? 's' : length < 15 ? 'ms' : 'us';
  const mend = `say what times count with the option timeFormat (--time-format ${unit}, or ns)`;
  return `the time ${time} would be in 1970 if it counted nanoseconds; ${mend}`;
}

function readField(value: string): FieldValue | undefined {
  if (value.startsWith('"')) return { text: value.slice(1, -1).replace(/\\(["\\])/g, '$1') };
  if (/^(?:[tT]|true|True|TRUE)$/.test(value)) return true;
  if (/^(?:[fF]|false|False|FALSE)$/.test(value)) return false;
  const [, whole] = /^([+-]?\d+)[iu]$/.exec(value) ?? [];
  return whole ?? /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.exec(value)?.[0];
}

// Splits at separators that are neither escaped nor within the quotes of a value. Elsewhere quotes are characters like
// any other: in names and, before part `quotesFrom`, in a measurement and its tags.
function splitAt(text: string, separator: string, quotesFrom = 0): string[] {
  if (!text.includes('"') && !text.includes('\\')) return text.split(separator);
  const parts = [''];
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === '\\' && at + 1 < text.length) parts[parts.length - 1] += char + text[++at];
    else if (char === separator && !isQuoted) parts.push('');
    else {
      if (char === '"' && parts.length > quotesFrom && (isQuoted || text[at - 1] === '=')) isQuoted = !isQuoted;
      parts[parts.length - 1] += char;
    }
  }
  return parts;
}

function plain(text: string): string {
  return !text.includes('\\') ? text : text.replace(/\\([,= \\])/g, '$1');
}
