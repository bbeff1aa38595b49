import { WindrowError } from '../core/errors.js';

/** The error for a package that was left out with `--omit=optional`; any other error is given back as it is. */
export function missingPackage(part: string, error: unknown): unknown {
  const message = error instanceof Error ? error.message : '';
  const name = /Cannot find package '([^']+)'/.exec(message)?.[1];
  if (name === undefined) return error;
  const hint = `it was left out with --omit=optional; \`npm install ${name}\` brings it back`;
  return new WindrowError('arguments', `${part} needs the package ${name}: ${hint}`, { cause: error });
}
