// What a program did to its files, read from strace's record of its system calls, and what a power failure may leave.

import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';

export const TRACED = 'trace=openat,pwrite64,ftruncate,fdatasync,fsync,unlink,rename,write';

const CALL = /^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)/s;

/**
 * @param {string} directory of the store: other files are ignored.
 * @returns {Promise<object[]>} writes, truncations, syncs, creations and deletions of files, and marks, in order.
 */
export async function readTrace(path, directory) {
  const operations = [];
  const lines = createInterface({ input: createReadStream(path, 'latin1'), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    const [, call, words, result] = CALL.exec(line) ?? [];
    if (call === undefined || Number(result) < 0) continue;
    const operation = readCall(call, words, Number(result), directory);
    if (operation !== undefined) operations.push(operation);
  }
  return operations;
}

function readCall(call, words, result, directory) {
  if (call === 'write') {
    const [, descriptor, text] = /^(\d+)<[^>]*>, "([^"]*)"/.exec(words) ?? [];
    return descriptor === '1' ? { kind: 'mark', words: bytesOf(text).toString().trim().split(' ') } : undefined;
  }
  if (call === 'openat' || call === 'unlink') {
    const name = bytesOf(/"([^"]*)"/.exec(words)?.[1] ?? '').toString();
    if (!name.startsWith(`${directory}/`)) return undefined;
    if (call === 'unlink') return { kind: 'unlink', file: basename(name) };
    return words.includes('O_CREAT') ? { kind: 'create', file: basename(name) } : undefined;
  }
  const [, place, rest] = /^\d+<([^>]*)>(?:, )?(.*)$/s.exec(words) ?? [];
  const name = bytesOf(place ?? '').toString();
  if (name === directory && (call === 'fsync' || call === 'fdatasync')) return { kind: 'syncDirectory' };
  if (!name.startsWith(`${directory}/`)) return undefined;
  const file = basename(name);
  if (call === 'fsync' || call === 'fdatasync') return { kind: 'sync', file };
  if (call === 'ftruncate') return { kind: 'truncate', file, size: Number(rest) };
  if (call !== 'pwrite64') return undefined;
  const [, hex, at] = /^"([^"]*)", \d+, (\d+)$/.exec(rest);
  return { kind: 'write', file, bytes: bytesOf(hex).subarray(0, result), at: Number(at) };
}

// strace -xx says each byte as \x2a, those of paths too.
function bytesOf(text) {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

/** The disk under a program: what is certainly on it, and what was done since the last sync. */
export class Disk {
  #files = new Map();

  /** @param files by name: what was on the disk before. */
  constructor(files) {
    for (const [name, bytes] of files) this.#files.set(name, { bytes, pending: [], wasThere: true, isThere: true });
  }

  do(operation) {
    const { kind, file: name } = operation;
    if (kind === 'mark') return;
    if (kind === 'syncDirectory') {
      for (const file of this.#files.values()) file.wasThere = file.isThere;
      return;
    }
    let file = this.#files.get(name);
    if (file === undefined) {
      file = { bytes: Buffer.alloc(0), pending: [], wasThere: false, isThere: true };
      this.#files.set(name, file);
    }
    if (kind === 'unlink') file.isThere = false;
    else if (kind === 'create') {
      // Opening an existing file changes nothing.
      if (!file.isThere) Object.assign(file, { bytes: Buffer.alloc(0), pending: [], isThere: true });
    } else if (kind === 'sync') {
      file.bytes = file.pending.reduce((bytes, one) => apply(bytes, one, undefined), file.bytes);
      file.pending = [];
    } else file.pending.push(operation);
  }

  /**
   * The files as a power failure may leave them.
   *
   * @param {(operation: object) => undefined | 'lost' | ((sector: number) => boolean)} fate of each operation that is
   * not synced: undefined for all of it, a function for some of its sectors; `sectorBytes` of each.
   * @param {() => boolean} isOld whether a name is as it was when the directory was last synced.
   */
  image(fate, sectorBytes, isOld) {
    const image = new Map();
    for (const [name, { bytes, pending, wasThere, isThere }] of this.#files) {
      if (!(wasThere !== isThere && isOld() ? wasThere : isThere)) continue;
      let state = Buffer.from(bytes);
      for (const operation of pending) {
        const kept = fate(operation);
        if (kept !== 'lost') state = apply(state, operation, kept, sectorBytes);
      }
      image.set(name, state);
    }
    return image;
  }
}

function apply(state, { kind, size, bytes, at }, isKept, sectorBytes) {
  if (kind === 'truncate') return resized(state, size);
  const end = at + bytes.length;
  const next = end > state.length ? resized(state, end) : state;
  if (isKept === undefined) {
    bytes.copy(next, at);
    return next;
  }
  for (let sector = Math.floor(at / sectorBytes); sector * sectorBytes < end; sector++) {
    if (!isKept(sector)) continue;
    const from = Math.max(at, sector * sectorBytes);
    bytes.copy(next, from, from - at, Math.min(end, (sector + 1) * sectorBytes) - at);
  }
  return next;
}

function resized(state, size) {
  const next = Buffer.alloc(size);
  state.copy(next, 0, 0, Math.min(size, state.length));
  return next;
}
