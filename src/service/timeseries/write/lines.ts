import { LINE_FEED } from '../../../formats/csv/bytes.js';
import { ServiceError } from '../../http/errors.js';
import { decodeBody, partsOf, type StreamedBody } from './bodies.js';
import { readJsonLine } from './json.js';
import { createScan, SCAN_PADDING, scanJsonLine } from './scan-json.js';
import type { Ingest, Sink } from './sink.js';

const LINE_BYTES_MAX = 65_536;

/** Takes a sample a line (NDJSON): from the bytes where it is of the usual form, else in the general way. */
export async function takeLines({ defaults }: Ingest, body: StreamedBody, sink: Sink): Promise<void> {
  const { batch, issues, flushWhenFull } = sink;
  let line = 0;
  let rest: Uint8Array = new Uint8Array(0);
  let scan = createScan(defaults);

  const takeWhole = (bytes: Uint8Array, end: number): void => {
    scan.bytes = bytes;
    scan.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let from = 0; from < end; ) {
      const to = bytes.indexOf(LINE_FEED, from);
      line++;
      if (to - from > LINE_BYTES_MAX) throw tooLong(line);
      if (!scanJsonLine(scan, batch, from, to)) {
        const text = decodeBody(bytes.subarray(from, to), `line ${line}`);
        if (text.trim() !== '') readJsonLine(text, line, batch, issues, defaults);
      }
      from = to + 1;
    }
  };

  for await (const part of partsOf(body)) {
    const end = part.lastIndexOf(LINE_FEED) + 1;
    if (end === 0) {
      rest = joined(rest, part, 0);
      if (rest.length > LINE_BYTES_MAX) throw tooLong(line + 1);
      continue;
    }
    takeWhole(joined(rest, part.subarray(0, end), SCAN_PADDING), rest.length + end);
    rest = part.slice(end);
    const { rowCount } = batch;
    await flushWhenFull();
    // What was stored took the indexes of its series along.
    if (batch.rowCount < rowCount) scan = createScan(defaults);
  }
  takeWhole(joined(rest, new Uint8Array(0), SCAN_PADDING), rest.length);
}

function tooLong(line: number): ServiceError {
  return new ServiceError(400, `line ${line} has more than ${LINE_BYTES_MAX} bytes; expected a sample`);
}

// With `padding` line feeds behind.
function joined(a: Uint8Array, b: Uint8Array, padding: number): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length + padding);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes.fill(LINE_FEED, a.length + b.length);
}
