/** Long work cut into slices: it yields wherever other work may take its turn. */
export type InTurns<Result> = Generator<void, Result>;

/** Runs such work to its end without a pause. */
export function finish<Result>(work: InTurns<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
