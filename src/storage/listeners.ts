import type { CommitListener } from './storage.js';

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
