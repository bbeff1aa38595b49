import { basename, dirname } from 'node:path';
import type { Transform } from 'node:stream';
import type { Gunzip } from 'node:zlib';
import { WindrowError } from '../../core/errors.js';
import { didYouMean } from '../../core/suggest.js';
import { AFTER_END, BEHIND_ZEROS, followPacked } from '../../formats/gzip.js';
import { type BytesAt, framesOf, openZstd } from '../../formats/zstd.js';
import { scanBlock } from '../../kernels/scan-pairs.js';
import { fileFailure, isMissingPackage } from '../failure.js';
import type { Io } from '../terminal/io.js';
import { isLink } from './paths.js';
import { Spool, type TempFiles } from './temp-files.js';

/** The name of standard input in messages. */
export const STANDARD_INPUT = 'stdin';

/** An input file that can be read from its start as often as needed. */
export interface InputFile {
  /** As the caller wrote it. */
  readonly path: string;
  /** For messages, and for the name of its series. */
  readonly name: string;
  /** Its size, compressed if it is; undefined for pipes. */
  readonly sizeBytes: number | undefined;
  /** Whether it can be read at any position: a regular file that is not compressed. */
  readonly isRegular: boolean;
  /**
   * Its decompressed bytes. Each block is valid until the next one is requested.
   *
   * @param onRead called with the number of bytes read, before decompression.
   */
  readonly blocks: (onRead: (byteCount: number) => void) => AsyncGenerator<Uint8Array>;
}

// Large enough that a read costs little compared with parsing, small enough to stay in the second-level cache.
const BLOCK_BYTES = 1 << 19;

// For files: a quarter of the second-level cache, so that a block is still there when it is parsed.
const DISK_BLOCK_BYTES = 1 << 18;
/** How long to read without letting signals and timers run. */
const TURN_MS = 50;

const SPOOL_BYTES = 16 << 20;

/**
 * Checks the files of `--input`.
 *
 * @param isReadAgain whether they may be read more than once; then standard input and pipes are kept.
 * @throws WindrowError for the first file that cannot be read.
 */
export function openInputs(paths: readonly string[], isReadAgain: boolean, io: Io, temps: TempFiles): InputFile[] {
  if (paths.filter((path) => path === '-').length > 1) {
    throw new WindrowError('arguments', '--input: expected `-` (standard input) once, received it twice');
  }
  return paths.map((path) => {
    const keep = (): Spool | undefined => (isReadAgain ? new Spool(io, temps, SPOOL_BYTES) : undefined);
    if (path === '-') return standardInput(keep(), io);
    const sizeBytes = existingFile(path, io);
    return io.fs.statSync(path)?.isFile() ? fileInput(path, sizeBytes, io) : pipeInput(path, keep(), io);
  });
}

function fileInput(path: string, sizeBytes: number, io: Io): InputFile {
  const packing = /\.(gz|zst)$/i.exec(path)?.[1]?.toLowerCase();
  return {
    path,
    name: path,
    sizeBytes,
    isRegular: packing === undefined,
    blocks: (onRead) => {
      if (packing === undefined) return fileBlocks(path, io, onRead);
      return packing === 'gz' ? gzipBlocks(path, io, onRead) : zstdBlocks(path, io, onRead);
    },
  };
}

/** Opens a file to read. @throws WindrowError */
export function openToRead(path: string, io: Io): number {
  try {
    return io.fs.openSync(path, 'r');
  } catch (error) {
    throw fileFailure(error, path, 'read');
  }
}

