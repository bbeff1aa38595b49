import { WindrowError } from '../../core/errors.js';
import type { Given } from '../command.js';
import { arrivingFrom } from '../files/inputs.js';
import type { Io } from '../terminal/io.js';

const PASSWORD_CHARS_MAX = 1024;
const INPUT_BYTES_MAX = 64 * 1024;

/** Reads a new password: from standard input with `--password-stdin`, else typed twice at the terminal. */
export async function readPassword(given: Given, io: Io): Promise<string> {
  const password = given.options.has('--password-stdin') ? await readInput(io) : await ask(io);
  if (password === '') throw wrong('expected a password, received nothing');
  if (password.length > PASSWORD_CHARS_MAX) throw wrong(`expected at most ${PASSWORD_CHARS_MAX} characters`);
  return password;
}

// A final line end is not part of the password.
async function readInput(io: Io): Promise<string> {
  const parts: Uint8Array[] = [];
  let byteCount = 0;
  for await (const part of arrivingFrom(io.stdin().bytes, 'standard input')) {
    byteCount += part.length;
    if (byteCount > INPUT_BYTES_MAX) throw wrong(`expected at most ${PASSWORD_CHARS_MAX} characters`);
    parts.push(part);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
    return text.replace(/\r?\n$/, '');
  } catch (cause) {
    throw new WindrowError('arguments', '--password-stdin: expected UTF-8 text', { cause });
  }
}

async function ask(io: Io): Promise<string> {
  const { askHidden } = io.stdin();
  if (askHidden === undefined) {
    throw wrong('standard input is not a terminal, so the password cannot be asked for; use --password-stdin');
  }
  const password = await askHidden('Password: ');
  if ((await askHidden('Once more: ')) !== password)
    throw wrong('the two passwords are not the same; nothing was done');
  return password;
}

function wrong(problem: string): WindrowError {
  return new WindrowError('arguments', `user add: ${problem}`);
}
