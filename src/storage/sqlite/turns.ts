/** Readers go together, a writer goes alone; a waiting writer goes before readers that come after it. */
export class Turns {
  #readerCount = 0;
  #isWriting = false;
  #waitingReaders: (() => void)[] = [];
  #waitingWriter: (() => void) | undefined;

  async read<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isWriting || this.#waitingWriter !== undefined) {
      await new Promise<void>((resolve) => this.#waitingReaders.push(resolve));
    } else {
      this.#readerCount++;
    }
    try {
      return await work();
    } finally {
      this.#readerCount--;
      if (this.#readerCount === 0) this.#admitWriter();
    }
  }

  /** There is one writer at a time: the caller waits for the last before it comes again. */
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
      const readers = this.#waitingReaders;
      this.#waitingReaders = [];
      this.#readerCount = readers.length;
      for (const enter of readers) enter();
    }
  }

  #admitWriter(): void {
    const enter = this.#waitingWriter;
    this.#waitingWriter = undefined;
    this.#isWriting = enter !== undefined;
    enter?.();
  }
}
