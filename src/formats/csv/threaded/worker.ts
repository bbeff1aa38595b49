// The code of the pool's threads. It loads only what reading CSV needs.
import { readSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import type { SeriesReference } from '../../../core/series.js';
import { SourceMatcher } from '../../../core/source-matcher.js';
import type { CsvReaderOptions } from '../options.js';
import type { ColumnRows } from '../read/rows.js';
import { type RangedFile, type RangeOutcome, RangeReader, sharedCopyOf } from './range.js';

export interface RangeTask {
  /** The number of the file within the run. */
  readonly fileNumber: number;
  readonly index: number;
  readonly file: RangedFile;
  /** The series that the run reads, whose ids may be patterns. */
  readonly sources: readonly SeriesReference[];
  readonly options: Pick<CsvReaderOptions, 'timezone' | 'chunkRows' | 'onBadRow' | 'unnamed'>;
}

/** A range that was read, or the system's error. */
export type RangeResult =
  | { readonly thread: number; readonly outcome: RangeOutcome; readonly rows: readonly ColumnRows[] }
  | { readonly failure: { readonly message: string; readonly code: string | undefined } };

// One reader serves all ranges of a file, as it remembers names that it has seen.
let fileNumber = 0;
let reader: RangeReader;

/** Reads a range of a file. Ranges come in rising order, and files one after the other. */
export function readRange(task: RangeTask): RangeResult {
  try {
    if (task.fileNumber !== fileNumber) openFile(task);
    const rows: ColumnRows[] = [];
    const outcome = reader.readRange(task.index, (chunk) => rows.push(sharedCopyOf(chunk)));
    return { thread: threadId, outcome, rows };
  } catch (error) {
    // An error posted to another thread would lose its code.
    const { message = String(error), code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
    return { failure: { message, code } };
  }
}

function openFile({ fileNumber: number, file, sources, options }: RangeTask): void {
  const matcher = new SourceMatcher(sources);
  reader = new RangeReader(file, { ...options, wanted: (reference) => matcher.wants(reference) }, (block, position) =>
    readSync(file.descriptor, block, 0, block.length, position),
  );
  fileNumber = number;
}
