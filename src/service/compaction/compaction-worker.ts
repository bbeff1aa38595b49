import { openSqliteStorage } from '../../storage/index.js';
import { type PrepareMove, prepareHere } from '../../storage/samples/compaction/compactor.js';
import type { Move } from '../../storage/samples/compaction/move.js';
import { createSampleStore } from '../../storage/samples/store.js';
import { systemClock } from '../system.js';

// What the thread of compaction does; this file is the thread's script. The thread has a connection of its own, with
// which it only reads.

export interface MoveMessage {
  readonly directory: string;
  readonly shard: number;
  readonly untilCommit: number;
}

interface OpenStore {
  readonly prepare: PrepareMove;
  close(): Promise<void>;
}

let opened: OpenStore | undefined;

async function open(directory: string): Promise<OpenStore> {
  const storage = await openSqliteStorage({ directory, clock: systemClock, reserveBytes: 0 });
  const prepare = prepareHere(storage, createSampleStore({ clock: systemClock }));
  return { prepare, close: () => storage.close() };
}

export async function prepareMove({ directory, shard, untilCommit }: MoveMessage): Promise<Move | undefined> {
  opened ??= await open(directory);
  return opened.prepare(shard, untilCommit);
}

export async function closeStore(): Promise<void> {
  await opened?.close();
  opened = undefined;
}
