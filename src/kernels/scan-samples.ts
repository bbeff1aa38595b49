import { samplesText } from './json-module.js';
import { PAGE_BYTES } from './memory-layout.js';
import { openModule } from './open-module.js';

interface SampleKernels {
  placeTables(table: number, slotCount: number, names: number, numbers: number): void;
  scanSamples(
    bytes: number,
    length: number,
    rowMax: number,
    between: number,
    isFirst: number,
    isLast: number,
    series: number,
    times: number,
    values: number,
  ): number;
  readonly samplesEnd: { readonly value: number };
  readonly samplesState: { readonly value: number };
  readonly nameCount: { readonly value: number };
  readonly numberCount: { readonly value: number };
}

const INPUT_BYTES = 262_144;
/** Zeros after the input, so that kernels may read past its end. */
const PAD_BYTES = 256;
/** The shortest sample has more than 32 bytes. */
const ROWS_MAX = INPUT_BYTES / 32;
const SLOT_COUNT = 2 * ROWS_MAX;
const [SLOT_BYTES, NAME_BYTES, NUMBER_BYTES] = [8, 32, 12];
/** After the constants of the module. */
const INPUT_FROM = 16_384;

/** What a call of `scan` read. The results lie in the scanner's columns until the next call. */
export interface ScannedSamples {
  readonly rowCount: number;
  /** How many of the bytes were read. */
  readonly end: number;
  /** Whether the samples continue after these bytes, have ended, or are written in another way from `end` on. */
  readonly state: 'more' | 'done' | 'unusual';
  readonly nameCount: number;
  readonly numberCount: number;
}

/** The buffer for bytes of samples, the columns for what they hold, and the call that reads them. */
export type SampleScanner = NonNullable<ReturnType<typeof openScanner>>;

let scanner: SampleScanner | undefined;

/**
 * The scanner, which all readers share: each takes the results of a call before the next one. Undefined without
 * WebAssembly SIMD.
 */
export function sampleScanner(): SampleScanner | undefined {
  scanner ??= openScanner();
  return scanner;
}

function openScanner() {
  if (typeof WebAssembly !== 'object') return undefined;
  let end = INPUT_FROM;
  const take = (length: number): number => {
    const from = end;
    end += length;
    return from;
  };
  const input = take(INPUT_BYTES + PAD_BYTES);
  const [times, values, series] = [take(8 * ROWS_MAX), take(8 * ROWS_MAX), take(4 * ROWS_MAX)];
  const [table, names, numbers] = [
    take(SLOT_BYTES * SLOT_COUNT),
    take(NAME_BYTES * ROWS_MAX),
    take(NUMBER_BYTES * ROWS_MAX),
  ];
  const pages = Math.ceil(end / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  // The interface above is the one that assembly/json.ts exports.
  const kernels = openModule(samplesText, memory) as SampleKernels | undefined;
  if (kernels === undefined) return undefined;
  kernels.placeTables(table, SLOT_COUNT, names, numbers);
  const { buffer } = memory;
  const bytes = new Uint8Array(buffer, input, INPUT_BYTES + PAD_BYTES);
  return {
    bytes,
    lengthMax: INPUT_BYTES,
    timeMs: new Float64Array(buffer, times, ROWS_MAX),
    value: new Float64Array(buffer, values, ROWS_MAX),
    /** Index into the names. */
    seriesIndex: new Int32Array(buffer, series, ROWS_MAX),
    /** Eight entries a name, of which four are used: place and length of its id and of its metric (−1 for none). */
    names: new Int32Array(buffer, names, (NAME_BYTES / 4) * ROWS_MAX),
    /** For each number left to the caller: its row, place and length. */
    numbers: new Int32Array(buffer, numbers, (NUMBER_BYTES / 4) * ROWS_MAX),
    /**
     * Reads the first `length` bytes: an array of samples, or one a line, as far as these have names without escapes,
     * times like `2024-01-31T12:00:00.000Z` or whole epoch milliseconds, and numbers or null, in any order, with space
     * anywhere and no key twice. It reads them as JSON.parse would. Numbers whose rounding is not certain are left to
     * the caller, and so are the names, which may not be valid UTF-8.
     *
     * @param between the byte between two samples: a comma, with brackets around all of them, or a line feed.
     */
    scan: (length: number, between: number, isFirst: boolean, isLast: boolean): ScannedSamples => {
      bytes.fill(0, length, length + PAD_BYTES);
      const [first, last] = [isFirst ? 1 : 0, isLast ? 1 : 0];
      const rowCount = kernels.scanSamples(input, length, ROWS_MAX, between, first, last, series, times, values);
      return {
        rowCount,
        end: kernels.samplesEnd.value,
        state: STATES[kernels.samplesState.value]!,
        nameCount: kernels.nameCount.value,
        numberCount: kernels.numberCount.value,
      };
    },
  };
}

const STATES = ['more', 'done', 'unusual'] as const;
