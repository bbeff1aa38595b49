import type { FileSystem } from '../terminal/io.js';

export const THREADS_MAX = 256;

/** Rows of a time and a number are read so fast that the plan, which only the main thread runs, dominates. */
const PAIR_SHARE = 1 / 8;
const FIRST_BYTES = 4096;

/** The bytes of a file, fewer if its rows are quick to read; 0 if it cannot be read. */
function bytesToShare(path: string, fs: FileSystem): number {
  let sizeBytes = 0;
  let count = 0;
  const first = new Uint8Array(FIRST_BYTES);
  try {
    const stats = fs.statSync(path);
    if (stats?.isFile() !== true) return 0;
    sizeBytes = stats.size;
    const descriptor = fs.openSync(path, 'r');
    count = fs.readSync(descriptor, first, 0, first.length, 0);
    fs.closeSync(descriptor);
  } catch {
    return 0; // the error is reported when the file is read
  }
  const [header = ''] = String.fromCharCode(...first.subarray(0, count))
    .trimStart()
    .split('\n');
  return header.split(/[,;\t]/).length === 2 ? sizeBytes * PAIR_SHARE : sizeBytes;
}

/** An input of a run. Threads share only regular ones; pipes and compressed files are read from start to end. */
interface Input {
  readonly path: string;
  readonly isRegular: boolean;
}

/** How many threads to use for reading these inputs. */
export function threadsFor(inputs: readonly Input[], most: number, bytesEach: number, fs: FileSystem): number {
  const regular = inputs.filter(({ isRegular }) => isRegular);
  const byteCount = regular.reduce((sum, { path }) => sum + bytesToShare(path, fs), 0);
  return Math.min(most, Math.floor(byteCount / bytesEach));
}
