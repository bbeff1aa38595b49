/**
 * A lock with shared readers and one exclusive writer. A waiting writer goes before later readers. Readers that may
 * not join the current ones go together after them.
 */
export class Turns {
  #readerCount = 0;
  #isWriting = false;
  #waitingReaders: (() => void)[] = [];
  #waitingWriter: (() => void) | undefined;

  /** Whether somebody reads or writes. */
  get areTaken(): boolean {
    return this.#readerCount > 0 || this.#isWriting;
  }

  async read<Result>(work: () => Promise<Result>, mayJoin: () => boolean): Promise<Result> {
    const isWritersTurn = this.#isWriting || this.#waitingWriter !== undefined;
    if (isWritersTurn || (this.#readerCount > 0 && !mayJoin())) {
      await new Promise<void>((resolve) => this.#waitingReaders.push(resolve));
    } else {
      this.#readerCount++;
    }
    try {
      return await work();
    } finally {
      this.#readerCount--;
      if (this.#readerCount === 0) this.#admit();
    }
  }

  /** The caller must await one write before it starts another. */
  async write(work: () => Promise<void>): Promise<void> {
    if (this.#readerCount > 0) {
      await new Promise<void>((resolve) => {
        this.#waitingWriter = resolve;
      });
    } else {
      this.#isWriting = true;
    }
    try {
      await work();
    } finally {
      this.#isWriting = false;
      this.#admitReaders();
    }
  }

  #admit(): void {
    const enter = this.#waitingWriter;
    if (enter === undefined) this.#admitReaders();
    else {
      this.#waitingWriter = undefined;
      this.#isWriting = true;
      enter();
    }
  }

  #admitReaders(): void {
    const readers = this.#waitingReaders;
    this.#waitingReaders = [];
    this.#readerCount = readers.length;
    for (const enter of readers) enter();
  }
}
