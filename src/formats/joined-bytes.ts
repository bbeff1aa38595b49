/** One part as it is, or several in one. */
export function joinedBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = parts;
  if (first !== undefined && others.length === 0) return first;
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
