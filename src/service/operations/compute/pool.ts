import { CheckpointError, type ErrorCode, OutputLimitError } from '../../../core/errors.js';
import type { Series } from '../../../core/series.js';
import type { Plan } from '../../../plan/plan.js';
import type { Scheduler } from '../../context.js';
import { unavailable } from '../../http/errors.js';
import { builtScript, HungThreadError, Threads } from '../../threads.js';
import { type Explained, explain, type Question } from './explain.js';
import { type StepOptions, type StepResult, step } from './step.js';

/** Computes steps of items, and explains results. */
export interface StepPool {
  run(plan: Plan, state: Uint8Array | undefined, chunks: readonly Series[], options: StepOptions): Promise<StepResult>;
  /**
   * Undefined if the samples read do not give the result bit for bit.
   *
   * @throws ServiceError 503 once the threads are closed.
   */
  explain(question: Question): Promise<Explained | undefined>;
  /** Returns work that needs the threads several times, and has `settled` wait for it. */
  track<Result>(work: Promise<Result>): Promise<Result>;
  /** Resolves once no such work runs. */
  settled(): Promise<void>;
  /** Ends the threads; what runs is rejected. */
  close(): Promise<void>;
}

export interface StepMessage {
  readonly plan: Plan;
  readonly state: Uint8Array | undefined;
  readonly chunks: readonly Series[];
  readonly options: StepOptions;
}

/** A thread's answer. Errors of the engine are sent as plain data, as they would lose their class. */
export type Answer<Result> = { readonly result: Result } | { readonly failure: StepFailure };

export interface StepFailure {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly limit?: { readonly pointer: string; readonly sampleCount: number; readonly limit: number };
}

/** Opens the threads of a service; computes in this thread if there are to be none, or their script is not built. */
export function openStepPool(threadCount: number, scheduler: Scheduler): StepPool {
  const script = builtScript('step-worker');
  return script === undefined || threadCount < 1
    ? createInlinePool()
    : createThreadPool(script, threadCount, scheduler);
}

/** Computes in this thread: for machines without a spare one, and for tests. */
export function createInlinePool(): StepPool {
  return {
    run: async (plan, state, chunks, options) => step(plan, state, chunks, options),
    explain: async (question) => explain(question),
    track: (work) => work,
    settled: async () => {},
    close: async () => {},
  };
}

const STOPPING = 'the service is stopping';
/** A step of a slice, or an explanation, takes seconds. */
const WORK_MS_MAX = 300_000;

/**
 * Computes in threads. One that dies fails its work, as does one that hangs.
 *
 * @param script `step-worker`.
 */
export function createThreadPool(script: URL, threadCount: number, scheduler: Scheduler): StepPool {
  const threads = new Threads(script, threadCount);
  const limit = { scheduler, ms: WORK_MS_MAX };
  const compute = async <Result>(name: string, message: StepMessage | Question): Promise<Result> => {
    const answer = await threads.run<Answer<Result>>(name, message, limit).catch((cause: unknown) => {
      if (cause instanceof HungThreadError) throw cause;
      throw new Error(threads.isClosed ? STOPPING : 'a worker thread died', { cause });
    });
    if ('failure' in answer) throw failureError(answer.failure);
    return answer.result;
  };
  const tracked = new Set<Promise<unknown>>();
  return {
    // Copies, so that only the samples are sent, not the whole columns under the views.
    run: (plan, state, chunks, given) => {
      const options = { ...given, tail: given.tail?.map(copied) };
      return compute('computeStep', { plan, state, chunks: chunks.map(copied), options });
    },
    explain: async (question) => {
      try {
        return await compute('explainResult', { ...question, read: question.read.map(copied) });
      } catch (cause) {
        throw threads.isClosed ? unavailable(STOPPING, { cause }) : cause;
      }
    },
    track: (work) => {
      tracked.add(work);
      const forget = () => void tracked.delete(work);
      work.then(forget, forget);
      return work;
    },
    settled: async () => {
      while (tracked.size > 0) await Promise.allSettled(tracked);
    },
    close: () => threads.close(),
  };
}

function copied(series: Series): Series {
  return { ...series, timeMs: series.timeMs.slice(), value: series.value.slice() };
}

function failureError({ code, message, limit }: StepFailure): Error {
  if (limit !== undefined)
    return Object.assign(new OutputLimitError(limit.pointer, '', limit.sampleCount, limit.limit), { message });
  return code?.startsWith('checkpoint.') === true ? new CheckpointError(code, message) : new Error(message);
}
