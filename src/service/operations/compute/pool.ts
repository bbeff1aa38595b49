import { existsSync } from 'node:fs';
import { Piscina } from 'piscina';
import type { Series } from '../../../core/series.js';
import { CheckpointError, type ErrorCode, OutputLimitError, type Plan } from '../../../index.js';
import { type StepOptions, type StepResult, step } from './step.js';

export interface StepPool {
  run(plan: Plan, state: Uint8Array | undefined, chunks: readonly Series[], options: StepOptions): Promise<StepResult>;
  /** Ends the threads; what they are at is refused. */
  close(): Promise<void>;
}

export interface StepMessage {
  readonly plan: Plan;
  readonly state: Uint8Array | undefined;
  readonly chunks: readonly Series[];
  readonly options: StepOptions;
}

/** What it answers: errors of the engine as what they are made of, for a thread's errors lose their class. */
export type StepAnswer = { readonly result: StepResult } | { readonly failure: StepFailure };

export interface StepFailure {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly limit?: { readonly pointer: string; readonly sampleCount: number; readonly limit: number };
}

// The script is built once, beside the command; who runs the sources finds it in dist.
const PLACES = ['./step-worker.js', './cli/step-worker.js', '../../../../dist/cli/step-worker.js'];

/** The threads of a service: so many, or this one where there are to be none, or where their script is not built. */
export function openStepPool(threadCount: number): StepPool {
  const url = PLACES.map((place) => new URL(place, import.meta.url)).find((one) => existsSync(one));
  return url === undefined || threadCount < 1 ? createInlinePool() : createThreadPool(url, threadCount);
}

/** Everything in this thread: for those who have none to spare, and for tests. */
export function createInlinePool(): StepPool {
  return {
    run: async (plan, state, chunks, options) => step(plan, state, chunks, options),
    close: async () => {},
  };
}

/**
 * Threads that compute one step each at a time. They are started when they are first needed; one that dies fails its
 * step, and another takes its place.
 *
 * @param url of the script `step-worker`.
 */
export function createThreadPool(url: URL, threadCount: number): StepPool {
  // As many at least as at most: Piscina replaces a thread that died only where it falls short of the least.
  const open = (): Piscina<StepMessage, StepAnswer> => {
    const count = { minThreads: threadCount, maxThreads: threadCount };
    const opened = new Piscina<StepMessage, StepAnswer>({ filename: url.href, name: 'computeStep', ...count });
    // Who waits for a step hears of it.
    opened.on('error', () => {});
    return opened;
  };
  let threads: Piscina<StepMessage, StepAnswer> | undefined;
  let isClosed = false;
  return {
    run: async (plan, state, chunks, options) => {
      if (isClosed) throw new Error('the service is stopping');
      threads ??= open();
      // Only what lies in the views is sent, not the columns that they are cut from.
      const own = chunks.map((one) => ({ ...one, timeMs: one.timeMs.slice(), value: one.value.slice() }));
      const answer = await threads.run({ plan, state, chunks: own, options }).catch((cause: unknown) => {
        throw new Error(isClosed ? 'the service is stopping' : 'a worker thread died', { cause });
      });
      if ('failure' in answer) throw failureError(answer.failure);
      return answer.result;
    },
    close: async () => {
      isClosed = true;
      await threads?.destroy();
    },
  };
}

function failureError({ code, message, limit }: StepFailure): Error {
  if (limit !== undefined)
    return Object.assign(new OutputLimitError(limit.pointer, '', limit.sampleCount, limit.limit), { message });
  return code?.startsWith('checkpoint.') === true ? new CheckpointError(code, message) : new Error(message);
}
