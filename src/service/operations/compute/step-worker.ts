import { OutputLimitError, WindrowError } from '../../../core/errors.js';
import { type Explained, explain, type Question } from './explain.js';
import type { Answer, StepFailure, StepMessage } from './pool.js';
import { type StepResult, step } from './step.js';

// What a thread of the pool does; this file is the thread's script.

export function computeStep({ plan, state, chunks, options }: StepMessage): Answer<StepResult> {
  return answer(() => step(plan, state, chunks, options, () => performance.now()));
}

export function explainResult(question: Question): Answer<Explained | undefined> {
  return answer(() => explain(question));
}

function answer<Result>(work: () => Result): Answer<Result> {
  try {
    return { result: work() };
  } catch (error) {
    return { failure: describeFailure(error) };
  }
}

function describeFailure(error: unknown): StepFailure {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof WindrowError ? error.code : undefined;
  if (!(error instanceof OutputLimitError)) return { code, message };
  const { pointer, sampleCount, limit } = error;
  return { code, message, limit: { pointer, sampleCount, limit } };
}
