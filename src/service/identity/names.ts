import { describeValue, WindrowError } from '../../core/errors.js';
import type { ServiceContext } from '../context.js';

export type AdministrationContext = Pick<ServiceContext, 'storage' | 'clock' | 'random'>;

export interface OfOrganisation {
  /** Leave out for all organisations. */
  readonly organisation?: string;
}

const NAME_CHARS_MAX = 256;
const PRINTABLE = /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u;
/** What a header can carry (RFC 9110): requests send the collection's id in one. */
const HEADER_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Checks a name for people: one line, without spaces around it. */
export function checkName(place: string, name: unknown): string {
  const isName = typeof name === 'string' && name.length <= NAME_CHARS_MAX && PRINTABLE.test(name);
  if (isName && name.trim() === name) return name;
  throw expected(place, `1 to ${NAME_CHARS_MAX} characters in one line, without spaces around them`, name);
}

export function checkHeaderText(place: string, text: unknown): string {
  if (typeof text === 'string' && text.length <= NAME_CHARS_MAX && HEADER_TEXT.test(text)) return text;
  throw expected(place, `1 to ${NAME_CHARS_MAX} ASCII characters, without spaces around them`, text);
}

/** Checks that every name is known; returns each once, in the order of `known`. */
export function checkChoices(place: string, given: unknown, known: readonly string[]): readonly string[] {
  const names: readonly unknown[] = Array.isArray(given) ? given : [given];
  const unknownName = names.find((name) => !known.some((one) => one === name));
  if (names.length > 0 && unknownName === undefined) return known.filter((name) => names.includes(name));
  throw expected(place, `one or more of ${known.join(', ')}`, unknownName);
}

export function expected(place: string, what: string, received: unknown): WindrowError {
  return new WindrowError('arguments', `${place}: expected ${what}, received ${describeValue(received)}`);
}
