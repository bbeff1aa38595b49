import { parentPort } from 'node:worker_threads';
import { OutputLimitError, WindrowError } from '../../../index.js';
import type { StepAnswer, StepFailure, StepMessage } from './pool.js';
import { step } from './step.js';

// The script of a thread: computes the steps that it is sent, one after the other.

const port = parentPort;
if (port === null) throw new Error('this script runs in a worker thread');
port.on('message', ({ plan, state, chunks, options }: StepMessage) => {
  port.postMessage(answer(() => step(plan, state, chunks, options)));
});

function answer(work: () => ReturnType<typeof step>): StepAnswer {
  try {
    return { result: work() };
  } catch (error) {
    return { failure: describeFailure(error) };
  }
}

function describeFailure(error: unknown): StepFailure {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const code = error instanceof WindrowError ? error.code : undefined;
  if (!(error instanceof OutputLimitError)) return { name, code, message };
  const { pointer, sampleCount, limit } = error;
  return { name, code, message, limit: { pointer, sampleCount, limit } };
}
