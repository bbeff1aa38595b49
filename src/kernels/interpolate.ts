/**
 * The value at the fraction `f` (0 to 1) of the way from `a` to `b`. Computed from the nearer end, so that both ends
 * come out exactly and the result never lies beyond them (source: NumPy's percentile).
 */
export function lerp(a: number, b: number, f: number): number {
  const difference = b - a;
  return f < 0.5 ? a + difference * f : b - difference * (1 - f);
}
