import type { Reading } from '../engine/protocol.js';
import { CANCELLED, unreadable } from './reading.js';
import type { ReadAnswer, ReadQuestion } from './worker.js';

/** Reads a file that is no plain CSV in a worker of its own, whose code is no part of the page's script. */
export async function readOther(
  file: File,
  timezone: string,
  reading: Reading,
  signal: AbortSignal,
): Promise<ReadAnswer> {
  const url = URL.createObjectURL(new Blob([await readerCode()], { type: 'text/javascript' }));
  const worker = new Worker(url);
  try {
    return await new Promise<ReadAnswer>((resolve, reject) => {
      const stop = (): void => resolve(unreadable(new Error(`${file.name} ${CANCELLED}`), []));
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop);
      worker.onmessage = ({ data }: MessageEvent<ReadAnswer>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(`its reader has stopped: ${message}`));
      worker.postMessage({ file, timezone, reading } satisfies ReadQuestion);
    });
  } finally {
    worker.terminate();
    URL.revokeObjectURL(url);
  }
}

/** It stands in the page that `windrow workbench` writes, as text; `windrow serve` has it beside the page. */
async function readerCode(): Promise<string> {
  const own = document.getElementById('format-readers')?.textContent;
  if (own) return own;
  try {
    const answer = await fetch('workbench-formats.js');
    if (answer.ok) return await answer.text();
  } catch {
    // Told below: of a page on a disk nothing can be fetched.
  }
  throw new Error(
    'This page reads only CSV: open the one that `windrow serve` has, or write one with ' +
      '`windrow workbench --output workbench.html`; or give the data as CSV.',
  );
}
