import { useState } from 'preact/hooks';
import { messageOf } from '../engine/protocol.js';
import { ServiceProblem } from './api.js';

/** What went wrong last, in lines; `attempt` runs work and tells of its failure. */
export function useProblem(onSignedOut?: () => void) {
  const [lines, setLines] = useState<readonly string[]>([]);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      setLines([]);
      await work();
    } catch (error) {
      setLines([messageOf(error), ...(error instanceof ServiceProblem ? error.issues : [])]);
      if (error instanceof ServiceProblem && error.statusCode === 401) onSignedOut?.();
    }
  };
  return { lines, attempt };
}
