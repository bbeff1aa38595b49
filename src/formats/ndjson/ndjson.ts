import { describeValue, WindrowError } from '../../core/errors.js';
import { formatInstant } from '../../core/instant.js';
import { jsonNumber } from '../../core/json-number.js';
import type { Series } from '../../core/series.js';
import type { CsvSummary } from '../csv/options.js';
import type { Format, FormatListener, FormatOptions, FormatSource, FormatWriter } from '../format.js';
import { findJsonFault } from '../json-fault.js';
import { countKeys, findRepeatedKey } from '../json-keys.js';
import { BadLines, type LineRange, type TextLine, textOfRange } from '../lines.js';
import { textOf } from '../table/cells.js';
import { factsOf } from '../table/facts.js';
import { TableReader } from '../table/table-reader.js';
import { jsonValues } from './json-values.js';
import { UsualRows } from './usual-rows.js';

/**
 * One JSON object a line: `{"timestamp":"2024-01-31T12:00:00Z","timeseriesId":"office","value":1}`. One array of such
 * objects is read, too.
 */
export const ndjson: Format = {
  name: 'ndjson',
  extensions: ['ndjson', 'jsonl', 'json'],
  read: readNdjson,
  openWriter: async (onBytes) => createWriter(onBytes),
};

/** How many lines decide what the fields are. */
const SAMPLE_LINES = 400;
/** So many usual lines on each other one, and more, are read as such. */
const MIXED_MIN = 8;

interface Line extends TextLine {
  readonly fields: ReadonlyMap<string, unknown>;
}

async function readNdjson(
  source: FormatSource,
  options: FormatOptions,
  listener: FormatListener,
): ReturnType<Format['read']> {
  const rows = new Rows(options, listener.onChunk);
  for await (const { bytes, values } of jsonValues(source)) {
    for (const value of values) {
      rows.take(bytes, value);
      if (listener.isStopped()) return undefined;
    }
  }
  const summary = rows.end(source.name);
  return listener.isStopped() ? undefined : summary;
}

/** Takes the rows of a file in their order. */
class Rows {
  readonly #options: FormatOptions;
  readonly #onChunk: FormatListener['onChunk'];
  readonly #badLines: BadLines;
  readonly #known = new Set<string>();
  #names: string[] = [];
  /** Fields that came late, and are left out. */
  readonly #leftOut: string[] = [];
  #reader: TableReader | undefined;
  #usual: UsualRows | undefined;
  /** How many fields `#usual` knows. */
  #usualFields = 0;
  /** Lines in another form, in a row; the first ones decide what the fields are. */
  #waiting: Line[] = [];
  #lastLine = 0;
  readonly #counts = { usual: 0, unusual: 0 };

  constructor(options: FormatOptions, onChunk: FormatListener['onChunk']) {
    this.#options = options;
    this.#onChunk = onChunk;
    this.#badLines = new BadLines(options);
  }