// Reads synchronously: passing each block to a thread and back costs more than the read itself, above all on one core.
// Now and then it lets signals and timers run.
async function* fileBlocks(path: string, io: Io, onRead: (byteCount: number) => void): AsyncGenerator<Uint8Array> {
  const descriptor = openToRead(path, io);
  try {
    const { size } = io.fs.fstatSync(descriptor);
    const block = scanBlock() ?? new Uint8Array(DISK_BLOCK_BYTES);
    let turnStartMs = io.clock();
    for (;;) {
      const count = readNow(io, descriptor, block, path);
      if (count === 0) {
        checkLength(descriptor, size, path, io);
        return;
      }
      onRead(count);
      yield block.subarray(0, count);
      if (io.clock() - turnStartMs < TURN_MS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      turnStartMs = io.clock();
    }
  } finally {
    io.fs.closeSync(descriptor);
  }
}

/** Checks that a file was not cut while it was read: its rows would be missing in silence. @throws WindrowError */
export function checkLength(descriptor: number, sizeBytes: number, name: string, io: Io): void {
  if (io.fs.fstatSync(descriptor).size >= sizeBytes) return;
  const mend = 'run again once nothing writes to it';
  throw new WindrowError('file.read', `${name}: was shortened while it was read; ${mend}`);
}

/**
 * Reads as many bytes into a buffer as one call returns.
 *
 * @param position where to read; null for the end of the last read.
 */
export function readNow(
  io: Io,
  descriptor: number,
  buffer: Uint8Array,
  name: string,
  position: number | null = null,
): number {
  try {
    return io.fs.readSync(descriptor, buffer, 0, buffer.length, position);
  } catch (error) {
    throw fileFailure(error, name, 'read');
  }
}

async function* zstdBlocks(path: string, io: Io, onRead: (byteCount: number) => void): AsyncGenerator<Uint8Array> {
  // Node has zstd from 22.15 on; before that, the whole file is decompressed at once.
  const { createZstdDecompress } = (await import('node:zlib')) as { createZstdDecompress?: () => Transform };
  const descriptor = openToRead(path, io);
  try {
    if (createZstdDecompress === undefined) {
      const unpack = await openZstd();
      const packed = io.fs.readFileSync(path);
      onRead(packed.length);
      yield* unpack(packed);
      return;
    }
    const bytesAt: BytesAt = (position, count) => {
      const bytes = new Uint8Array(count);
      return new DataView(bytes.buffer, 0, readNow(io, descriptor, bytes, path, position));
    };
    // A frame at a time: given all of a file, Node 22 and 24 stop after the first frame, and 26 where the next is
    // damaged, all in silence.
    for (const { start, end } of framesOf(bytesAt, io.fs.fstatSync(descriptor).size)) {
      yield* decompressed(path, createZstdDecompress(), 'zstd', io, onRead, { start, end: end - 1 });
    }
  } catch (error) {
    if (error instanceof WindrowError || isMissingPackage(error)) throw error;
    throw decompressionFailure(path, 'zstd', error);
  } finally {
    io.fs.closeSync(descriptor);
  }
}

type Packing = 'gzip' | 'zstd';

function decompressionFailure(path: string, packing: Packing, error: unknown): WindrowError {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `${path}: cannot be decompressed (${reason}); is it a complete ${packing} file?`;
  return new WindrowError(`csv.${packing}`, message, { cause: error });
}

async function* gzipBlocks(path: string, io: Io, onRead: (byteCount: number) => void): AsyncGenerator<Uint8Array> {
  const { createGunzip } = await import('node:zlib');
  yield* decompressed(path, createGunzip({ chunkSize: BLOCK_BYTES }), 'gzip', io, onRead);
}

async function* decompressed(
  path: string,
  decompressor: Transform,
  packing: Packing,
  io: Io,
  onRead: (byteCount: number) => void,
  range: { readonly start?: number; readonly end?: number } = {},
): AsyncGenerator<Uint8Array> {
  const file = io.fs.createReadStream(path, { highWaterMark: BLOCK_BYTES, ...range });
  file.on('data', (bytes) => onRead(bytes.length));
  file.on('error', (error) => decompressor.destroy(error));
  // `as`: what unpacks gzip is that of Node.
  const isAllRead = packing === 'gzip' ? followPacked(file, decompressor as Gunzip) : undefined;
  file.pipe(decompressor);
  try {
    yield* decompressor;
    if ((await isAllRead?.()) === false) throw decompressionFailure(path, packing, BEHIND_ZEROS);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === AFTER_END) throw decompressionFailure(path, packing, BEHIND_ZEROS);
    const reason = file.bytesRead === 0 ? 'the file is empty' : error;
    if (/^(?:Z_|ERR_ZSTD|ZSTD_)/.test(code)) throw decompressionFailure(path, packing, reason);
    throw fileFailure(error, path, 'read');
  } finally {
    file.destroy();
    decompressor.destroy();
  }
}

function standardInput(kept: Spool | undefined, io: Io): InputFile {
  const { fileDescriptor } = io.stdin();
  const sizeBytes = fileDescriptor === undefined ? undefined : io.fs.fstatSync(fileDescriptor).size;
  const open = (): AsyncIterable<Uint8Array> => io.stdin().bytes;
  return { path: '-', name: STANDARD_INPUT, sizeBytes, isRegular: false, blocks: arrivals(STANDARD_INPUT, open, kept) };
}

// A named pipe, such as `<(command)`: like standard input, it can be read only once.
function pipeInput(path: string, kept: Spool | undefined, io: Io): InputFile {
  const open = (): AsyncIterable<Uint8Array> => io.fs.createReadStream(path, { highWaterMark: BLOCK_BYTES });
  return { path, name: path, sizeBytes: undefined, isRegular: false, blocks: arrivals(path, open, kept) };
}

function arrivals(name: string, open: () => AsyncIterable<Uint8Array>, kept: Spool | undefined): InputFile['blocks'] {
  let arriving: AsyncIterator<Uint8Array> | undefined;
  return (onRead) => {
    arriving ??= arrivingFrom(open(), name);
    return arrivingBlocks(arriving, kept, onRead);
  };
}

/** The bytes of a pipe or of standard input as they come. @throws WindrowError if they cannot be read */
export async function* arrivingFrom(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw fileFailure(error, name, 'read');
  }
}

// Repeats what has come before, so that a run can start again. Does not end the iterator when the caller stops early,
// because that would close standard input.
async function* arrivingBlocks(
  arriving: AsyncIterator<Uint8Array>,
  kept: Spool | undefined,
  onRead: (byteCount: number) => void,
): AsyncGenerator<Uint8Array> {
  if (kept !== undefined) yield* kept.pieces();
  for (;;) {
    const next = await arriving.next();
    if (next.done) return;
    kept?.write(next.value);
    onRead(next.value.length);
    yield next.value;
  }
}

/** Checks that a path can be read, and returns its size in bytes. @throws WindrowError */
export function existingFile(path: string, io: Io): number {
  let stats: ReturnType<Io['fs']['statSync']>;
  try {
    stats = io.fs.statSync(path);
  } catch (error) {
    const failure = fileFailure(error, path, 'read');
    if (!(failure instanceof WindrowError) || failure.code !== 'file.missing') throw failure;
    const leadsNowhere = 'it is a link to a file that does not exist';
    const hint = isLink(path, io) ? leadsNowhere : didYouMean(basename(path), namesBeside(path, io));
    throw new WindrowError('file.missing', `${failure.message}${hint === undefined ? '' : `; ${hint}`}`, {
      cause: error,
    });
  }
  if (stats?.isDirectory()) throw new WindrowError('file.directory', `${path}: is a folder, expected a file`);
  return stats?.size ?? 0;
}

function namesBeside(path: string, io: Io): string[] {
  try {
    return io.fs.readdirSync(dirname(path));
  } catch {
    return []; // the folder is missing too
  }
}
