import { WindrowError } from '../../core/errors.js';
import { counted } from '../command.js';
import { describeFailure, EXIT_DONE, isClosedPipe } from '../failure.js';
import type { Io } from '../terminal/io.js';

/**
 * How often the files are looked at. The system gives no notice of a file behind a link, in a folder that was made
 * anew, or on a network drive.
 */
const LOOK_MS = 200;
/** Editors write a file in several steps; together they count as one change. */
const SETTLE_MS = 100;
/** A file that changes all the time, such as a log, is read as it is after this long. */
const SETTLE_MS_MAX = 2000;

/**
 * Runs `work` now and after each change of the files, until Ctrl-C, or until nobody reads its output any more, as with
 * `| head`. Another failure is reported, and watching goes on. Changes during a run lead to one more run.
 */
export async function watchFiles(paths: readonly string[], io: Io, work: () => Promise<number>): Promise<number> {
  if (paths.includes('-')) {
    throw new WindrowError(
      'arguments',
      '--watch: expected files, received `-`; standard input has no changes to watch',
    );
  }
  const files = new WatchedFiles(paths, io);
  try {
    for (;;) {
      files.forgetChanges();
      await work().catch((error: unknown) => {
        if (isClosedPipe(error)) throw error;
        return io.stderr.write(`windrow: ${describeFailure(error)}\n`);
      });
      const watched = `watching ${counted(paths.length, 'file')}; press Ctrl-C to stop`;
      await io.stderr.write(`windrow: ${watched}\n`);
      if ((await files.nextChange()) !== 'interrupted') continue;
      // A terminal has shown ^C on a line of its own.
      if (io.stderr.isTerminal) await io.stderr.write('\n').catch(() => undefined);
      return EXIT_DONE;
    }
  } finally {
    files.close();
  }
}

class WatchedFiles {
  readonly #paths: readonly string[];
  readonly #io: Io;
  readonly #stopListening: () => void;
  #isInterrupted = false;
  /** The state of the files before the last run. */
  #stateSeen = '';
  #wake: () => void = () => undefined;

  constructor(paths: readonly string[], io: Io) {
    this.#paths = paths;
    this.#io = io;
    this.#stopListening = io.onInterrupt(() => {
      this.#isInterrupted = true;
      this.#wake();
    });
  }

  /** Changes up to now count no more. */
  forgetChanges(): void {
    this.#stateSeen = this.#stateNow();
  }

  async nextChange(): Promise<'changed' | 'interrupted'> {
    for (;;) {
      if (this.#isInterrupted) return 'interrupted';
      if (this.#stateNow() !== this.#stateSeen) {
        await this.#settled();
        return this.#isInterrupted ? 'interrupted' : 'changed';
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, LOOK_MS);
      });
    }
  }

  close(): void {
    this.#stopListening();
  }

  // Waits until the files no longer change.
  async #settled(): Promise<void> {
    const untilMs = this.#io.clock() + SETTLE_MS_MAX;
    for (let last = ''; last !== this.#stateNow() && !this.#isInterrupted && this.#io.clock() < untilMs; ) {
      last = this.#stateNow();
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    }
  }

  #stateNow(): string {
    return this.#paths.map((path) => this.#stateOf(path)).join('\n');
  }

  #stateOf(path: string): string {
    try {
      const stats = this.#io.fs.statSync(path, { throwIfNoEntry: false });
      return stats === undefined ? 'gone' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
    } catch (error) {
      return String(error); // a circle of links, or a folder without rights: the run says so
    }
  }
}
