/** When there are too many items, the oldest are dropped until this share of the limits is left. */
const KEPT_SHARE = 0.9;

interface Keepable {
  readonly isRunning: boolean;
  readonly schedule: { readonly row: { readonly request: string } };
}

/** Items by their ids, in the order of their use. An item takes several times the length of its request. */
export class KeptItems<Item extends Keepable> extends Map<string, Item> {
  #requestChars = 0;

  override set(itemId: string, item: Item): this {
    this.delete(itemId);
    this.#requestChars += item.schedule.row.request.length;
    return super.set(itemId, item);
  }

  override delete(itemId: string): boolean {
    this.#requestChars -= this.get(itemId)?.schedule.row.request.length ?? 0;
    return super.delete(itemId);
  }

  override clear(): void {
    this.#requestChars = 0;
    super.clear();
  }

  /** If there are too many, or their requests too long, drops those used least recently that do not run. */
  trim(countMax: number, requestCharsMax: number): void {
    const areFew = (share: number): boolean =>
      this.size <= share * countMax && this.#requestChars <= share * requestCharsMax;
    if (areFew(1)) return;
    for (const [itemId, { isRunning }] of this) {
      if (!isRunning) this.delete(itemId);
      if (areFew(KEPT_SHARE)) return;
    }
  }
}
