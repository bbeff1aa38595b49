import { isUtf8 } from 'node:buffer';
import { LINE_FEED } from '../../../formats/csv/bytes.js';
import { decodePart, withoutMark } from '../../http/bodies.js';
import { ServiceError } from '../../http/errors.js';
import { partsOf, type StreamedBody } from './bodies.js';
import { readJsonLine } from './json.js';
import type { Ingest, Sink } from './sink.js';
import { UsualSamples } from './usual-json.js';

const LINE_BYTES_MAX = 65_536;
/** Beyond these, and two for each sample, a body is refused as blank. */
const BLANK_LINES_MAX = 10_000;

/** Reads one sample per line (NDJSON). */
export async function takeLines({ defaults }: Ingest, body: StreamedBody, sink: Sink): Promise<void> {
  const { batch, issues } = sink;
  let line = 0;
  let blankCount = 0;
  let rest: Uint8Array = new Uint8Array(0);

  const takeWhole = (bytes: Uint8Array): void => {
    const usual = new UsualSamples([bytes], defaults, true);
    while (usual.state === 'more') usual.read(batch);
    line += usual.sampleCount;
    if (usual.state === 'done') return;
    for (const text of textLines(usual.rest(), line)) {
      line++;
      if (isTooLong(text)) throw tooLong(line);
      if (text === '' || text.trim() === '') {
        if (++blankCount <= BLANK_LINES_MAX + 2 * (line - blankCount)) continue;
        throw new ServiceError(400, `line ${line}: ${blankCount} lines so far are blank; expected samples`);
      }
      readJsonLine(text, line, batch, issues, defaults);
    }
  };

  for await (const part of partsOf(body)) {
    const end = part.lastIndexOf(LINE_FEED);
    if (end >= 0) takeWhole(Buffer.concat([rest, part.subarray(0, end)]));
    rest = end < 0 ? Buffer.concat([rest, part]) : part.slice(end + 1);
    if (rest.length > LINE_BYTES_MAX) throw tooLong(line + 1);
    await sink.flushWhenFull();
  }
  takeWhole(rest);
}

/** @param before how many lines of the body come before these. */
function* textLines(bytes: Uint8Array, before: number): Generator<string> {
  const lines = isUtf8(bytes) ? decodePart(bytes, 'the body').split('\n') : linesBeforeFault(bytes, before);
  let isFirst = before === 0;
  for (const text of lines) {
    yield isFirst ? withoutMark(text) : text;
    isFirst = false;
  }
}

// The lines before the faulty one are good.
function* linesBeforeFault(bytes: Uint8Array, before: number): Generator<string> {
  for (let from = 0, line = before + 1; ; line++) {
    const to = bytes.indexOf(LINE_FEED, from);
    yield decodePart(bytes.subarray(from, to < 0 ? bytes.length : to), `line ${line}`);
    if (to < 0) return;
    from = to + 1;
  }
}

function isTooLong(text: string): boolean {
  return 3 * text.length > LINE_BYTES_MAX && Buffer.byteLength(text) > LINE_BYTES_MAX;
}

function tooLong(line: number): ServiceError {
  return new ServiceError(400, `line ${line} has more than ${LINE_BYTES_MAX} bytes; expected a sample`);
}
