// All but tab and line feed, and the marks that turn the direction of a text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text whose control characters are written as `\u001b`: a name in a file cannot clear the screen, set the title of
 * the window or hide what is said of it (CWE-150). JSON stays the same JSON.
 */
export function printable(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
