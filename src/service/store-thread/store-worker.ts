import { openSqliteStorage } from '../../storage/index.js';
import { prepareHere } from '../../storage/samples/compaction/compactor.js';
import type { Move } from '../../storage/samples/compaction/move.js';
import { createSampleStore } from '../../storage/samples/store.js';
import type { Storage } from '../../storage/storage.js';
import { type EventPage, type EventSearch, readPage } from '../events/page.js';
import { systemClock } from '../system.js';

// What a thread over the embedded store does; this file is the thread's script. The thread has a connection of its own,
// with which it only reads.

/** A job over the store in a directory. */
export interface StoreMessage<Work> {
  readonly directory: string;
  readonly work: Work;
}

export interface MoveWork {
  readonly shard: number;
  readonly untilCommit: number;
}

let opened: Storage | undefined;

async function open(directory: string): Promise<Storage> {
  opened ??= await openSqliteStorage({ directory, clock: systemClock, reserveBytes: 0 });
  return opened;
}

const samples = createSampleStore({ clock: systemClock });

/** By shard: up to where its log is being loaded. */
const loading = new Map<number, number>();

/** @returns whether there is more of the shard's log to load. */
export async function loadSomeLog({ directory, work: shard }: StoreMessage<number>): Promise<boolean> {
  const storage = await open(directory);
  const untilCommit = loading.get(shard) ?? (await storage.lastCommit(shard));
  const isMore = await samples.log.loadSome(storage, shard, untilCommit);
  if (isMore) loading.set(shard, untilCommit);
  else loading.delete(shard);
  return isMore;
}

export async function prepareMove({ directory, work }: StoreMessage<MoveWork>): Promise<Move | undefined> {
  return prepareHere(await open(directory), samples)(work.shard, work.untilCommit);
}

export async function searchEvents({ directory, work }: StoreMessage<EventSearch>): Promise<EventPage | undefined> {
  const storage = await open(directory);
  return storage.read(work.shard, (tx) => readPage(tx, work));
}

export async function closeStore(): Promise<void> {
  await opened?.close();
  opened = undefined;
}
