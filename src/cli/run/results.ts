import { formatInstant } from '../../core/instant.js';
import { type Series, type SeriesReference, seriesKey } from '../../core/series.js';
import { type CsvWriter, createCsvWriter, csvHeader, type RejectedRow } from '../../formats/csv/index.js';
import type { Target } from '../files/target.js';
import { Spool, type TempFiles } from '../files/temp-files.js';
import type { Io } from '../terminal/io.js';

/** The memory limit for all spools together. */
const MEMORY_BYTES = 8 << 20;

/** Writes the results of a run in order of series, although they arrive in order of time. */
export class Results {
  /** The number of samples of each result so far, in the order of the request. */
  readonly sampleCounts: number[];
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #target: Target;
  readonly #spools: readonly Spool[];
  #writers: CsvWriter[];

  /** @param outputs the results in the order of the request. */
  constructor(outputs: readonly SeriesReference[], target: Target, io: Io, temps: TempFiles) {
    // If the output is a file, the first result is written directly; the others wait for it to end.
    const waiting = target.append === undefined ? outputs : outputs.slice(1);
    const memoryBytes = Math.floor(MEMORY_BYTES / Math.max(1, waiting.length));
    this.sampleCounts = outputs.map(() => 0);
    this.#indexOf = new Map(outputs.map((output, index) => [seriesKey(output), index]));
    this.#target = target;
    this.#spools = waiting.map(() => new Spool(io, temps, memoryBytes, target.beside));
    this.#writers = this.#openWriters();
  }

  add(series: readonly Series[]): void {
    for (const one of series) {
      const index = this.#indexOf.get(seriesKey(one));
      const writer = this.#writers[index ?? -1];
      if (index === undefined || writer === undefined) throw new Error('assertion failed: a result nobody asked for');
      writer.write(one);
      this.sampleCounts[index] = (this.sampleCounts[index] ?? 0) + one.timeMs.length;
    }
  }

  /** Discards everything that was added. */
  reset(): void {
    this.#target.reset();
    for (const spool of this.#spools) spool.reset();
    this.#writers = this.#openWriters();
    this.sampleCounts.fill(0);
  }

  /** Writes the rest of the output; `keep` of the target makes it appear. */
  async finish(): Promise<void> {
    for (const writer of this.#writers) writer.flush();
    if (this.#target.append === undefined) await this.#target.write(new TextEncoder().encode(csvHeader));
    for (const spool of this.#spools) {
      for (const piece of spool.pieces()) await this.#target.write(piece);
      spool.reset();
    }
  }

  #openWriters(): CsvWriter[] {
    const { append } = this.#target;
    const waiting = this.#spools.map((spool) => createCsvWriter(spool.write, { hasHeader: false }));
    return append === undefined ? waiting : [createCsvWriter(append), ...waiting];
  }
}

const REJECTS_HEADER = 'file,line,reason,row\n';
const FLUSH_LENGTH = 1 << 16;

/** The CSV file of skipped rows and late samples: file and line, the reason, and the row. */
export class Rejects {
  readonly #target: Target;
  #text = REJECTS_HEADER;

  constructor(target: Target) {
    this.#target = target;
  }

  addRow({ file, line, column, text, reason, row }: RejectedRow): void {
    const place = column === undefined ? '' : `column ${column.number} (${column.name}): `;
    this.#add([file, String(line), `${place}${JSON.stringify(text)} ${reason}`, row]);
  }

  /** Adds samples later than the stream allows. */
  addLate(file: string, late: readonly Series[]): void {
    for (const { timeseriesId, metric, timeMs, value } of late) {
      for (const [index, time] of timeMs.entries()) {
        const row = [formatInstant(time), timeseriesId, metric, String(value[index])].map(quoted).join(',');
        this.#add([file, '', 'came later than the allowed lateness', row]);
      }
    }
  }

  reset(): void {
    this.#target.reset();
    this.#text = REJECTS_HEADER;
  }

  finish(): Promise<void> {
    return this.#target.write(new TextEncoder().encode(this.#text));
  }

  #add(fields: readonly string[]): void {
    this.#text += `${fields.map(quoted).join(',')}\n`;
    const { append } = this.#target;
    // A pipe or a device takes everything at the end.
    if (append === undefined || this.#text.length < FLUSH_LENGTH) return;
    append(new TextEncoder().encode(this.#text));
    this.#text = '';
  }
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
