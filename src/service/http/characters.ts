/**
 * Whether a text has more characters than this. Characters are code points, as `maxLength` of JSON Schema counts them:
 * names in paths and queries are checked by it, and those in bodies must have the same bound.
 */
export function hasMoreCharacters(text: string, most: number): boolean {
  if (text.length <= most) return false;
  return text.length > 2 * most || [...text].length > most;
}
