import { receiveMessageOnPort } from 'node:worker_threads';
import type { CsvReaderOptions } from '../formats/csv/index.js';
import { fileFailure } from './failure.js';
import { type RangedFile, type RangeOutcome, rangeCountOf } from './scan-range.js';
import type { Slot } from './scan-slots.js';
import type { CrewWorker } from './workers.js';

/**
 * Threads beside the main one that read ranges of a file. Who is free takes the next range, the main thread too, by
 * counting up a number in shared memory; none is so far ahead that memory would grow with the file.
 */
export interface Crew {
  /** Threads beside the main one. */
  readonly size: number;
  /** Bytes of a range. */
  readonly rangeBytes: number;
  readonly start: (task: Omit<CrewTask, 'number' | 'control'>) => CrewWork;
  /** Ends the threads. */
  readonly close: () => void;
}

/** A file on which the crew is at work. */
export interface CrewWork {
  /** The next range, for the main thread to read; undefined where none may be taken now. */
  readonly claim: () => number | undefined;
  /** The ranges that were read since this was last asked. @throws what stopped a thread */
  readonly collect: () => ScannedRange[];
  /** Waits a moment for another range to be read. */
  readonly wait: () => Promise<void>;
  /** Says that all ranges before this one were used. */
  readonly advance: (index: number) => void;
  /** Says that no more ranges are needed. */
  readonly cancel: () => void;
}

export interface CrewTask {
  /** What came of an earlier task is told from this one by its number. */
  readonly number: number;
  readonly file: RangedFile;
  readonly wantedKeys: readonly string[];
  readonly options: Pick<CsvReaderOptions, 'timezone' | 'chunkRows' | 'onBadRow'>;
  readonly control: Int32Array;
}

export interface ScannedRange {
  readonly worker: number;
  readonly index: number;
  readonly outcome: RangeOutcome;
  readonly slot: Slot;
}

export interface CrewMessage {
  readonly number: number;
  readonly range?: Omit<ScannedRange, 'worker'>;
  readonly failure?: { readonly message: string; readonly code: string | undefined };
}

// What the control holds: the next range that nobody has taken, the first that is not used yet, and how many messages
// were sent; and how many ranges may be taken beyond those that are used.
const NEXT = 0;
const USED = 1;
const SENT = 2;
const AHEAD = 3;
const CONTROL_LENGTH = 4;
const NO_MORE = 2 ** 30;

/** What is read before its turn waits in memory: this many ranges a thread may. */
const RANGES_AHEAD = 3;
const WAIT_MS = 20;

export function createCrew(members: readonly CrewWorker[], rangeBytes: number): Crew {
  let failure: unknown;
  const size = members.length;
  for (const { worker } of members) {
    worker.on('error', (error) => {
      failure ??= error;
    });
  }
  let number = 0;
  return {
    size,
    rangeBytes,
    start: (given) => {
      const control = new Int32Array(new SharedArrayBuffer(4 * CONTROL_LENGTH));
      control[AHEAD] = RANGES_AHEAD * (size + 1);
      const task: CrewTask = { ...given, number: ++number, control };
      for (const { port } of members) port.postMessage(task);
      return workOn(task, members, () => failure);
    },
    close: () => {
      for (const { worker } of members) void worker.terminate();
    },
  };
}

function workOn({ number, control, file }: CrewTask, members: readonly CrewWorker[], failure: () => unknown): CrewWork {
  let seen = 0;
  function collect(): ScannedRange[] {
    if (failure() !== undefined) throw failure();
    seen = Atomics.load(control, SENT);
    const ranges: ScannedRange[] = [];
    for (const [worker, { port }] of members.entries()) {
      for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
        const message = next.message as CrewMessage; // as scan-worker.ts sends it
        if (message.number !== number) continue;
        if (message.failure !== undefined) throw asError(message.failure, file);
        if (message.range !== undefined) ranges.push({ ...message.range, worker });
      }
    }
    return ranges;
  }
  return {
    collect,
    claim: () => {
      const next = Atomics.load(control, NEXT);
      if (next >= rangeCountOf(file) || next >= Atomics.load(control, USED) + aheadOf(control)) return undefined;
      const index = Atomics.add(control, NEXT, 1);
      return index < rangeCountOf(file) ? index : undefined;
    },
    wait: async () => {
      Atomics.wait(control, SENT, seen, WAIT_MS);
      // The failure of a thread is told by an event.
      if (Atomics.load(control, SENT) === seen) await new Promise((resolve) => setImmediate(resolve));
    },
    advance: (index) => {
      Atomics.store(control, USED, index);
      Atomics.notify(control, USED);
    },
    cancel: () => {
      Atomics.store(control, NEXT, NO_MORE);
      Atomics.store(control, USED, NO_MORE);
      Atomics.notify(control, USED);
    },
  };
}

function asError({ message, code }: NonNullable<CrewMessage['failure']>, { fileName }: RangedFile): unknown {
  const error = new Error(message);
  return code === undefined ? error : fileFailure(Object.assign(error, { code }), fileName, 'read');
}

/** For a thread of the crew: the next range to read, once there is room for it; undefined after the last. */
export function claimRange(control: Int32Array, file: RangedFile): number | undefined {
  const index = Atomics.add(control, NEXT, 1);
  if (index >= rangeCountOf(file)) return undefined;
  for (;;) {
    const used = Atomics.load(control, USED);
    if (used >= NO_MORE) return undefined;
    if (index < used + aheadOf(control)) return index;
    Atomics.wait(control, USED, used);
  }
}

const aheadOf = (control: Int32Array): number => control[AHEAD] ?? 0;

export function isCancelled(control: Int32Array): boolean {
  return Atomics.load(control, USED) >= NO_MORE;
}

export function tellDone(control: Int32Array): void {
  Atomics.add(control, SENT, 1);
  Atomics.notify(control, SENT);
}
