import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStorage, type SqliteOptions } from '../../src/storage/index.js';
import type { OpenedStorage } from './conformance/opened-storage.js';

export function temporaryDirectory(parent = tmpdir()): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(parent, 'windrow-storage-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A store in a new folder, with a clock that stands still. */
export async function openTemporary(
  options: Partial<SqliteOptions> = {},
  parent = tmpdir(),
): Promise<OpenedStorage & { directory: string }> {
  const temporary = temporaryDirectory(parent);
  const directory = options.directory ?? temporary.path;
  let nowMs = 1_700_000_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const open = () => openSqliteStorage({ clock, reserveBytes: 0, ...options, directory });
  let storage = await open();
  return {
    directory,
    storage,
    advance: (ms) => {
      nowMs += ms;
    },
    reopen: async () => {
      await storage.close();
      storage = await open();
      return storage;
    },
    dispose: async () => {
      await storage.close();
      temporary.remove();
    },
  };
}
