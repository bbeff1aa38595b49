/** Words for the characters of values that no name may have. */
const WORDS: Readonly<Record<string, string>> = { '°': 'deg', '³': '3', '²': '2', '%': 'percent', '/': '_per_' };

/**
 * Names the values of enumerations (`x-enum-varnames`) where two would get one name in a generated client, which drops
 * other characters than letters and digits, and the case: `MW` would stand for `mW` as well.
 *
 * @param schema a part of an OpenAPI document, changed in place.
 */
export function nameEnums(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const part of Object.values(schema)) nameEnums(part);
  if (!('enum' in schema) || !Array.isArray(schema.enum) || !schema.enum.every(isText)) return;
  const keys = schema.enum.map(keyOf);
  if (new Set(keys).size < keys.length) Object.assign(schema, { 'x-enum-varnames': namesOf(schema.enum) });
}

const isText = (value: unknown): value is string => typeof value === 'string';

const keyOf = (text: string): string => text.replace(/[^a-z0-9]/gi, '').toLowerCase();

/** Names of which no two are the same, whatever the case. */
function namesOf(values: readonly string[]): string[] {
  const taken = new Set<string>();
  return values.map((value) => {
    const hasBothCases = values.some((other) => other !== value && other.toLowerCase() === value.toLowerCase());
    const spelt = hasBothCases ? value.replace(/^m(?=[A-Z])/, 'milli').replace(/^M(?=[A-Z])/, 'mega') : value;
    const plain = spelt.replace(/[^a-z0-9]/gi, (sign) => WORDS[sign] ?? '_').replace(/^(?=\d)/, '_');
    let name = plain;
    for (let count = 2; taken.has(keyOf(name)); count++) name = `${plain}_${count}`;
    taken.add(keyOf(name));
    return name;
  });
}
