import { openSqliteStorage } from '../../storage/index.js';
import type { CompactOptions } from '../../storage/samples/compaction/compact.js';
import { prepareHere } from '../../storage/samples/compaction/compactor.js';
import type { Move } from '../../storage/samples/compaction/move.js';
import { createSampleStore } from '../../storage/samples/store.js';
import { loadSqlite, type OpenDatabase } from '../../storage/sqlite/database.js';
import type { Storage } from '../../storage/storage.js';
import { type EventPage, type EventSearch, readPage } from '../events/page.js';
import { systemClock } from '../system.js';
import { enterSection, leaveSection, openInSection, type SectionState } from './critical-section.js';

// What a thread over the embedded store does; this file is the thread's script. The thread has a connection of its own,
// with which it only reads.

/** A job over the store in a directory. */
export interface StoreMessage<Work> {
  readonly directory: string;
  readonly work: Work;
  /** The thread is in it while it is in SQLite, during this job. */
  readonly section: SectionState;
}

export interface MoveWork {
  readonly shard: number;
  readonly untilCommit: number;
  readonly options: CompactOptions | undefined;
}

let section: SectionState;
let opened: Storage | undefined;

async function open(message: StoreMessage<unknown>): Promise<Storage> {
  ({ section } = message);
  opened ??= await openSqliteStorage({
    directory: message.directory,
    clock: systemClock,
    openDatabase: openInSection(await loadInSection(), () => section),
    // If the files were moved away, a new store in their place would be in the way of whoever puts them back.
    isMaking: false,
    reserveBytes: 0,
  });
  return opened;
}

/** To load the package takes calls into the thread, too. */
async function loadInSection(): Promise<OpenDatabase> {
  enterSection(section);
  try {
    return await loadSqlite();
  } finally {
    leaveSection(section);
  }
}

const samples = createSampleStore({ clock: systemClock });

/** By shard: up to where its log is being loaded. */
const loading = new Map<number, number>();

/** @returns whether there is more of the shard's log to load. */
export async function loadSomeLog(message: StoreMessage<number>): Promise<boolean> {
  const storage = await open(message);
  const shard = message.work;
  const untilCommit = loading.get(shard) ?? (await storage.lastCommit(shard));
  const isMore = await samples.log.loadSome(storage, shard, untilCommit);
  if (isMore) loading.set(shard, untilCommit);
  else loading.delete(shard);
  return isMore;
}

export async function prepareMove(message: StoreMessage<MoveWork>): Promise<Move | undefined> {
  const { shard, untilCommit, options } = message.work;
  return prepareHere(await open(message), samples)(shard, untilCommit, options);
}

export async function searchEvents(message: StoreMessage<EventSearch>): Promise<EventPage | undefined> {
  const storage = await open(message);
  return readPage((work) => storage.read(message.work.shard, work), message.work);
}

export async function closeStore(message: StoreMessage<undefined>): Promise<void> {
  ({ section } = message);
  await opened?.close();
  opened = undefined;
}
