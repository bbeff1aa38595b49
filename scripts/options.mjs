// The options of the project's own programs.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * Reads the options of a program. `--help` prints the comment at the top of its file; an option that does not exist, or
 * a wrong value, ends it with a sentence and exit code 2.
 *
 * @param {string} url the program's `import.meta.url`.
 * @param {Record<string, { type: 'string' | 'number' | 'boolean', default?: unknown, among?: readonly string[] }>}
 *   options as `parseArgs` takes them, with numbers too, and values that are among a few.
 */
export function readOptions(url, options, { allowPositionals = false } = {}) {
  const { values, positionals } = parse(options, allowPositionals);
  if (values.help) {
    console.log(helpOf(url));
    process.exit(0);
  }
  const read = Object.entries(options).map(([name, option]) => [name, readOption(name, option, values[name])]);
  return { options: Object.fromEntries(read), positionals };
}

function parse(options, allowPositionals) {
  const types = Object.entries(options).map(([name, { type }]) => [
    name,
    { type: type === 'boolean' ? 'boolean' : 'string' },
  ]);
  try {
    return parseArgs({ options: { ...Object.fromEntries(types), help: { type: 'boolean' } }, allowPositionals });
  } catch (error) {
    return refuse(error.message);
  }
}

function readOption(name, { type, default: usual, among }, given) {
  if (given === undefined) return usual ?? (type === 'boolean' ? false : undefined);
  if (type === 'number' && (given.trim() === '' || Number.isNaN(Number(given)))) {
    return refuse(`--${name}: expected a number, received ${JSON.stringify(given)}`);
  }
  if (among !== undefined && !among.includes(given)) {
    return refuse(`--${name}: expected ${among.join(' or ')}, received ${JSON.stringify(given)}`);
  }
  return type === 'number' ? Number(given) : given;
}

/** Ends the program because it was called wrongly. */
export function refuse(message) {
  console.error(`${message}; --help lists the options`);
  process.exit(2);
}

function helpOf(url) {
  const [comment = ''] = /^(?:\/\/.*\n)+/m.exec(readFileSync(fileURLToPath(url), 'utf8')) ?? [];
  return comment.replaceAll(/^\/\/ ?/gm, '').trimEnd();
}
