import { ServiceError } from '../../http/errors.js';
import { COLUMNS_TYPE, CSV_TYPE, NDJSON_TYPE } from '../../http/media-types.js';
import { WholeBody } from '../../http/whole-body.js';
import { bodyError, type StreamedBody } from './bodies.js';

/** Reads a whole body, for formats that are stored at once. The caller releases it. No promise if all of it is here. */
export function readWhole(body: StreamedBody, wholeBytesMax: number): WholeBody | Promise<WholeBody> {
  const whole = new WholeBody();
  const bytesMax = Math.min(wholeBytesMax, body.bytesMax);
  const all = body.takeWhole();
  if (all === null) return readParts(body, whole, bytesMax);
  if (all.length > bytesMax) throw tooLarge(bytesMax);
  whole.add(all);
  return whole;
}

function tooLarge(bytesMax: number): ServiceError {
  const hint = `send it in parts, or as ${NDJSON_TYPE}, ${CSV_TYPE} or ${COLUMNS_TYPE}, which are not held in memory`;
  return new ServiceError(413, `a JSON body may have at most ${bytesMax} bytes; ${hint}`);
}

// By events, as iterating a stream costs more.
function readParts(body: StreamedBody, whole: WholeBody, bytesMax: number): Promise<WholeBody> {
  const { stream } = body;
  return new Promise((resolve, reject) => {
    if (stream.errored !== null) {
      body.abandon();
      reject(bodyError(stream.errored));
      return;
    }
    const refuse = (error: unknown): void => {
      stream.removeAllListeners('data');
      whole.release();
      body.abandon();
      reject(bodyError(error));
    };
    stream.on('data', (part: Buffer) => {
      try {
        if (whole.byteCount + part.length > bytesMax) throw tooLarge(bytesMax);
        whole.add(part);
      } catch (error) {
        refuse(error);
      }
    });
    stream.on('end', () => body.checkEnd().then(() => resolve(whole), refuse));
    stream.on('error', refuse);
  });
}
