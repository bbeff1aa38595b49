/** How long to wait for the read that runs, which may be retried for long while the database is away. */
const WAIT_MS_MAX = 100;

/**
 * One read for all callers that come while another runs. It begins after each of their calls, so that all of them see
 * what was committed before.
 */
export class SharedRead<Result> {
  readonly #read: () => Promise<Result>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Result> | undefined;

  constructor(read: () => Promise<Result>) {
    this.#read = read;
  }

  call(): Promise<Result> {
    this.#next ??= this.#readNext();
    return this.#next;
  }

  async #readNext(): Promise<Result> {
    await settledWithin(this.#running, WAIT_MS_MAX);
    this.#next = undefined;
    const reading = this.#read();
    this.#running = reading;
    return reading;
  }
}

function settledWithin(work: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    work.then(end, end);
  });
}
