import type { CommitListener } from './storage.js';

/**
 * After a process was cut off from the database there may be millions of commits. To be told is only a hint, so of that
 * many the last will do.
 */
export const COMMITS_TOLD_MAX = 1000;

/** Tells listeners of a commit. An error of one concerns neither the commit nor the others: it is thrown by itself. */
export function tellListeners(listeners: Iterable<CommitListener>, ...of: Parameters<CommitListener>): void {
  for (const listener of listeners) {
    try {
      listener(...of);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
