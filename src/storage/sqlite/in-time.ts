import { StorageError } from '../errors.js';

// What a transaction answers, it answers at once; a work that takes so long waits for something else.
const WORK_MS_MAX = 10_000;

/** Ends a work that awaits something else than its transaction (another one, say), for all others wait for it. */
export async function inTime<Result>(work: () => Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLong()), WORK_MS_MAX);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLong(): StorageError {
  return new StorageError(
    'storage.ended',
    `the work of a transaction did not end within ${WORK_MS_MAX / 1000} s: it may await nothing but its transaction`,
  );
}
