/** Where a text stops being JSON, and what would go on there. */
export interface JsonFault {
  /** Index into the text, in UTF-16 units. */
  readonly offset: number;
  readonly expected: string;
  readonly received: string;
  readonly suggestion?: string;
}

const SPACE = /[ \t\n\r]*/y;
// A control character in a text must be written as an escape.
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON says which characters may not stand in a text.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
const WORD = /(?:true|false|null)(?!\w)/y;
const SHOWN = /"[^"\n]{0,20}"?|[\w.+-]+|[^\s]/y;

type Place = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'end';

/** What may stand at each place, in words. */
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
 * The first place at which a text is not JSON, undefined when it is. JSON.parse tells no position in some of its
 * messages, so the text is walked again, only after it has failed.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: ('[' | '{')[] = [];
  let place: Place = 'value';
  let at = 0;
  let commaAt = -1;

  const fault = (): JsonFault => describeFault(text, at, commaAt, expectedAt(place, open.at(-1)));
  const afterValue = (): Place => (open.length === 0 ? 'end' : 'comma');

  for (;;) {
    at = endOf(SPACE, text, at) ?? at;
    const sign = text[at];
    if (sign === undefined) return place === 'end' ? undefined : fault();
    const isClosing = sign === ']' ? open.at(-1) === '[' : sign === '}' && open.at(-1) === '{';
    if (isClosing && (place === 'comma' || place === 'value or ]' || place === 'key or }')) {
      open.pop();
      place = afterValue();
      at++;
    } else if (place === 'value' || place === 'value or ]') {
      if (sign === '[' || sign === '{') {
        open.push(sign);
        place = sign === '[' ? 'value or ]' : 'key or }';
        at++;
        continue;
      }
      const end = endOf(STRING, text, at) ?? endOf(NUMBER, text, at) ?? endOf(WORD, text, at);
      if (end === undefined) return fault();
      at = end;
      place = afterValue();
    } else if (place === 'key' || place === 'key or }') {
      const end = endOf(STRING, text, at);
      if (end === undefined) return fault();
      at = end;
      place = 'colon';
    } else if (sign === (place === 'colon' ? ':' : ',') && place !== 'end') {
      if (place === 'comma') commaAt = at;
      place = place === 'colon' || open.at(-1) === '[' ? 'value' : 'key';
      at++;
    } else return fault();
  }
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function expectedAt(place: Place, within: '[' | '{' | undefined): string {
  return place === 'comma' ? `\`,\` or \`${within === '[' ? ']' : '}'}\`` : EXPECTED[place];
}

function describeFault(text: string, at: number, commaAt: number, expected: string): JsonFault {
  SHOWN.lastIndex = at;
  const shown = SHOWN.exec(text)?.[0];
  const received = shown === undefined ? 'the end of the text' : `\`${shown}\``;
  const suggestion = suggest(text, at, commaAt);
  return { offset: at, expected, received, ...(suggestion === undefined ? {} : { suggestion }) };
}

function suggest(text: string, at: number, commaAt: number): string | undefined {
  const sign = text[at];
  if (text.trim() === '') return 'the text is empty';
  if (sign === "'") return 'JSON has double quotes alone';
  if (text.startsWith('//', at) || text.startsWith('/*', at) || sign === '#')
    return 'JSON has no comments; leave it out';
  if ((sign === '}' || sign === ']') && commaAt >= 0 && text.slice(commaAt + 1, at).trim() === '') {
    return `leave out the \`,\` before the \`${sign}\``;
  }
  if (sign === '"') return endOf(STRING, text, at) === undefined ? stringHint(text, at) : undefined;
  if (/^(?:NaN|[+-]?Infinity|undefined|True|False|None)\b/.test(text.slice(at, at + 12))) {
    return 'JSON has true, false, null, and plain numbers';
  }
  return undefined;
}

function stringHint(text: string, at: number): string {
  const line = text.slice(at + 1).split('\n', 1)[0] ?? '';
  return /(?<!\\)(?:\\\\)*"/.test(line)
    ? 'a `\\` must be written `\\\\`'
    : 'the text in quotes is not closed on its line';
}

/** Line and column of an offset, both from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** The line of an offset with a mark below it, cut to what fits. */
export function showPlace(text: string, offset: number): string {
  const { line, column } = placeOf(text, offset);
  const whole = (text.split('\n')[line - 1] ?? '').replace(/\r$/, '').replaceAll('\t', ' ');
  const from = Math.max(0, column - 40);
  const number = `${line}`.padStart(5);
  const shown = whole.slice(from, from + 76);
  return `${number} | ${shown}\n${' '.repeat(5)} | ${' '.repeat(column - 1 - from)}^`;
}
