import { constants } from 'node:os';

/**
 * The code of an error, such as ENOENT for one of the operating system; undefined if it has none. Node knows no name
 * for EDQUOT (the quota of a user is used up).
 */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return undefined;
  return 'errno' in error && error.errno === -constants.errno.EDQUOT ? 'EDQUOT' : error.code;
}
