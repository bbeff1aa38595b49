import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Series } from '../../../core/series.js';
import { CheckpointError, type ErrorCode, OutputLimitError, type Plan } from '../../../index.js';
import { type StepOptions, type StepResult, step } from './step.js';

/** Computes steps of the engine somewhere. */
export interface StepPool {
  run(plan: Plan, state: Uint8Array | undefined, chunks: readonly Series[], options: StepOptions): Promise<StepResult>;
  /** Ends the threads; what they are at is refused. */
  close(): Promise<void>;
}

/** What a thread is sent. */
export interface StepMessage {
  readonly plan: Plan;
  readonly state: Uint8Array | undefined;
  readonly chunks: readonly Series[];
  readonly options: StepOptions;
}

/** What it answers: errors of the engine as what they are made of. */
export type StepAnswer = { readonly result: StepResult } | { readonly failure: StepFailure };

export interface StepFailure {
  readonly name: string;
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly limit?: { readonly pointer: string; readonly sampleCount: number; readonly limit: number };
}

/** Everything in this thread: for those who have none to spare, and for tests. */
export function createInlinePool(): StepPool {
  return {
    run: async (plan, state, chunks, options) => step(plan, state, chunks, options),
    close: async () => {},
  };
}

interface Thread {
  readonly worker: Worker;
  /** The step that it is at. */
  task: Task | undefined;
}

interface Task {
  readonly message: StepMessage;
  readonly resolve: (result: StepResult) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Threads that compute one step each at a time. They are started when they are first needed; one that dies fails its
 * step, and another takes its place.
 *
 * @param url of the script `service/step-worker`.
 */
export function createThreadPool(url: URL, threadCount: number): StepPool {
  const threads = new Set<Thread>();
  const waiting: Task[] = [];
  let isClosed = false;

  function next(): void {
    for (let task = waiting[0]; task !== undefined; task = waiting[0]) {
      const thread = [...threads].find((one) => one.task === undefined) ?? start();
      if (thread === undefined) return;
      waiting.shift();
      thread.task = task;
      thread.worker.ref();
      thread.worker.postMessage(task.message);
    }
  }

  function start(): Thread | undefined {
    if (threads.size >= threadCount) return undefined;
    const thread: Thread = { worker: new Worker(url), task: undefined };
    threads.add(thread);
    // An idle thread does not keep the process alive.
    thread.worker.unref();
    thread.worker.on('message', (answer: StepAnswer) => {
      const { task } = thread;
      thread.task = undefined;
      thread.worker.unref();
      if ('result' in answer) task?.resolve(answer.result);
      else task?.reject(failureError(answer.failure));
      next();
    });
    const end = (cause?: unknown): void => {
      if (!threads.delete(thread)) return;
      const reason = isClosed ? 'the service is stopping' : 'a worker thread died';
      thread.task?.reject(new Error(reason, { cause }));
      if (!isClosed) next();
    };
    thread.worker.on('error', end);
    thread.worker.on('exit', () => end());
    return thread;
  }

  return {
    run: (plan, state, chunks, options) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new Error('the service is stopping'));
        // Only what lies in the views is sent, not the columns that they are cut from.
        const own = chunks.map(({ timeMs, value, ...rest }) => ({
          ...rest,
          timeMs: timeMs.slice(),
          value: value.slice(),
        }));
        waiting.push({ message: { plan, state, chunks: own, options }, resolve, reject });
        next();
      }),
    close: async () => {
      isClosed = true;
      for (const task of waiting.splice(0)) task.reject(new Error('the service is stopping'));
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}

function failureError({ code, message, limit }: StepFailure): Error {
  if (limit !== undefined)
    return Object.assign(new OutputLimitError(limit.pointer, '', limit.sampleCount, limit.limit), { message });
  return code?.startsWith('checkpoint.') === true ? new CheckpointError(code, message) : new Error(message);
}

// The script is built once, beside the command; who runs the sources finds it in dist.
const PLACES = ['./step-worker.js', './cli/step-worker.js', '../../../../dist/cli/step-worker.js'];

/** The threads of a service: so many, or this one where there are to be none, or where their script is not built. */
export function openStepPool(threadCount: number): StepPool {
  const url = PLACES.map((place) => new URL(place, import.meta.url)).find((one) => existsSync(one));
  return url === undefined || threadCount < 1 ? createInlinePool() : createThreadPool(url, threadCount);
}
