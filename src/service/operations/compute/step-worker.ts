import { OutputLimitError, WindrowError } from '../../../index.js';
import type { StepAnswer, StepFailure, StepMessage } from './pool.js';
import { step } from './step.js';

/** Computes a step in a thread of the pool; this file is the thread's script. */
export function computeStep({ plan, state, chunks, options }: StepMessage): StepAnswer {
  try {
    return { result: step(plan, state, chunks, options) };
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
