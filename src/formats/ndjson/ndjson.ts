import { describeValue, WindrowError } from '../../core/errors.js';
import { formatInstant } from '../../core/instant.js';
import { jsonNumber } from '../../core/json-number.js';
import type { Series } from '../../core/series.js';
import type { Format, FormatListener, FormatOptions, FormatSource, FormatWriter } from '../format.js';
import { countKeys, findRepeatedKey } from '../json-keys.js';
import { BadLines, type TextLine } from '../lines.js';
import { factsOf } from '../table/facts.js';
import { TableReader, textOf } from '../table/table-reader.js';
import { jsonValues } from './json-values.js';

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

interface Line extends TextLine {
  readonly fields: ReadonlyMap<string, unknown>;
}

async function readNdjson(
  source: FormatSource,
  options: FormatOptions,
  { onChunk, isStopped }: FormatListener,
): ReturnType<Format['read']> {
  let reader: TableReader | undefined;
  const badLines = new BadLines(options);
  const known = new Set<string>();
  let names: string[] = [];
  let waiting: Line[] = [];
  const takeWaiting = (isWhole: boolean): void => {
    if (reader === undefined) {
      for (const { fields } of waiting) for (const name of fields.keys()) known.add(name);
      names = [...known];
      const facts = names.map((name) =>
        factsOf(
          name,
          waiting.map(({ fields }) => textOf(fields.get(name))),
        ),
      );
      reader = new TableReader(facts, { ...options, areLines: true }, isWhole || waiting.length >= SAMPLE_LINES);
    }
    const lines = waiting;
    waiting = [];
    for (const { fields } of lines) {
      for (const [name, cell] of fields) {
        if (known.has(name)) continue;
        known.add(name);
        if (reader.takeUp(name, names.length, cell)) names.push(name);
      }
    }
    const cells = names.map((name) => lines.map(({ fields }) => fields.get(name)));
    reader.take(cells, lines.length, (row) => ({ line: lines[row]!.number, text: lines[row]!.text }), onChunk);
  };
  for await (const line of jsonValues(source)) {
    if (line.text.trim() === '') continue;
    const fields = fieldsOf(line.text);
    if (typeof fields === 'string') badLines.take(line, fields);
    else waiting.push({ ...line, fields });
    if (waiting.length >= SAMPLE_LINES) takeWaiting(false);
    if (isStopped()) return undefined;
  }
  if (reader === undefined && waiting.length === 0) {
    const told = badLines.count === 0 ? 'the file is empty' : 'no line can be read';
    throw new WindrowError('file.format', `${source.name}: ${told}; expected a JSON object in each line`);
  }
  takeWaiting(true);
  return isStopped() || reader === undefined ? undefined : badLines.countedIn((reader as TableReader).summary());
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
    return `expected a JSON object, received ${describeValue(text)}`;
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
