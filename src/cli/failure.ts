import { type ErrorCode, InputError, OutputLimitError, WindrowError } from '../core/errors.js';
import { SKIP_ROWS } from '../formats/table/read-text.js';
import { optionName } from '../formats/table/table-options.js';
import { systemCode } from '../storage/system-code.js';

export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_WRONG = 2;
/** 128 plus the number of the signal, as in shells. */
export const EXIT_INTERRUPTED = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Codes of mistakes in the request or the arguments, besides all that begin with `request.`. */
const WRONG_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'arguments',
  'option.value',
  'input.missing',
  'csv.unclear',
  'output.limit',
  'file.missing',
  'file.directory',
  'identity.exists',
  'identity.missing',
]);

/** Whether the reader of our output has gone, as with `| head`: that is no failure. */
export function isClosedPipe(error: unknown): boolean {
  return systemCode(error) === 'EPIPE';
}

export function exitCodeOf(error: unknown): number {
  if (isMissingPackage(error)) return EXIT_WRONG;
  if (!(error instanceof WindrowError)) return EXIT_FAILED;
  return error.code.startsWith('request.') || WRONG_CODES.has(error.code) ? EXIT_WRONG : EXIT_FAILED;
}

/** The message for the user: what is wrong and, for our own mistakes, an apology and the stack. */
export function describeFailure(error: unknown): string {
  if (error instanceof InputError || error instanceof OutputLimitError) return describeByFlag(error);
  if (error instanceof WindrowError) {
    const isOfRow = error.options.some(({ option }) => option === SKIP_ROWS.option);
    return isOfRow ? `${error.message}\n  --on-bad-row skip leaves out such rows, and counts them` : error.message;
  }
  const missing = missingPackageOf(error);
  if (missing !== undefined) {
    const cause = `this needs the package ${missing}, which is not installed (was it left out with --omit=optional?)`;
    return `${cause}; \`npm install windrow --include=optional\` installs all packages`;
  }
  if (error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd') {
    return 'the working directory has been deleted; run windrow in another folder';
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `sorry, this is a bug in windrow; please report it with these lines\n${stack}`;
}

// Messages about an option begin with its name, and those about a limit end with it.
function describeByFlag({ message, options: [named] }: WindrowError): string {
  if (named === undefined) return message;
  const { option } = named;
  const flag = `--${optionName(option)}`;
  return message.endsWith(option) ? message.slice(0, -option.length) + flag : flag + message.slice(option.length);
}

/** For an optional import: undefined if the package is not installed; any other error is thrown. */
export function unlessMissing(error: unknown): undefined {
  if (!isMissingPackage(error)) throw error;
}

/** Whether an import failed because its package is not installed. */
export function isMissingPackage(error: unknown): boolean {
  return missingPackageOf(error) !== undefined;
}

// The package that an import lacks; packages are optional (`--omit=optional`).
function missingPackageOf(error: unknown): string | undefined {
  if (systemCode(error) !== 'ERR_MODULE_NOT_FOUND') return undefined;
  return /^Cannot find package '([^']+)'/.exec((error as Error).message)?.[1]; // systemCode knows it for an Error
}

/**
 * Turns an error of the operating system about a file into one of windrow that says how to mend it. Other errors are
 * returned unchanged.
 */
export function fileFailure(error: unknown, file: string, doing: 'read' | 'write'): unknown {
  const code = systemCode(error);
  if (error instanceof WindrowError || code === undefined || code === 'EPIPE') return error;
  const [known, sentence] = describeCode(code, doing);
  return new WindrowError(known, `${file}: ${sentence}`, { cause: error });
}

function describeCode(code: string, doing: 'read' | 'write'): [code: ErrorCode, sentence: string] {
  switch (code) {
    case 'ENOENT':
      if (doing === 'read') return ['file.missing', 'no such file'];
      return ['file.missing', 'its folder does not exist; create it first'];
    case 'ENOTDIR':
      if (doing === 'read') return ['file.missing', 'no such file'];
      return ['file.missing', 'what should be its folder is a file; give another name'];
    case 'EISDIR':
      return ['file.directory', 'is a folder, expected a file'];
    case 'EACCES':
    case 'EPERM':
      return ['file.denied', `permission denied to ${doing} it; check its permissions (${code})`];
    case 'EROFS':
      return ['file.denied', `its file system is read-only (${code}); mount it for writing, or write elsewhere`];
    case 'ENOSPC':
    case 'EFBIG':
      return ['file.full', `the disk is full (${code}); free some space, or write elsewhere`];
    case 'EDQUOT':
      return ['file.full', `the quota of this user is used up (${code}); free some space, or write elsewhere`];
    case 'EMFILE': {
      const mend = 'raise the limit (ulimit -n), or run fewer items at once';
      return [doing === 'read' ? 'file.read' : 'file.write', `too many files are open (${code}); ${mend}`];
    }
    default:
      if (doing === 'read') return ['file.read', `could not be read (${code})`];
      return ['file.write', `could not be written (${code})`];
  }
}
