import { OutputLimitError } from '../../core/errors.js';
import type { Series, SeriesReference } from '../../core/series.js';
import type { BatchOptions } from '../../engine/batch/run-batch.js';
import { openEvery, runEvery } from '../../engine/every/index.js';
import type { StreamOptions } from '../../engine/options.js';
import type { Report } from '../../engine/report.js';
import { operationOf } from '../../operations/index.js';
import type { InputFile } from '../files/inputs.js';
import type { Io } from '../terminal/io.js';
import { checkSources } from './check-sources.js';
import type { FileOutcome } from './file-outcome.js';
import { type FileListener, type FileSettings, readAll, readFile } from './read-file.js';

/** A run whose arguments have been checked. */
export interface Job extends Omit<FileSettings, 'timezone'> {
  readonly inputs: readonly InputFile[];
  readonly mode: 'batch' | 'stream';
  readonly options: StreamOptions & Pick<BatchOptions, 'warmup'> & { readonly maxOutputSamples: number };
}

/** Receives the progress of a run. */
export interface Listener extends FileListener {
  readonly onResults: (results: readonly Series[]) => void;
  readonly onLate: (file: string, late: readonly Series[]) => void;
  /** The run starts again: forget what was reported so far. */
  readonly onRestart: (reason: SeriesReference) => void;
}

/** The outcome of a run. */
export interface Outcome {
  readonly report: Report;
  readonly files: readonly FileOutcome[];
  /** A series that was out of time order, so everything was read into memory and sorted. */
  readonly unordered: SeriesReference | undefined;
}

/**
 * Runs the files through the plan. A batch is run as a stream, which needs little memory. At the first sample out of
 * time order it starts again, with everything in memory. So does a run that warms up, from the start: the samples
 * before `from` may be anywhere in the files.
 */
export async function execute(job: Job, listener: Listener, io: Io): Promise<Outcome> {
  if (job.options.warmup !== undefined) return runInMemory(job, listener, undefined, io);
  const streamed = await streamThrough(job, listener, io);
  if ('report' in streamed) return streamed;
  listener.onRestart(streamed);
  return runInMemory(job, listener, streamed, io);
}

async function streamThrough(job: Job, listener: Listener, io: Io): Promise<Outcome | SeriesReference> {
  const settings = { ...job, timezone: job.options.timezone };
  const stream = openEvery(job.plan, job.options);
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
    const isStopped = (): boolean => unordered !== undefined;
    const file = await readFile(settings, input, { ...listener, onChunk, isStopped }, io);
    if (unordered !== undefined) return unordered;
    if (file !== undefined) files.push(file);
  }
  checkSources(job.plan, files);
  const { series, report } = stream.close();
  if (isBatch) checkTotal(report, job.options.maxOutputSamples);
  listener.onResults(series);
  return { report, files, unordered: undefined };
}

async function runInMemory(
  job: Job,
  listener: Listener,
  unordered: SeriesReference | undefined,
  io: Io,
): Promise<Outcome> {
  const settings = { ...job, timezone: job.options.timezone };
  const { series: inputs, files } = await readAll(settings, job.inputs, listener, io);
  const { series, report } = runEvery(job.plan, inputs, job.options);
  listener.onResults(series);
  return { report, files, unordered };
}

// The limit is for steps with a state: in a stream for each call, in a batch for all samples together.
function checkTotal({ steps }: Report, limit: number): void {
  for (const { pointer, operation, samplesOut } of steps) {
    if (samplesOut > limit && operationOf({ operation }).shape === 'regrid')
      throw new OutputLimitError(pointer, operation, samplesOut, limit);
  }
}
