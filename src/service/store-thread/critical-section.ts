import type { Database, OpenDatabase } from '../../storage/sqlite/database.js';

// A thread that is ended while it is in SQLite takes the whole process with it: calls into a thread that is being ended
// fail, SQLite's package throws an error of C++ for each, and nothing catches that (`terminate called after throwing an
// instance of 'Napi::Error'`). So a thread is in a critical section while it is in SQLite, and is ended outside of it.

const OUTSIDE = 0;
const INSIDE = 1;
/** The thread is inside, and is to stop when it leaves. */
const CLOSING = 2;
/** The thread is outside, and stops where it would enter. */
const CLOSED = 3;

/** What a thread and the one that may end it share: one of the four numbers above. */
export type SectionState = Int32Array;

export function createSection(): SectionState {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Lets the thread in no more. Resolves once it is outside, and may be ended. */
export async function closeSection(state: SectionState): Promise<void> {
  // It comes and goes meanwhile.
  while (Atomics.load(state, 0) < CLOSING) {
    if (Atomics.compareExchange(state, 0, OUTSIDE, CLOSED) === OUTSIDE) return;
    Atomics.compareExchange(state, 0, INSIDE, CLOSING);
  }
  await Atomics.waitAsync(state, 0, CLOSING).value;
}

/** In the thread. It stops here, for good, if the section is closed: only its end is left to come. */
export function enterSection(state: SectionState): void {
  if (Atomics.compareExchange(state, 0, OUTSIDE, INSIDE) !== OUTSIDE) stop(state);
}

/** In the thread; it stops here likewise. */
export function leaveSection(state: SectionState): void {
  if (Atomics.compareExchange(state, 0, INSIDE, OUTSIDE) === INSIDE) return;
  Atomics.store(state, 0, CLOSED);
  Atomics.notify(state, 0);
  stop(state);
}

function stop(state: SectionState): never {
  for (;;) Atomics.wait(state, 0, CLOSED);
}

/** Opens databases whose calls are inside the section of the thread's job. */
export function openInSection(open: OpenDatabase, sectionOfJob: () => SectionState): OpenDatabase {
  const inside = <Result>(call: () => Result): Result => {
    const section = sectionOfJob();
    enterSection(section);
    try {
      return call();
    } finally {
      leaveSection(section);
    }
  };
  return (path) => {
    const database = inside(() => open(path));
    const guarded: Database = {
      get isInTransaction() {
        return inside(() => database.isInTransaction);
      },
      exec: (sql) => inside(() => database.exec(sql)),
      run: (sql, values) => inside(() => database.run(sql, values)),
      all: (sql, values) => inside(() => database.all(sql, values)),
      close: () => inside(() => database.close()),
    };
    return guarded;
  };
}
