// A key that an object has twice: JSON.parse takes the last one in silence, other readers the first.

export interface RepeatedKey {
  readonly key: string;
  /** Index into the text, in UTF-16 units. */
  readonly offset: number;
  /** The keys and indexes that lead to it, its own among them. */
  readonly path: readonly (string | number)[];
}

/** Strings, a key with its colon; brackets and commas. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\],]/g;

/** The first key that an object of a text has twice; undefined if there is none. @param json valid JSON. */
export function findRepeatedKey(json: string): RepeatedKey | undefined {
  const open: { readonly keys?: Set<string>; place: string | number }[] = [];
  for (const { 0: token, 1: colon, index } of json.matchAll(TOKENS)) {
    const top = open.at(-1);
    if (token === '{') open.push({ keys: new Set(), place: '' });
    else if (token === '[') open.push({ place: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof top?.place === 'number') top.place++;
    else if (colon !== undefined && top?.keys !== undefined) {
      const key: string = JSON.parse(token.slice(0, -colon.length));
      top.place = key;
      if (top.keys.has(key)) return { key, offset: index, path: open.map(({ place }) => place) };
      top.keys.add(key);
    }
  }
  return undefined;
}

const [QUOTE, COLON, BACKSLASH] = [0x22, 0x3a, 0x5c];

/** How many keys a text has, those of nested objects among them: fast, to tell that none is repeated. */
export function countKeys(json: string): number {
  let count = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(json, at, json.length);
    else if (code === COLON) count++;
  }
  return count;
}

/** Where the string that begins at `from` ends; `end` or later without a quote before it. */
export function closingQuote(text: string, from: number, end: number): number {
  let at = from + 1;
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) break;
    if (code === BACKSLASH) at++;
  }
  return at;
}
