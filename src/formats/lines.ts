import { WindrowError } from '../core/errors.js';
import type { FormatSource } from './format.js';

/** A line of a text file without its line end. Numbers count from 1. */
export interface TextLine {
  readonly text: string;
  readonly number: number;
}

const LINE_LENGTH_MAX = 4_194_304;

/** The lines of a file in UTF-8. */
export async function* textLines({ name, blocks }: FormatSource): AsyncGenerator<TextLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let number = 0;
  const decode = (bytes?: Uint8Array): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (error) {
      throw new WindrowError('file.format', `${name}, after line ${number}: is not UTF-8 text`, { cause: error });
    }
  };
  for await (const block of blocks()) {
    const lines = (rest + decode(block)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_LENGTH_MAX) {
      throw new WindrowError(
        'file.format',
        `${name}, line ${number + 1}: is longer than ${LINE_LENGTH_MAX} characters`,
      );
    }
    for (const line of lines) yield { text: line.replace(/\r$/, ''), number: ++number };
  }
  rest += decode();
  if (rest !== '') yield { text: rest, number: ++number };
}
