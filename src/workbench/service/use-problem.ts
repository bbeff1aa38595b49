import { useState } from 'preact/hooks';
import { messageOf } from '../engine/protocol.js';
import { useWorkbench } from '../state.js';
import { ServiceProblem } from './api.js';

/** After this time the page says what it is waiting for. */
const SLOW_MS = 700;

/**
 * The last problem, in lines. `attempt` runs work, reports its failure, and returns whether it succeeded; `wait` only
 * tells of work that takes long; `report` takes a failure from elsewhere, or undefined once it is over.
 */
export function useProblem(onSignedOut?: () => void) {
  const { act } = useWorkbench();
  const [lines, setLines] = useState<readonly string[]>([]);
  const report = (error: unknown): void => {
    setLines(error === undefined ? [] : messageOf(error).split('\n'));
    if (error instanceof ServiceProblem && error.statusCode === 401) onSignedOut?.();
  };
  const wait = async (work: () => Promise<void>): Promise<void> => {
    const tell = (text: string): void => act({ type: 'told', text });
    let isTold = false;
    const timer = setTimeout(() => {
      isTold = true;
      tell('Waiting for the service …');
    }, SLOW_MS);
    try {
      await work();
    } finally {
      clearTimeout(timer);
      if (isTold) tell('');
    }
  };
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    report(undefined);
    try {
      await wait(work);
      return true;
    } catch (error) {
      report(error);
      return false;
    }
  };
  return { lines, attempt, wait, report };
}
