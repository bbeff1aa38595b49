import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

// A process that dies in the middle of a commit leaves the pages that it was changing, as they were, in the rollback
// journal; whoever opens the file next has to put them back. SQLite does so itself, but in node-sqlite3-wasm 0.8.60 it
// never finds such a journal: it asks whether another process holds the file, and takes its own lock for the other's.
// So this is done here, after https://www.sqlite.org/fileformat2.html#the_rollback_journal and pager_playback().

const MAGIC = Buffer.from('d9d505f920a163d7', 'hex');
const HEADER_BYTES = 28;
/** Number of records of a header: all that the file holds. */
const TO_THE_END = 0xffffffff;

interface Header {
  readonly recordCount: number;
  readonly nonce: number;
  readonly pageCount: number;
  readonly sectorBytes: number;
  readonly pageBytes: number;
}

/**
 * Undoes a commit that was not finished, if there is one; for a database that no process has open.
 *
 * @returns the number of pages put back.
 */
export function rollBackJournal(path: string): number {
  const journalPath = `${path}-journal`;
  if (!existsSync(journalPath) || statSync(journalPath).size === 0) return 0;
  let pageCount = 0;
  if (existsSync(path)) {
    const journal = openSync(journalPath, 'r');
    const database = openSync(path, 'r+');
    try {
      pageCount = playBack(journal, database);
      fsyncSync(database);
    } finally {
      closeSync(journal);
      closeSync(database);
    }
  }
  rmSync(journalPath);
  syncDirectory(dirname(path));
  return pageCount;
}

/** Whether the journal holds pages of a commit that was neither finished nor undone. */
export function isJournalHot(path: string): boolean {
  const journalPath = `${path}-journal`;
  if (!existsSync(journalPath)) return false;
  const journal = openSync(journalPath, 'r');
  try {
    return readHeader(journal, 0) !== undefined;
  } finally {
    closeSync(journal);
  }
}

/**
 * Makes the journal before it is needed, so that the directory knows it before the first page changes:
 * node-sqlite3-wasm does not put the directory on the disk.
 */
export function prepareJournal(path: string): void {
  // Of nobody else's business, like the pages that it holds; SQLite itself gives it the rights of the database.
  closeSync(openSync(`${path}-journal`, 'a', 0o600));
  syncDirectory(dirname(path));
}

/** Puts what a directory says of its files on the disk. */
export function syncDirectory(path: string): void {
  // Windows has no such thing, and needs none.
  if (process.platform === 'win32') return;
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function playBack(journal: number, database: number): number {
  const journalBytes = fstatSync(journal).size;
  const first = readHeader(journal, 0);
  if (first === undefined) return 0;
  const { sectorBytes, pageBytes, pageCount } = first;
  ftruncateSync(database, Math.min(fstatSync(database).size, pageCount * pageBytes));
  const record = Buffer.alloc(4 + pageBytes + 4);
  const restored = new Set<number>();
  for (let header: Header | undefined = first, offset = 0; header !== undefined; header = readHeader(journal, offset)) {
    offset += sectorBytes;
    const recordCountMax = Math.floor((journalBytes - offset) / record.length);
    const recordCount = header.recordCount === TO_THE_END ? recordCountMax : header.recordCount;
    for (let i = 0; i < recordCount; i++, offset += record.length) {
      if (readSync(journal, record, 0, record.length, offset) < record.length) return restored.size;
      const pageNumber = record.readUInt32BE(0);
      if (pageNumber === 0) return restored.size;
      if (pageNumber > pageCount || restored.has(pageNumber)) continue;
      // From the first record that was not wholly written on, none had been put on the disk, and no page changed.
      if (record.readUInt32BE(4 + pageBytes) !== checksum(record, pageBytes, header.nonce)) return restored.size;
      writeSync(database, record, 4, pageBytes, (pageNumber - 1) * pageBytes);
      restored.add(pageNumber);
    }
    offset = Math.ceil(offset / sectorBytes) * sectorBytes;
  }
  return restored.size;
}

/** undefined where there is none: the transaction of a header overwritten with zeros was committed. */
function readHeader(journal: number, offset: number): Header | undefined {
  const bytes = Buffer.alloc(HEADER_BYTES);
  if (readSync(journal, bytes, 0, HEADER_BYTES, offset) < HEADER_BYTES) return undefined;
  if (!bytes.subarray(0, 8).equals(MAGIC)) return undefined;
  const [recordCount, nonce, pageCount, sectorBytes, pageBytes] = [8, 12, 16, 20, 24].map((at) =>
    bytes.readUInt32BE(at),
  );
  return {
    recordCount: recordCount!,
    nonce: nonce!,
    pageCount: pageCount!,
    sectorBytes: sectorBytes!,
    pageBytes: pageBytes!,
  };
}

/** The sum of every 200th byte, from the end. */
function checksum(record: Buffer, pageBytes: number, nonce: number): number {
  let sum = nonce;
  for (let i = pageBytes - 200; i > 0; i -= 200) sum = (sum + record[4 + i]!) >>> 0;
  return sum;
}
