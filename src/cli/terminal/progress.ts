import type { SingleBar } from 'cli-progress';
import { unlessMissing } from '../failure.js';
import type { Io } from './io.js';

/** Shorter runs end before anyone could read the bar. */
const FIRST_SHOWN_MS = 400;
const MEGABYTE = 1e6;

/** A bar on the terminal that shows how much has been read. */
export class Progress {
  readonly #io: Io;
  readonly #totalBytes: number | undefined;
  readonly #startedMs: number;
  readonly #stopListening: () => void;
  #readBytes = 0;
  #state: 'waiting' | 'shown' | 'stopped' = 'waiting';
  #bar: SingleBar | undefined;

  /** @param totalBytes undefined if unknown; then only the bytes read are shown. */
  constructor(totalBytes: number | undefined, io: Io) {
    this.#io = io;
    this.#totalBytes = totalBytes;
    this.#startedMs = io.clock();
    // The bar hides the cursor, which must come back however the run ends.
    this.#stopListening = io.onInterrupt(() => this.stop());
    if (!io.stderr.isTerminal) this.stop();
  }

  readonly add = (byteCount: number): void => {
    this.#readBytes += byteCount;
    this.#bar?.update(megabytes(this.#readBytes));
    if (this.#state !== 'waiting' || this.#io.clock() - this.#startedMs <= FIRST_SHOWN_MS) return;
    this.#state = 'shown';
    void this.#show();
  };

  /** Starts again for a second pass over the input. */
  restart(): void {
    this.#readBytes = 0;
  }

  stop(): void {
    this.#state = 'stopped';
    this.#bar?.stop();
    this.#bar = undefined;
    this.#stopListening();
  }

  async #show(): Promise<void> {
    const loaded = await import('cli-progress').catch(unlessMissing);
    const { stream } = this.#io.stderr;
    if (loaded === undefined || stream === undefined || this.#state === 'stopped') return;
    const total = this.#totalBytes;
    const format = total === undefined ? '{value} MB read' : '{bar} {percentage}% of {total} MB, {eta_formatted} left';
    const options = { stream, format, hideCursor: true, clearOnComplete: true, barsize: 30, fps: 8 };
    this.#bar = new loaded.default.SingleBar(options);
    this.#bar.start(megabytes(total ?? 0), megabytes(this.#readBytes));
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / MEGABYTE);
}
