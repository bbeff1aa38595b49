import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Gunzip } from 'node:zlib';

/** The code of gunzip's error where a member comes behind zeros, unless its end was read before. */
export const AFTER_END = 'ERR_STREAM_PUSH_AFTER_EOF';
export const BEHIND_ZEROS = 'more follows behind zeros, which only the end may have';

/**
 * Follows packed bytes on their way to Node's gunzip. That takes a zero behind a member for the end, and drops whatever
 * comes behind it in silence, members too. To be called before bytes flow.
 *
 * @returns to be called at the end of what is unpacked: waits for the end of the packed bytes, and tells whether all of
 * them were read, except zeros at the end.
 */
export function followPacked(packed: Readable, gunzip: Gunzip): () => Promise<boolean> {
  let byteCount = 0;
  let countWithoutZeros = 0;
  packed.on('data', (part: Uint8Array) => {
    let end = part.length;
    while (end > 0 && part[end - 1] === 0) end--;
    if (end > 0) countWithoutZeros = byteCount + end;
    byteCount += part.length;
  });
  return async () => {
    const { bytesWritten } = gunzip;
    if (!packed.readableEnded) {
      // What is left is not for gunzip, which may be closed by now and would then hold it up.
      packed.unpipe(gunzip);
      packed.resume();
      await finished(packed, { writable: false });
    }
    // A reader of what is unpacked aborts gunzip at its end, where zeros are still to come.
    const { errored } = gunzip;
    const isRefused = errored !== null && 'code' in errored && errored.code === AFTER_END;
    return !isRefused && countWithoutZeros <= bytesWritten;
  };
}
