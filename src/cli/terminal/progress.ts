import { unlessMissing } from '../failure.js';
import type { Io } from './io.js';

/** A bar on the terminal that shows how much has been read. */
export interface Progress {
  readonly add: (byteCount: number) => void;
  /** Starts again, for a second reading. */
  readonly restart: () => void;
  readonly stop: () => void;
}

// Shorter runs are over before anyone could read it.
const FIRST_SHOWN_MS = 400;
const MEGABYTE = 1e6;

/** @param totalBytes undefined where nobody knows: then only the bytes are counted. */
export function createProgress(totalBytes: number | undefined, io: Io): Progress {
  const stream = io.stderr.isTerminal ? io.stderr.stream : undefined;
  if (stream === undefined) return { add: () => {}, restart: () => {}, stop: () => {} };
  const startedMs = io.clock();
  let readBytes = 0;
  let isStopped = false;
  let isAskedFor = false;
  let bar: import('cli-progress').SingleBar | undefined;

  async function show(): Promise<void> {
    const loaded = await import('cli-progress').catch(unlessMissing);
    if (loaded === undefined || isStopped) return;
    const { SingleBar } = loaded.default ?? loaded;
    const format =
      totalBytes === undefined ? '{value} MB read' : '{bar} {percentage}% of {total} MB, {eta_formatted} left';
    bar = new SingleBar({ stream, format, hideCursor: true, clearOnComplete: true, barsize: 30, fps: 8 });
    bar.start(megabytes(totalBytes ?? 0), megabytes(readBytes));
  }

  // The bar hides the cursor: it must come back, however the run ends.
  const stopListening = io.onInterrupt(stop);

  function stop(): void {
    isStopped = true;
    bar?.stop();
    bar = undefined;
    stopListening();
  }

  function add(byteCount: number): void {
    readBytes += byteCount;
    if (bar !== undefined) bar.update(megabytes(readBytes));
    else if (!isAskedFor && io.clock() - startedMs > FIRST_SHOWN_MS) {
      isAskedFor = true;
      void show();
    }
  }

  function restart(): void {
    readBytes = 0;
  }

  return { add, restart, stop };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / MEGABYTE);
}
