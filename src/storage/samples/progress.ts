import type { Reader, Transaction } from '../storage.js';
import { type SampleProgressRow, sampleProgress } from '../tables/samples.js';

export type Progress = Readonly<SampleProgressRow>;

const NAME = 'samples';

export const START: Progress = Object.freeze({
  name: NAME,
  commit: 0,
  compactedCommit: 0,
  roundCommit: 0,
  roundKey: 0,
  roundMs: null,
  forgottenCommit: 0,
  droppedCommit: 0,
  nextSeriesKey: 1,
});

/**
 * The progress that each transaction has read or written: all work on samples needs it, and nobody else changes it
 * meanwhile.
 */
const progressOf = new WeakMap<Reader, Progress>();

/** The progress of each shard as it was read, for later transactions too, as long as nobody else writes. */
const readBy = new WeakMap<object, Map<number, Progress>>();

export async function readProgress(tx: Reader): Promise<Progress> {
  const own = progressOf.get(tx);
  if (own !== undefined) return own;
  const kept = keptFor(tx);
  const known = kept?.get(tx.shard) ?? (await tx.get(sampleProgress, { name: NAME })) ?? START;
  progressOf.set(tx, known);
  kept?.set(tx.shard, known);
  return known;
}

function keptFor({ soleWriter }: Reader): Map<number, Progress> | undefined {
  if (soleWriter === undefined) return undefined;
  let kept = readBy.get(soleWriter);
  if (kept === undefined) {
    kept = new Map();
    readBy.set(soleWriter, kept);
  }
  return kept;
}

export async function writeProgress(tx: Transaction, progress: Progress): Promise<Progress> {
  const row = { ...progress, commit: tx.commit };
  // Read again by the next transaction: this one may yet be rolled back.
  keptFor(tx)?.delete(tx.shard);
  await tx.put(sampleProgress, row);
  progressOf.set(tx, row);
  return row;
}

/** The commit after which the changes of a series are in the log only. */
export function compactedOf({ compactedCommit, roundCommit, roundKey }: Progress, key: number): number {
  return key <= roundKey ? roundCommit : compactedCommit;
}
