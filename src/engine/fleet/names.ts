/** The names of a fleet's members, whose numbers count from 0 in the order of joining. */
export class Names {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];

  numberOf(timeseriesId: string): number | undefined {
    return this.#numbers.get(timeseriesId);
  }

  of(member: number): string {
    return this.#names[member]!;
  }

  add(timeseriesId: string): void {
    this.#numbers.set(timeseriesId, this.#names.length);
    this.#names.push(timeseriesId);
  }
}
