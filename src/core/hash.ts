/**
 * A 64-bit hash of a text's UTF-16 code units, to tell plans apart and to notice damaged bytes; no defence
 * against a forger. Source: FNV-1a (Fowler, Noll, Vo), in two 32-bit lanes with different primes and a last mix
 * (the finalizer of MurmurHash3), because JavaScript has no fast 64-bit product.
 */
export function hashText(text: string): bigint {
  let low = 0x811c9dc5;
  let high = 0xcbf29ce4;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
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
