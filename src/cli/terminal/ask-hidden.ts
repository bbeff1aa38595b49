import type { ReadStream, WriteStream } from 'node:tty';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const CTRL_U = '\x15';

/** Asks for a line that the terminal does not show, such as a password. */
export async function askHidden(question: string, input: ReadStream, output: WriteStream): Promise<string> {
  // Raw mode before the question: the terminal then echoes nothing and passes on each key.
  input.setRawMode(true);
  output.write(question);
  input.setEncoding('utf8');
  try {
    return await readLine(input);
  } finally {
    input.pause();
    input.setRawMode(false);
    output.write('\n');
  }
}

function readLine(input: ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed: readonly string[] = [];
    const end = (finish: () => void): void => {
      input.off('data', take).off('end', stop).off('error', fail);
      finish();
    };
    const fail = (error: Error): void => end(() => reject(error));
    const stop = (): void => end(() => resolve(typed.join('')));
    const take = (text: string | Buffer): void => {
      const keys = [...String(text)];
      for (const [index, key] of keys.entries()) {
        if (key === '\r' || key === '\n' || key === CTRL_D) {
          // What was typed ahead or pasted answers the next question; a flowing stream would lose it.
          input.pause();
          const rest = keys.slice(index + 1).join('');
          if (rest !== '') input.unshift(rest);
          stop();
          return;
        }
        if (key === CTRL_C) {
          input.setRawMode(false);
          process.kill(process.pid, 'SIGINT');
          return;
        }
        typed = afterKey(typed, key);
      }
    };
    input.on('data', take).on('end', stop).on('error', fail);
    input.resume();
  });
}

function afterKey(typed: readonly string[], key: string): readonly string[] {
  if (key === CTRL_U) return [];
  if (key === '\x7f' || key === '\b') return typed.slice(0, -1);
  return key < ' ' ? typed : [...typed, key];
}
