import { type Placement, placementOf, shardOf } from '../storage/shard.js';
import type { Reader, Storage } from '../storage/storage.js';
import { organisations } from '../storage/tables/identity.js';

/** Tells in which shards the series of an organisation lie: fixed before anybody can ask, so cached for good. */
export class Placements {
  readonly #storage: Storage;
  readonly #known = new Map<string, Placement>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  of(organisation: string): Placement | Promise<Placement> {
    return (
      this.#known.get(organisation) ?? this.#storage.read(shardOf(organisation), (tx) => this.in(tx, organisation))
    );
  }

  /** Like `of`, within a transaction of one of the organisation's shards. */
  async in(tx: Reader, organisation: string): Promise<Placement> {
    const known = this.#known.get(organisation);
    if (known !== undefined) return known;
    const row = await tx.get(organisations, { organisation });
    const placement = placementOf(organisation, row?.groupCount ?? 1);
    this.#known.set(organisation, placement);
    return placement;
  }
}
