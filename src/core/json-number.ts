/** A finite number in JSON, bit for bit: `JSON.stringify` writes −0 as 0. */
export function jsonNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
