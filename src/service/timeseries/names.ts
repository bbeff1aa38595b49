import { hasMoreCharacters } from '../http/characters.js';

export const NAME_CHARS_MAX = 256;
/** What a name may not have: control characters, and lone surrogates, which UTF-8 cannot encode. */
const NOT_IN_NAMES = /[\p{Cc}\p{Cs}]/u;

/** What is expected instead of this name of a series; undefined for a valid name. */
export function nameProblem(name: unknown): string | undefined {
  const isText = typeof name === 'string' && name !== '' && !hasMoreCharacters(name, NAME_CHARS_MAX);
  return isText && !NOT_IN_NAMES.test(name)
    ? undefined
    : `a text of 1 to ${NAME_CHARS_MAX} characters, none of them a control character`;
}
