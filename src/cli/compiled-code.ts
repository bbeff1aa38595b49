import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { constants, Script } from 'node:vm';

/**
 * A CommonJS file, run with what V8 compiled of it in an earlier process, where that was kept: to compile it again
 * would be half of our part of a start. Node has such a cache of its own from Node 22 on, which saved half as much.
 */
export interface LoadedFile {
  readonly exports: unknown;
  /** Keeps for the next process what has been compiled by now, unless there was something; never throws. */
  readonly keep: () => void;
}

/**
 * @param require what the file loads others with.
 * @param folder where compiled code is kept; undefined for nowhere.
 */
export function loadFile(path: string, require: NodeJS.Require, folder: string | undefined): LoadedFile {
  const source = readFileSync(path);
  const keptPath = folder === undefined ? undefined : join(folder, keptName(path));
  const kept = folder === undefined || keptPath === undefined ? undefined : readKept(folder, keptPath, source);
  // On one line, so that lines of a stack are those of the file.
  const text = `(function(exports,require,module,__filename,__dirname){${source.toString()}\n})`;
  const script = new Script(text, {
    filename: path,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(kept === undefined ? {} : { cachedData: kept }),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, require, module, path, dirname(path));
  // V8 rejects what another version of it made, or one with other switches.
  const isKept = kept !== undefined && script.cachedDataRejected !== true;
  return {
    exports: module.exports,
    keep: () => {
      if (!isKept && folder !== undefined && keptPath !== undefined) {
        writeKept(folder, keptPath, source, () => script.createCachedData());
      }
    },
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where compiled code is kept: the user's folder for such files, in one of our own. Undefined where there is none,
 * where it belongs to another (`sudo` may leave us the HOME of its caller), where users cannot be told apart, and where
 * the environment says so with the word that Node has for its own cache.
 */
export function compiledFolder(
  { NODE_DISABLE_COMPILE_CACHE, XDG_CACHE_HOME = '', HOME = '' }: Environment,
  platform: string = process.platform,
): string | undefined {
  if (NODE_DISABLE_COMPILE_CACHE === '1') return undefined;
  const folder = platform === 'darwin' ? 'Library/Caches' : '.cache';
  const [owned, caches] = isAbsolute(XDG_CACHE_HOME) ? [XDG_CACHE_HOME, XDG_CACHE_HOME] : [HOME, join(HOME, folder)];
  if (!isAbsolute(owned)) return undefined;
  try {
    return isOurs(statSync(owned)) ? join(caches, 'windrow') : undefined;
  } catch {
    return undefined;
  }
}

// Of each place where windrow is installed, and of each Node.
function keptName(path: string): string {
  const place = path.replace(/[^A-Za-z0-9]+/g, '-').slice(-100);
  return `${process.version}-${process.arch}${place}.compiled`;
}

// Whoever can write to it can run code as us.
function isOurs(stats: Stats): boolean {
  return process.geteuid?.() === stats.uid && (stats.mode & 0o022) === 0 && !stats.isSymbolicLink();
}

// The length of the source, the source, and twice what was compiled of it. V8 trusts what it is given: of the source it
// compares the length, and of the code nothing. To compare bytes costs less than the start of any checksum.
const HEAD_BYTES = 4;

function readKept(folder: string, keptPath: string, source: Buffer): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    if (!isOurs(lstatSync(folder))) return undefined;
    descriptor = openSync(keptPath, 'r');
    if (!isOurs(fstatSync(descriptor))) return undefined;
    const bytes = readFileSync(descriptor);
    const codeFrom = HEAD_BYTES + source.length;
    const codeBytes = (bytes.length - codeFrom) / 2;
    if (!(codeBytes > 0) || bytes.readUInt32LE() !== source.length) return undefined;
    if (!bytes.subarray(HEAD_BYTES, codeFrom).equals(source)) return undefined;
    const code = bytes.subarray(codeFrom, codeFrom + codeBytes);
    return code.equals(bytes.subarray(codeFrom + codeBytes)) ? code : undefined;
  } catch {
    return undefined; // nothing is kept yet, or it cannot be read: then V8 compiles
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function writeKept(folder: string, keptPath: string, source: Buffer, compiled: () => Buffer): void {
  const newPath = `${keptPath}.${process.pid}.tmp`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOurs(lstatSync(folder))) return;
    const descriptor = openSync(newPath, 'wx', 0o600);
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      head.writeUInt32LE(source.length);
      const code = compiled();
      writeFileSync(descriptor, Buffer.concat([head, source, code, code]));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(newPath, keptPath);
  } catch {
    // A folder that cannot be written to, a full disk: the run is done all the same, and the next one compiles again.
    removeQuietly(newPath);
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It was never made.
  }
}
