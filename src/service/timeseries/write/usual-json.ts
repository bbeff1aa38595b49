import { RAW_METRIC } from '../../../formats/table/naming.js';
import { addSample, knownSeries, type SampleBatch, seriesIndexOf } from './batch.js';
import { nameProblem, type SampleDefaults } from './json.js';

/**
 * Reads a body of samples as nearly all are written: an array of objects with a name, a time and a number, in any
 * order, no text with an escape, times like `2024-01-31T12:00:00.000Z`. Read so, 10,000 samples take half as long as
 * by JSON.parse, and leave no objects behind. What is written otherwise is left to the reader of JSON, which also
 * tells of all faults; so nothing is taken here that it would refuse, or read as something else.
 */
export class UsualSamples {
  readonly #text: string;
  readonly #defaults: SampleDefaults;
  #at = 0;
  #state: 'reading' | 'done' | 'unusual' = 'reading';
  // Of the last text or number that was read.
  #number = 0;
  #metric = RAW_METRIC;
  #day = 0;
  #dayMs = 0;

  constructor(text: string, defaults: SampleDefaults) {
    this.#text = text;
    this.#defaults = defaults;
    this.#space();
    if (!this.#takes(OPEN_BRACKET)) this.#state = 'unusual';
  }

  /** 'unusual' where the body, of which some may have been taken by then, is none of these. */
  get state(): 'reading' | 'done' | 'unusual' {
    return this.#state;
  }

  /** Adds the next samples, at most so many. */
  read(batch: SampleBatch, countMax: number): void {
    for (let count = 0; count < countMax && this.#state === 'reading'; count++) {
      if (!this.#sample(batch)) this.#state = 'unusual';
      else if (this.#takes(CLOSE_BRACKET)) this.#state = this.#at === this.#text.length ? 'done' : 'unusual';
      else if (!this.#takes(COMMA)) this.#state = 'unusual';
    }
  }

  #sample(batch: SampleBatch): boolean {
    const { timeseriesId: fixedId, metric: fixedMetric } = this.#defaults;
    let [timeseriesId, metric] = [fixedId, fixedMetric ?? RAW_METRIC];
    let [timeMs, value] = [Number.NaN, Number.NaN];
    if (!this.#takes(OPEN_BRACE)) return false;
    for (let seen = 0; ; ) {
      const field = this.#key();
      // A key that comes twice, too.
      if (field === 0 || (seen & field) !== 0) return false;
      seen |= field;
      if (field === ID) timeseriesId = this.#name('');
      else if (field === METRIC) metric = this.#metric = this.#name(this.#metric) ?? '';
      else if (field === TIME && this.#time()) timeMs = this.#number;
      else if (field === VALUE && this.#value()) value = this.#number;
      if (this.#takes(COMMA)) continue;
      if (!this.#takes(CLOSE_BRACE)) return false;
      break;
    }
    // A time or a value that is missing, or was not read, is no number.
    if (timeseriesId === undefined || Number.isNaN(timeMs) || Number.isNaN(value)) return false;
    if (fixedId !== undefined && timeseriesId !== fixedId) return false;
    if (fixedMetric !== undefined && metric !== fixedMetric) return false;
    const series = knownSeries(batch, timeseriesId, metric) ?? addSeries(batch, timeseriesId, metric);
    if (series === undefined) return false;
    addSample(batch, series, timeMs, value);
    return true;
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== SPACE && code !== NEWLINE && code !== RETURN && code !== TAB) return;
      this.#at++;
    }
  }

  /** Goes on behind a character, and space, where it stands here. */
  #takes(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at++;
    this.#space();
    return true;
  }

  /** The field whose key, and colon, stands here; 0 where there is none. */
  #key(): number {
    for (const { key, field } of KEYS) {
      if (!this.#text.startsWith(key, this.#at)) continue;
      this.#at += key.length;
      this.#space();
      return this.#takes(COLON) ? field : 0;
    }
    return 0;
  }

  /** The text that stands here, which is likely to be this one. */
  #name(likely: string): string | undefined {
    const text = this.#text;
    if (text.charCodeAt(this.#at) !== QUOTE) return undefined;
    const start = this.#at + 1;
    let end = start + likely.length;
    const isLikely = likely !== '' && text.startsWith(likely, start) && text.charCodeAt(end) === QUOTE;
    if (!isLikely) {
      for (end = start; ; end++) {
        const code = text.charCodeAt(end);
        if (code === QUOTE) break;
        // Of the end of the text it is NaN.
        if (!(code >= SPACE) || code === BACKSLASH) return undefined;
      }
    }
    this.#at = end + 1;
    this.#space();
    return isLikely ? likely : text.slice(start, end);
  }

  /** `"2024-01-31T12:00:00Z"`, with milliseconds or without. */
  #time(): boolean {
    const text = this.#text;
    const at = this.#at;
    const hasMs = text.charCodeAt(at + 20) === DOT;
    const length = hasMs ? 26 : 22;
    const end = at + length - 2;
    if (text.charCodeAt(at) !== QUOTE || text.charCodeAt(end) !== ZULU || text.charCodeAt(end + 1) !== QUOTE)
      return false;
    if (text.charCodeAt(at + 5) !== DASH || text.charCodeAt(at + 8) !== DASH || text.charCodeAt(at + 11) !== TEE)
      return false;
    if (text.charCodeAt(at + 14) !== COLON || text.charCodeAt(at + 17) !== COLON) return false;
    const year = 100 * this.#pair(at + 1) + this.#pair(at + 3);
    const day = 10_000 * year + 100 * this.#pair(at + 6) + this.#pair(at + 9);
    const [hour, minute, second] = [this.#pair(at + 12), this.#pair(at + 15), this.#pair(at + 18)];
    const ms = hasMs ? 10 * this.#pair(at + 21) + this.#digit(at + 23) : 0;
    // What is no digit makes all of it no number.
    if (!(hour < 24 && minute < 60 && second < 60 && ms >= 0) || (day !== this.#day && !this.#setDay(day)))
      return false;
    this.#number = this.#dayMs + 3_600_000 * hour + 60_000 * minute + 1000 * second + ms;
    this.#at += length;
    this.#space();
    return true;
  }

  #setDay(day: number): boolean {
    const [year, month, dayOfMonth] = [Math.floor(day / 10_000), Math.floor(day / 100) % 100, day % 100];
    const date = new Date(Date.UTC(year, month - 1, dayOfMonth));
    // Years before 100 Date takes for others; days that a month does not have it counts on.
    if (!(year >= 100) || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== dayOfMonth) return false;
    this.#day = day;
    this.#dayMs = date.getTime();
    return true;
  }

  #pair(at: number): number {
    return 10 * this.#digit(at) + this.#digit(at + 1);
  }

  #digit(at: number): number {
    const digit = this.#text.charCodeAt(at) - ZERO;
    return digit >= 0 && digit <= 9 ? digit : Number.NaN;
  }

  /** A number of JSON. */
  #value(): boolean {
    if (this.#decimal()) return true;
    NUMBER.lastIndex = this.#at;
    if (!NUMBER.test(this.#text)) return false;
    const value = Number(this.#text.slice(this.#at, NUMBER.lastIndex));
    if (!Number.isFinite(value)) return false;
    this.#number = value;
    this.#at = NUMBER.lastIndex;
    this.#space();
    return true;
  }

  /**
   * A number of few digits: they and the power of ten are doubles, so their quotient is the double nearest to what is
   * written (Clinger, "How to Read Floating Point Numbers Accurately", 1990).
   */
  #decimal(): boolean {
    const text = this.#text;
    const isNegative = text.charCodeAt(this.#at) === DASH;
    const start = isNegative ? this.#at + 1 : this.#at;
    let [digits, at, point] = [0, start, -1];
    for (; at <= start + DIGITS_MAX; at++) {
      const code = text.charCodeAt(at);
      if (code >= ZERO && code <= NINE) digits = 10 * digits + (code - ZERO);
      else if (code === DOT && point < 0) point = at;
      else break;
    }
    const code = text.charCodeAt(at);
    const wholeCount = (point < 0 ? at : point) - start;
    const isLed = wholeCount > 1 && text.charCodeAt(start) === ZERO;
    const isWhole = wholeCount > 0 && !isLed && at - 1 !== point;
    // More digits, or an exponent: the other way.
    if (!isWhole || (code !== COMMA && code !== CLOSE_BRACE && code !== SPACE && code !== NEWLINE)) return false;
    const value = point < 0 ? digits : digits / POWERS[at - 1 - point]!;
    this.#number = isNegative ? -value : value;
    this.#at = at;
    this.#space();
    return true;
  }
}

const POWERS = Array.from({ length: 20 }, (_, exponent) => Number(`1e${exponent}`));
/** All whole numbers of so many digits are doubles. */
const DIGITS_MAX = 15;

function addSeries(batch: SampleBatch, timeseriesId: string, metric: string): number | undefined {
  if (nameProblem(timeseriesId) !== undefined || nameProblem(metric) !== undefined) return undefined;
  // Copies: parts of a text keep all of it in memory, and names are kept for long.
  return seriesIndexOf(batch, copyOf(timeseriesId), copyOf(metric));
}

function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const [ID, METRIC, TIME, VALUE] = [1, 2, 4, 8];
const KEYS = [
  { key: '"timeseriesId"', field: ID },
  { key: '"metric"', field: METRIC },
  { key: '"timestamp"', field: TIME },
  { key: '"val"', field: VALUE },
];

const [TAB, NEWLINE, RETURN, SPACE, QUOTE, COMMA, DASH, DOT] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x2d, 0x2e];
const [ZERO, NINE, COLON, TEE, ZULU, OPEN_BRACKET, BACKSLASH, CLOSE_BRACKET] = [
  0x30, 0x39, 0x3a, 0x54, 0x5a, 0x5b, 0x5c, 0x5d,
];
const [OPEN_BRACE, CLOSE_BRACE] = [0x7b, 0x7d];
