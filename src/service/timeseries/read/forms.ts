import { formatInstant } from '../../../core/instant.js';
import type { Series } from '../../../core/series.js';
import {
  createDayPrefix,
  NUMBER_LENGTH_MAX,
  putNumber,
  putText,
  putTime,
  TIME_LENGTH_MAX,
} from '../../../formats/csv/write/put.js';
import { createCsvWriter, csvHeader } from '../../../formats/csv/write/writer.js';
import { COLUMNS_TYPE, CSV_TYPE, NDJSON_TYPE } from '../../http/media-types.js';
import { writeFrame } from '../columns-format.js';

/** Writes the samples of one series in a form, without what precedes the first and follows the last. */
export type WriteSamples = (series: Series) => Uint8Array;

export interface StreamedForm {
  readonly contentType: string;
  /** The start of the body. */
  readonly head: string;
  /** How many samples are written at a time. Small parts of text are soon freed, and few wait for a slow caller. */
  readonly partSamples: number;
  /** The time that a sample takes beside one of text: next to none to copy one. */
  readonly workPerSample: number;
  createWriter(): WriteSamples;
}

export const TEXT_SAMPLES = 2048;
const text = { partSamples: TEXT_SAMPLES, workPerSample: 1 };
const columns = { partSamples: 65_536, workPerSample: 0 };

export const streamedForms: readonly StreamedForm[] = [
  { contentType: CSV_TYPE, head: csvHeader, ...text, createWriter: csvSamples },
  { contentType: NDJSON_TYPE, head: '', ...text, createWriter: () => jsonObjects('\n') },
  { contentType: COLUMNS_TYPE, head: '', ...columns, createWriter: () => writeFrame },
];

function csvSamples(): WriteSamples {
  return (series) => {
    const parts: Uint8Array[] = [];
    const writer = createCsvWriter((bytes) => parts.push(bytes.slice()), { hasHeader: false });
    writer.write(series);
    writer.flush();
    return Buffer.concat(parts);
  };
}

/** Objects `{timeseriesId, metric, timestamp, val}`, each followed by `separator`. */
export function jsonObjects(separator: string): WriteSamples {
  const day = createDayPrefix();
  const middle = encoder.encode('","val":');
  const tail = encoder.encode(`}${separator}`);
  return ({ timeseriesId, metric, timeMs, value }) => {
    const names = `{"timeseriesId":${JSON.stringify(timeseriesId)},"metric":${JSON.stringify(metric)},"timestamp":"`;
    const head = encoder.encode(names);
    const afterTimeLength = middle.length + NUMBER_LENGTH_MAX + tail.length;
    const rowLength = head.length + TIME_LENGTH_MAX + afterTimeLength;
    // Uninitialised: only written bytes are returned.
    let bytes = Buffer.allocUnsafe(rowLength * timeMs.length);
    let at = 0;
    for (let row = 0; row < timeMs.length; row++) {
      at = putBytes(bytes, at, head);
      const afterTime = putTime(bytes, at, timeMs[row]!, day);
      if (afterTime >= 0) at = afterTime;
      else {
        // A time near 1970 may have hundreds of digits.
        const text = formatInstant(timeMs[row]!);
        bytes = withRoom(bytes, at + text.length + afterTimeLength + rowLength * (timeMs.length - row - 1));
        at = putText(bytes, at, text);
      }
      at = putBytes(bytes, at, middle);
      at = putNumber(bytes, at, value[row]!);
      at = putBytes(bytes, at, tail);
    }
    return bytes.subarray(0, at);
  };
}

function withRoom(bytes: Buffer<ArrayBuffer>, length: number): Buffer<ArrayBuffer> {
  if (length <= bytes.length) return bytes;
  const larger = Buffer.allocUnsafe(Math.max(length, 2 * bytes.length));
  larger.set(bytes);
  return larger;
}

function putBytes(bytes: Uint8Array, at: number, part: Uint8Array): number {
  for (let i = 0; i < part.length; i++) bytes[at + i] = part[i]!;
  return at + part.length;
}

const encoder = new TextEncoder();
