import type { CsvSummary } from '../csv/options.js';
import type { Format, FormatListener, FormatOptions, FormatSource } from '../format.js';
import { BadLines, type LineRange, lineRanges, textOfRange } from '../lines.js';
import { factsOf } from '../table/facts.js';
import { TableReader } from '../table/table-reader.js';
import { parsePoint, unitFault } from './point.js';
import { UsualLines } from './usual-lines.js';

/**
 * The line protocol of InfluxDB: `weather,location=office temperature=21.5,humidity=48i 1704067200000000000`. A series
 * is a measurement with its tags, sorted by name; a metric is a field. Times are epoch nanoseconds unless `timeFormat`
 * says otherwise; texts are left out, which the notes say, but for those that `states` have a number for.
 */
export const lineProtocol: Format = { name: 'line-protocol', extensions: ['lp'], read: readLines };

const COLUMNS = ['_time', '_series', '_field', '_value'];

async function readLines(
  source: FormatSource,
  options: FormatOptions,
  { onChunk, isStopped }: FormatListener,
): ReturnType<Format['read']> {
  const lines = new Lines(options, onChunk);
  for await (const { bytes, lines: ranges } of lineRanges(source)) {
    for (const range of ranges) {
      lines.take(bytes, range);
      if (isStopped()) return undefined;
    }
  }
  const summary = lines.end();
  return isStopped() ? undefined : summary;
}

/** Takes the lines of a file in their order. */
class Lines {
  readonly #options: FormatOptions;
  readonly #onChunk: FormatListener['onChunk'];
  readonly #badLines: BadLines;
  readonly #reader: TableReader;
  readonly #usual: UsualLines | undefined;
  readonly #states: ReadonlySet<string>;
  /** Fields whose texts are left out. */
  readonly #texts = new Set<string>();
  readonly #known = new Map<string, string>();
  #lastLine = 0;

  constructor(options: FormatOptions, onChunk: FormatListener['onChunk']) {
    const { timeFormat = 'ns', states = {} } = options;
    this.#options = options;
    this.#onChunk = onChunk;
    this.#badLines = new BadLines(options);
    const columns = COLUMNS.map((name) => factsOf(name, []));
    const roles = { time: ['_time'], series: ['_series'], value: ['_value'] };
    this.#reader = new TableReader(columns, { ...options, ...roles, timeFormat, areLines: true }, true);
    this.#states = new Set(Object.keys(states).map((text) => text.toLowerCase()));
    this.#usual = UsualLines.of(options, this.#reader, this.#texts);
  }

  take(bytes: Uint8Array, range: LineRange): void {
    if (!this.#usual?.take(bytes, range)) this.#takeText(textOfRange(bytes, range, this.#options.fileName), range.line);
    this.#lastLine = range.line;
    if (this.#reader.isFull) this.#flush();
  }

  /** @returns what was read, once all lines are taken. */
  end(): CsvSummary {
    this.#flush();
    const summary = this.#badLines.countedIn(this.#reader.summary());
    if (this.#texts.size === 0) return summary;
    return { ...summary, notes: [...summary.notes, `texts left out: ${[...this.#texts].join(', ')}`] };
  }

  #flush(): void {
    this.#reader.flush((chunk) => this.#onChunk(chunk, this.#lastLine));
  }

  #takeText(given: string, line: number): void {
    const text = given.replace(/\r$/, '');
    if (/^\s*(?:#|$)/.test(text)) return;
    const parsed = parsePoint(text, this.#known);
    const isUnitGiven = this.#options.timeFormat !== undefined;
    const point = isUnitGiven || typeof parsed === 'string' ? parsed : (unitFault(parsed) ?? parsed);
    if (typeof point === 'string') {
      this.#badLines.take({ text, number: line }, point);
      return;
    }
    for (const [name, value] of point.fields) {
      const isText = typeof value === 'object';
      if (isText && !this.#states.has(value.text.trim().toLowerCase())) this.#texts.add(name);
      else {
        const cell = isText ? value.text : doubleOr(value);
        const cells = [[point.time], [point.series], [name], [cell]];
        this.#reader.take(cells, 1, () => ({ line, text }), this.#onChunk);
      }
    }
  }
}

/** The number that is written, or what is written where that is a boolean or beyond the range of a double. */
function doubleOr(written: string | boolean): number | string | boolean {
  if (typeof written === 'boolean') return written;
  const value = Number(written);
  return Number.isFinite(value) ? value : written;
}
