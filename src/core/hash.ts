/**
 * A 64-bit hash of a text's UTF-16 code units, to tell plans apart and to notice damaged bytes; it does not
 * protect against forgery. Source: FNV-1a (Fowler, Noll, Vo), in two 32-bit lanes with different primes and a last mix
 * (the finalizer of MurmurHash3), because JavaScript has no fast 64-bit product.
 */
export function hashText(text: string): bigint {
  return hashUnits(text.length, (index) => text.charCodeAt(index));
}

/** The same for the first `count` bytes, each taken as a code unit. */
export function hashBytes(bytes: Uint8Array, count: number): bigint {
  return hashUnits(count, (index) => bytes[index] as number); // `as`: callers stay within the bytes
}

function hashUnits(count: number, unitAt: (index: number) => number): bigint {
  let low = 0x811c9dc5;
  let high = 0xcbf29ce4;
  for (let i = 0; i < count; i++) {
    const unit = unitAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x5bd1e995);
  }
  return (BigInt(mix(high ^ low)) << 32n) | BigInt(mix(low));
}

function mix(value: number): number {
  let h = value ^ (value >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
