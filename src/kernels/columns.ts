/** Copies the first `count` entries; making a view pays only for many. */
export function copyInto(target: Float64Array, source: Float64Array, count: number): void {
  if (count < 32) for (let i = 0; i < count; i++) target[i] = source[i]!;
  else target.set(source.length === count ? source : source.subarray(0, count));
}
