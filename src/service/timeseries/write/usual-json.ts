import { isAscii } from 'node:buffer';
import { RAW_METRIC } from '../../../formats/table/naming.js';
import { type SampleScanner, type ScannedSamples, sampleScanner } from '../../../kernels/scan-samples.js';
import { nameProblem } from '../names.js';
import { addRows, knownSeries, type SampleBatch, seriesIndexOf } from './batch.js';
import type { SampleDefaults } from './json.js';

const [COMMA, LINE_FEED] = [0x2c, 0x0a];
/** For at least this many names, decoding them at once is cheaper than one by one. */
const DECODED_ONCE_MIN = 8;
/** What `read` takes: a millisecond of work, or ten where each sample is of a new series and the code just loaded. */
const READ_BYTES_MAX = 131_072;
const NOTHING = new Uint8Array(0);
/** The replacement character, which stands for bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD';

/**
 * Reads a body of samples as nearly all are written: an array or lines of objects with a name, a time and a number, no
 * text with an escape, times like `2024-01-31T12:00:00.000Z`. WebAssembly reads these into columns: 10,000 samples take
 * a quarter of the time of JSON.parse alone, and no objects are left behind. Anything else is left to the reader of
 * JSON, which also reports all faults. So nothing is taken here that it would refuse, or read differently.
 */
export class UsualSamples {
  readonly #parts: readonly Uint8Array[];
  readonly #defaults: SampleDefaults;
  readonly #between: number;
  #part = 0;
  #at = 0;
  #isFirst = true;
  #sampleCount = 0;
  #state: ScannedSamples['state'] = 'more';

  /**
   * @param parts of the body, as they came.
   * @param areLines whether each line is a sample, instead of an array of samples.
   */
  constructor(parts: readonly Uint8Array[], defaults: SampleDefaults, areLines = false) {
    this.#parts = parts;
    this.#between = areLines ? LINE_FEED : COMMA;
    this.#defaults = defaults;
  }

  /** 'unusual' for a body in another form, of which some samples may have been taken. */
  get state(): ScannedSamples['state'] {
    return this.#state;
  }

  /** How many samples were taken so far; with lines, one from each. */
  get sampleCount(): number {
    return this.#sampleCount;
  }

