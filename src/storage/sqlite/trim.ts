import type { Database } from './database.js';

// Pages of deleted rows are used again by new ones. Only what a store keeps beyond that is given back to the disk, a
// little with each commit, so that none takes long.
const FREE_PAGES_MIN = 4096;
const FREE_SHARE_MAX = 0.5;
const STEP_PAGES = 128;

/** Shortens the file by a little where much of it is free. */
export function trim(database: Database): void {
  const freePages = Number(database.all('PRAGMA freelist_count')[0]!.freelist_count);
  if (freePages < FREE_PAGES_MIN) return;
  const pages = Number(database.all('PRAGMA page_count')[0]!.page_count);
  if (freePages > FREE_SHARE_MAX * pages) database.all(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
}
