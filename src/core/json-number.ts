/** A finite number in JSON, bit for bit: `JSON.stringify` writes −0 as 0. */
export function jsonNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Like `JSON.stringify`, but with −0 where a number is −0. The value has no lone surrogates: UTF-8 has none. */
export function exactJson(value: unknown, space?: number): string {
  const marked = JSON.stringify(value, (_name, part) => (Object.is(part, -0) ? '\uD800' : part), space);
  return marked.replaceAll('"\\ud800"', '-0');
}
