import type { ParquetAnswer, ParquetQuestion } from './worker.js';

export type ParquetSet = Exclude<ParquetAnswer, { readonly problem: string }>;

/** Reads a Parquet file in a worker of its own, whose code is no part of the page's script. */
export async function readParquet(file: File, timezone: string): Promise<ParquetSet> {
  const url = URL.createObjectURL(new Blob([await readerCode()], { type: 'text/javascript' }));
  const worker = new Worker(url);
  try {
    const answer = await new Promise<ParquetAnswer>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<ParquetAnswer>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(`the reader of Parquet has stopped: ${message}`));
      worker.postMessage({ file, timezone } satisfies ParquetQuestion);
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
  const own = document.getElementById('parquet-reader')?.textContent;
  if (own) return own;
  try {
    const answer = await fetch('workbench-parquet.js');
    if (answer.ok) return await answer.text();
  } catch {
    // Told below: of a page on a disk nothing can be fetched.
  }
  throw new Error(
    'This page has no reader of Parquet: open the one that `windrow serve` has, or write one with ' +
      '`windrow workbench --output workbench.html`; or give the data as CSV.',
  );
}
