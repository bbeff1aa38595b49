/** Work that stops on the way, where others may have their turns. */
export type InTurns<Result> = Generator<void, Result>;

/** Does all of it at once. */
export function finish<Result>(work: InTurns<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
