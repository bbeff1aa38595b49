import type { Database } from './database.js';

// Pages of deleted rows are used again by new ones. What a store keeps beyond that is given back to the disk.
const FREE_PAGES_MIN = 1024;
const FREE_SHARE_MAX = 0.2;
const STEP_PAGES = 256;

/** Whether much of the file is free; while the disk is full, whether anything is. */
export function isTrimDue(database: Database, isFull: boolean): boolean {
  const freePages = Number(database.all('PRAGMA freelist_count')[0]?.freelist_count);
  if (isFull) return freePages > 0;
  if (freePages < FREE_PAGES_MIN) return false;
  return freePages > FREE_SHARE_MAX * Number(database.all('PRAGMA page_count')[0]?.page_count);
}

/** Shortens the file by some free pages: few, so that nobody waits for it long. */
export function trim(database: Database): void {
  database.all(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
}