  /** The bytes not read yet. */
  rest(): Buffer {
    const [first = NOTHING, ...others] = this.#parts.slice(this.#part);
    return Buffer.concat([first.subarray(this.#at), ...others]);
  }

  /** Adds the samples of the next hundred kilobytes or so. */
  read(batch: SampleBatch): void {
    this.#state = 'unusual';
    const scanner = sampleScanner();
    if (scanner === undefined) return;
    const { length, isLast } = this.#copyInto(scanner);
    const scanned = scanner.scan(length, this.#between, this.#isFirst, isLast);
    if (!takeScanned(scanner, length, scanned, batch, this.#defaults)) return;
    this.#skip(scanned.end);
    this.#sampleCount += scanned.rowCount;
    this.#isFirst = false;
    this.#state = scanned.state;
  }

  #copyInto(scanner: SampleScanner): { readonly length: number; readonly isLast: boolean } {
    const { bytes } = scanner;
    const lengthMax = Math.min(scanner.lengthMax, READ_BYTES_MAX);
    let length = 0;
    let [index, from] = [this.#part, this.#at];
    for (; index < this.#parts.length && length < lengthMax; index++) {
      const part = this.#parts[index]!;
      const until = Math.min(part.length, from + lengthMax - length);
      bytes.set(part.subarray(from, until), length);
      length += until - from;
      if (until < part.length) return { length, isLast: false };
      from = 0;
    }
    return { length, isLast: index === this.#parts.length };
  }

  #skip(count: number): void {
    this.#at += count;
    while (this.#part < this.#parts.length && this.#at >= this.#parts[this.#part]!.length) {
      this.#at -= this.#parts[this.#part++]!.length;
    }
  }
}

/** @returns false, with nothing taken, if a name or a number is invalid. */
function takeScanned(
  { timeMs, value, seriesIndex, names, numbers, bytes }: SampleScanner,
  length: number,
  { rowCount, nameCount, numberCount }: ScannedSamples,
  batch: SampleBatch,
  defaults: SampleDefaults,
): boolean {
  const texts = bufferOf(bytes);
  for (let n = 0; n < numberCount; n++) {
    const from = numbers[3 * n + 1]!;
    const number = Number(texts.toString('latin1', from, from + numbers[3 * n + 2]!));
    if (!Number.isFinite(number)) return false;
    value[numbers[3 * n]!] = number;
  }
  const { start, plain } = nameCount < DECODED_ONCE_MIN ? NOT_DECODED : decodeNames(texts, length, names, nameCount);
  const nameAt = (entry: number): string | undefined => {
    const [from, count] = [names[entry]!, names[entry + 1]!];
    if (count < 0) return undefined;
    return plain?.slice(from - start, from - start + count) ?? texts.toString('utf8', from, from + count);
  };
  const indexes: number[] = [];
  for (let n = 0; n < nameCount; n++) {
    const index = seriesOf(batch, nameAt(8 * n), nameAt(8 * n + 2), defaults);
    if (index === undefined) return false;
    indexes.push(index);
  }
  addRows(batch, indexes, seriesIndex, timeMs, value, rowCount);
  return true;
}

let scannerBuffer: Buffer = Buffer.alloc(0);

/** The scanner's bytes as a buffer, which decodes text; kept, as there are thousands of bodies a second. */
function bufferOf({ buffer: memory, byteOffset, byteLength }: Uint8Array): Buffer {
  if (scannerBuffer.buffer !== memory) scannerBuffer = Buffer.from(memory, byteOffset, byteLength);
  return scannerBuffer;
}

interface DecodedNames {
  /** Where in the bytes the text starts. */
  readonly start: number;
  readonly plain: string | undefined;
}

const NOT_DECODED: DecodedNames = { start: 0, plain: undefined };

/** The part of the text with all names, if it is ASCII. Each is told where it comes first, mostly near the start. */
function decodeNames(texts: Buffer, length: number, names: Int32Array, nameCount: number): DecodedNames {
  let [start, end] = [length, 0];
  for (let n = 0; n < nameCount; n++) {
    for (const entry of [8 * n, 8 * n + 2]) {
      const [from, count] = [names[entry]!, names[entry + 1]!];
      if (count < 0) continue;
      start = Math.min(start, from);
      end = Math.max(end, from + count);
    }
  }
  const part = texts.subarray(start, end);
  return { start, plain: isAscii(part) ? part.toString('latin1') : undefined };
}

function seriesOf(
  batch: SampleBatch,
  givenId: string | undefined,
  givenMetric: string | undefined,
  { timeseriesId: fixedId, metric: fixedMetric }: SampleDefaults,
): number | undefined {
  // Most likely bytes that are not UTF-8, which the reader of JSON tells from the character itself.
  if (givenId?.includes(REPLACEMENT) || givenMetric?.includes(REPLACEMENT)) return undefined;
  const timeseriesId = givenId ?? fixedId;
  const metric = givenMetric ?? fixedMetric ?? RAW_METRIC;
  if (timeseriesId === undefined || (fixedId !== undefined && timeseriesId !== fixedId)) return undefined;
  if (fixedMetric !== undefined && metric !== fixedMetric) return undefined;
  const known = knownSeries(batch, timeseriesId, metric);
  if (known !== undefined) return known;
  const isNamed = [timeseriesId, metric].every((name) => nameProblem(name) === undefined);
  return isNamed ? seriesIndexOf(batch, copyOf(timeseriesId), copyOf(metric)) : undefined;
}

/** A name that is kept; the slice of a text would keep the whole text. */
function copyOf(name: string): string {
  return Buffer.from(name).toString();
}
