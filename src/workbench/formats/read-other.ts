import type { ReadAnswer, ReadQuestion } from './worker.js';

export type ReadSet = Exclude<ReadAnswer, { readonly problem: string }>;

/** Reads a file that is no plain CSV in a worker of its own, whose code is no part of the page's script. */
export async function readOther(file: File, timezone: string): Promise<ReadSet> {
  const url = URL.createObjectURL(new Blob([await readerCode()], { type: 'text/javascript' }));
  const worker = new Worker(url);
  try {
    const answer = await new Promise<ReadAnswer>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<ReadAnswer>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(`its reader has stopped: ${message}`));
      worker.postMessage({ file, timezone } satisfies ReadQuestion);
    });
    if ('problem' in answer) throw new Error(answer.problem);
    return answer;
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
