import { createScanner, type JSONScanner } from 'jsonc-parser';

/** Where a text stops being JSON, and what was expected there. */
export interface JsonFault {
  /** Index into the text, in UTF-16 units. */
  readonly offset: number;
  readonly expected: string;
  readonly received: string;
  readonly suggestion?: string;
}

/** Token numbers of jsonc-parser, whose enums exist only as types. */
const TOKEN = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  colon: 6,
  string: 10,
  end: 17,
};
const VALUES = [7, 8, 9, 10, 11];
const TRIVIA = [14, 15];
const UNCLOSED = 2;

type Place = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'end';

/** What each place expects, in words. */
const EXPECTED: Readonly<Record<Place, string>> = {
  value: 'a value',
  'value or ]': 'a value or `]`',
  key: 'a field name in double quotes',
  'key or }': 'a field name in double quotes, or `}`',
  colon: '`:` after the field name',
  comma: '`,`',
  end: 'nothing more',
};

/**
 * The first place at which a text is not JSON; undefined if it is JSON. Called only after JSON.parse has failed, as
 * some of its messages have no position. Works on tokens, because jsonc-parser's parser accepts more than JSON and
 * overflows the stack on deeply nested texts.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const scanner = createScanner(text);
  const open: number[] = [];
  let place: Place = 'value';
  let commaAt = -1;
  const afterValue = (): Place => (open.length === 0 ? 'end' : 'comma');
  const fault = (): JsonFault => describeFault(text, scanner, commaAt, expectedAt(place, open.at(-1)));

  for (;;) {
    const token = scan(scanner);
    const isValue = VALUES.includes(token) && isWhole(text, scanner);
    if (token === TOKEN.end) return place === 'end' ? undefined : fault();
    if (token === TOKEN.closeBrace || token === TOKEN.closeBracket) {
      const isOpen = open.at(-1) === token - 1;
      if (!isOpen || (place !== 'comma' && place !== 'value or ]' && place !== 'key or }')) return fault();
      open.pop();
      place = afterValue();
    } else if (place === 'value' || place === 'value or ]') {
      if (token === TOKEN.openBrace || token === TOKEN.openBracket) {
        open.push(token);
        place = token === TOKEN.openBracket ? 'value or ]' : 'key or }';
      } else if (isValue) place = afterValue();
      else return fault();
    } else if (place === 'key' || place === 'key or }') {
      if (token !== TOKEN.string || !isValue) return fault();
      place = 'colon';
    } else if (place === 'colon' && token === TOKEN.colon) place = 'value';
    else if (place === 'comma' && token === TOKEN.comma) {
      commaAt = scanner.getTokenOffset();
      place = open.at(-1) === TOKEN.openBracket ? 'value' : 'key';
    } else return fault();
  }
}

function scan(scanner: JSONScanner): number {
  let token: number = scanner.scan();
  while (TRIVIA.includes(token)) token = scanner.scan();
  return token;
}

// The scanner would split `1x` into two tokens.
function isWhole(text: string, scanner: JSONScanner): boolean {
  const end = scanner.getTokenOffset() + scanner.getTokenLength();
  return Number(scanner.getTokenError()) === 0 && (text[end - 1] === '"' || !/[\w.]/.test(text[end] ?? ''));
}

function expectedAt(place: Place, within: number | undefined): string {
  return place === 'comma' ? `\`,\` or \`${within === TOKEN.openBracket ? ']' : '}'}\`` : EXPECTED[place];
}

const SHOWN = /"[^"\n]{0,20}"?|[\w.+-]+|[^\s]/y;

function describeFault(text: string, scanner: JSONScanner, commaAt: number, expected: string): JsonFault {
  const offset = scanner.getTokenOffset();
  SHOWN.lastIndex = offset;
  const shown = SHOWN.exec(text)?.[0];
  const received = shown === undefined ? 'the end of the text' : `\`${shown}\``;
  const suggestion = suggest(text, scanner, commaAt);
  return { offset, expected, received, ...(suggestion === undefined ? {} : { suggestion }) };
}

function suggest(text: string, scanner: JSONScanner, commaAt: number): string | undefined {
  const at = scanner.getTokenOffset();
  const sign = text[at];
  if (text.trim() === '') return 'the text is empty';
  if (sign === "'") return 'JSON uses double quotes only';
  if (text.startsWith('//', at) || text.startsWith('/*', at) || sign === '#') {
    return 'JSON has no comments; remove it';
  }
  if ((sign === '}' || sign === ']') && commaAt >= 0 && text.slice(commaAt + 1, at).trim() === '') {
    return `remove the \`,\` before the \`${sign}\``;
  }
  if (sign === '"') {
    const error = Number(scanner.getTokenError());
    if (error === 0) return undefined;
    return error === UNCLOSED ? 'the string is not closed on its line' : 'a `\\` must be written `\\\\`';
  }
  if (/^(?:NaN|[+-]?Infinity|undefined|True|False|None)\b/.test(text.slice(at, at + 12))) {
    return 'JSON has true, false, null and finite numbers';
  }
  return undefined;
}
