import { OutputLimitError } from '../../core/errors.js';
import type { Series, SeriesReference } from '../../core/series.js';
import type { StreamOptions } from '../../engine/options.js';
import type { Report } from '../../engine/report.js';
import { runBatch } from '../../engine/run-batch.js';
import { openStream } from '../../engine/stream.js';
import type { RejectedRow } from '../../formats/csv/index.js';
import type { Plan } from '../../plan/plan.js';
import type { InputFile } from '../files/inputs.js';
import type { Crew } from '../scan-crew.js';
import type { Io } from '../terminal/io.js';
import { checkSources } from './missing-series.js';
import { type FileOutcome, readFile } from './read-file.js';

/** A run, with everything checked. */
export interface Job {
  readonly plan: Plan;
  readonly inputs: readonly InputFile[];
  readonly mode: 'batch' | 'stream';
  /** Rows given to the engine at once. */
  readonly chunkRows: number;
  readonly onBadRow: 'fail' | 'skip';
  /** Threads that help to read the files. */
  readonly crew?: Crew | undefined;
  readonly options: StreamOptions & { readonly maxOutputSamples: number };
}

/** Who is told what happens during a run. */
export interface Listener {
  readonly onResults: (results: readonly Series[]) => void;
  readonly onReject: (rejected: RejectedRow) => void;
  readonly onLate: (file: string, late: readonly Series[]) => void;
  readonly onRead: (byteCount: number) => void;
  /** All that was told so far is void: the run starts again. */
  readonly onRestart: (reason: SeriesReference) => void;
}

/** What became of a run. */
export interface Outcome {
  readonly report: Report;
  readonly files: readonly FileOutcome[];
  /** A series that is not in time order, for which everything was read into memory and sorted. */
  readonly unordered: SeriesReference | undefined;
}

/**
 * Reads the files through the plan. A batch is a stream that needs no memory to speak of while each series is in
 * time order; at the first sample that is not, it starts again with everything in memory.
 */
export async function execute(job: Job, listener: Listener, io: Io): Promise<Outcome> {
  const streamed = await streamThrough(job, listener, io);
  if ('report' in streamed) return streamed;
  listener.onRestart(streamed);
  return runInMemory(job, listener, streamed, io);
}

async function streamThrough(job: Job, listener: Listener, io: Io): Promise<Outcome | SeriesReference> {
  const stream = openStream(job.plan, job.options);
  const isBatch = job.mode === 'batch';
  const files: FileOutcome[] = [];
  let unordered: SeriesReference | undefined;
  for (const input of job.inputs) {
    const onChunk = (series: readonly Series[]): void => {
      if (unordered !== undefined) return;
      const results = stream.push(series);
      if (stream.late.length > 0) {
        if (isBatch) {
          unordered = stream.late[0];
          return;
        }
        listener.onLate(input.name, stream.late);
      }
      if (isBatch) checkTotal(stream.report(), job.options.maxOutputSamples);
      if (results.length > 0) listener.onResults(results);
    };
    const file = await readFile(job, listener, input, { onChunk, isStopped: () => unordered !== undefined }, io);
    if (unordered !== undefined) return unordered;
    if (file !== undefined) files.push(file);
  }
  checkSources(job.plan, files);
  const { series, report } = stream.close();
  if (isBatch) checkTotal(report, job.options.maxOutputSamples);
  listener.onResults(series);
  return { report, files, unordered: undefined };
}

async function runInMemory(job: Job, listener: Listener, unordered: SeriesReference, io: Io): Promise<Outcome> {
  const files: FileOutcome[] = [];
  const parts: Series[] = [];
  const onChunk = (series: readonly Series[]): void => {
    for (const { timeseriesId, metric, timeMs, value } of series) {
      parts.push({ timeseriesId, metric, timeMs: timeMs.slice(), value: value.slice() });
    }
  };
  for (const input of job.inputs) {
    const file = await readFile(job, listener, input, { onChunk, isStopped: () => false }, io);
    if (file !== undefined) files.push(file);
  }
  checkSources(job.plan, files);
  const { series, report } = runBatch(job.plan, parts, job.options);
  listener.onResults(series);
  return { report, files, unordered };
}

// A stream bounds each call; a batch is bounded as a whole.
function checkTotal({ steps }: Report, limit: number): void {
  for (const { pointer, operation, samplesOut } of steps) {
    if (samplesOut > limit) throw new OutputLimitError(pointer, operation, samplesOut, limit);
  }
}
