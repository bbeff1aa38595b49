import { closeSync, openSync, readSync, statSync } from 'node:fs';

/**
 * Threads of a run when nobody says how many. Each costs a third more processor time, and what it wins of the clock
 * depends on cores that nobody else uses: that is for the caller to say.
 */
export const THREADS_USUAL = 1;

/** Bytes of input that are worth the start of a thread. */
export const BYTES_PER_THREAD = 16 << 20;

export const THREADS_MAX = 256;

/** Rows of a time and a number are read so fast that the plan, which no other thread can run, is most of the work. */
const PAIR_SHARE = 1 / 8;
const FIRST_BYTES = 4096;

const processFiles = { closeSync, openSync, readSync, statSync };
type Files = Readonly<typeof processFiles>;

/** The bytes of a file, fewer where its rows are no great work to share; 0 where it cannot be read. */
function bytesToShare(path: string, fs: Files = processFiles): number {
  let sizeBytes = 0;
  let count = 0;
  const first = new Uint8Array(FIRST_BYTES);
  try {
    const stats = fs.statSync(path);
    if (stats?.isFile() !== true || /\.gz$/i.test(path)) return 0;
    sizeBytes = stats.size;
    const descriptor = fs.openSync(path, 'r');
    count = fs.readSync(descriptor, first, 0, first.length, 0);
    fs.closeSync(descriptor);
  } catch {
    return 0; // what is wrong with it is told when it is read
  }
  const [header = ''] = String.fromCharCode(...first.subarray(0, count))
    .trimStart()
    .split('\n');
  return header.split(/[,;\t]/).length === 2 ? sizeBytes * PAIR_SHARE : sizeBytes;
}

/** How many threads beside the main one a run over these files is worth. */
export function helpersFor(
  paths: readonly string[],
  threads: number,
  bytesEach = BYTES_PER_THREAD,
  fs?: Files,
): number {
  const byteCount = paths.reduce((sum, path) => sum + bytesToShare(path, fs), 0);
  return Math.max(0, Math.min(threads, Math.floor(byteCount / bytesEach)) - 1);
}