  take(bytes: Uint8Array, value: LineRange): void {
    if (this.#usual !== undefined && this.#takeUsual(this.#usual, bytes, value)) return;
    const line = { text: textOfRange(bytes, value, this.#options.fileName).trim(), number: value.line };
    if (line.text === '') return;
    const fields = fieldsOf(line.text);
    if (typeof fields === 'string') {
      this.#badLines.take(line, fields);
      return;
    }
    this.#waiting.push({ ...line, fields });
    if (this.#waiting.length >= SAMPLE_LINES) this.#takeWaiting(false);
  }

  /** @returns what was read, once all lines are taken. */
  end(fileName: string): CsvSummary {
    if (this.#reader === undefined && this.#waiting.length === 0) {
      const told = this.#badLines.count === 0 ? 'there are no rows' : 'no line can be read';
      throw new WindrowError('file.format', `${fileName}: ${told}; expected a JSON object in each line`);
    }
    const reader = this.#takeWaiting(true);
    this.#flush(reader);
    return this.#badLines.countedIn(reader.summary());
  }

  #takeUsual(usual: UsualRows, bytes: Uint8Array, { from, until, line }: LineRange): boolean {
    if (this.#waiting.length > 0) {
      // Where every few lines is another form, they are faster together with those between.
      if (MIXED_MIN * this.#counts.unusual > this.#counts.usual) return false;
      this.#takeWaiting(false);
    }
    if (!usual.take(bytes, from, until)) return false;
    this.#counts.usual++;
    this.#lastLine = line;
    if (this.#reader?.isFull) this.#flush(this.#reader);
    return true;
  }

  #flush(reader: TableReader): void {
    reader.flush((chunk) => this.#onChunk(chunk, this.#lastLine));
  }

  #takeWaiting(isWhole: boolean): TableReader {
    const lines = this.#waiting;
    this.#waiting = [];
    this.#counts.unusual += lines.length;
    const reader = this.#reader ?? this.#open(lines, isWhole);
    this.#reader = reader;
    for (const { fields } of lines) {
      for (const [name, cell] of fields) {
        if (this.#known.has(name)) continue;
        this.#known.add(name);
        const isRead = reader.takeUp(name, this.#names.length, cell);
        (isRead ? this.#names : this.#leftOut).push(name);
      }
    }
    const cells = this.#names.map((name) => lines.map(({ fields }) => fields.get(name)));
    const placeOf = (row: number) => ({ line: lines[row]!.number, text: lines[row]!.text });
    reader.take(cells, lines.length, placeOf, this.#onChunk);
    this.#lastLine = lines.at(-1)?.number ?? this.#lastLine;
    if (this.#usualFields < this.#known.size) this.#usual = UsualRows.of([...this.#names, ...this.#leftOut], reader);
    this.#usualFields = this.#known.size;
    return reader;
  }

  /** Finds out from the first lines what the fields are. */
  #open(lines: readonly Line[], isWhole: boolean): TableReader {
    for (const { fields } of lines) for (const name of fields.keys()) this.#known.add(name);
    this.#names = [...this.#known];
    const facts = this.#names.map((name) => {
      const texts = lines.map(({ fields }) => textOf(fields.get(name)));
      return factsOf(name, texts);
    });
    try {
      return new TableReader(facts, { ...this.#options, areLines: true }, isWhole || lines.length >= SAMPLE_LINES);
    } catch (error) {
      const [first] = lines;
      const around = lines.length === 1 ? nameOfRows(first!.fields) : undefined;
      // A file whose columns are known may still leave open how to read them.
      const hasColumns = error instanceof WindrowError && error.code === 'csv.unclear';
      if (around === undefined || hasColumns) throw error;
      const [file, name] = [this.#options.fileName, describeValue(around)];
      throw new WindrowError(
        'file.format',
        `${file}: expected an array of JSON objects, or one in each line; received an object with the array in ` +
          `${name}; take it out, as jq '.[${name}]' ${file} does`,
        { cause: error },
      );
    }
  }
}

/** The field that holds an array of objects, if there is one, as around the rows in the answer of a service. */
function nameOfRows(fields: ReadonlyMap<string, unknown>): string | undefined {
  return [...fields].find(([, value]) => Array.isArray(value) && value[0] === Object(value[0]))?.[0];
}

/** The fields of a line, or what is wrong with it. */
function fieldsOf(text: string): ReadonlyMap<string, unknown> | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) {
    return `expected a JSON object, received ${describeValue(text)}${whyNoJson(text)}`;
  }
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const repeated = countKeys(text) === fields.size ? undefined : findRepeatedKey(text);
  if (repeated !== undefined) {
    return `expected each key of an object once, received ${describeValue(repeated.key)} twice`;
  }
  for (const [name, value] of fields) {
    // JSON has no infinite numbers: one too large for a double becomes one.
    if (value !== Number.POSITIVE_INFINITY && value !== Number.NEGATIVE_INFINITY) continue;
    return `the number of ${describeValue(name)} is beyond the range of a double; expected null for a missing value`;
  }
  return fields;
}

/** Where a line is not JSON, after the words that say so; '' for one that is. */
function whyNoJson(text: string): string {
  if (text.startsWith('{') && !text.endsWith('}')) {
    return ', which does not end; where it goes on in the next line, jq -c . FILE puts each into one';
  }
  const fault = findJsonFault(text);
  if (fault === undefined) return '';
  const mend = fault.suggestion === undefined ? '' : `; ${fault.suggestion}`;
  return `; column ${fault.offset + 1}: expected ${fault.expected}, received ${fault.received}${mend}`;
}

const BUFFER_LENGTH = 16_384;

function createWriter(onBytes: (bytes: Uint8Array) => void): FormatWriter {
  const encoder = new TextEncoder();
  let text = '';
  const flush = (): void => {
    if (text !== '') onBytes(encoder.encode(text));
    text = '';
  };
  function write({ timeseriesId, metric, timeMs, value }: Series): void {
    const names = `","timeseriesId":${JSON.stringify(timeseriesId)},"metric":${JSON.stringify(metric)},"value":`;
    for (let row = 0; row < timeMs.length; row++) {
      text += `{"timestamp":"${formatInstant(timeMs[row]!)}${names}${jsonNumber(value[row]!)}}\n`;
      if (text.length >= BUFFER_LENGTH) flush();
    }
  }
  return { write, end: flush };
}
