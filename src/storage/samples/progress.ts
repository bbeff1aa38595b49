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

export async function readProgress(tx: Reader): Promise<Progress> {
  const known = progressOf.get(tx) ?? (await tx.get(sampleProgress, { name: NAME })) ?? START;
  progressOf.set(tx, known);
  return known;
}

export async function writeProgress(tx: Transaction, progress: Progress): Promise<Progress> {
  const row = { ...progress, commit: tx.commit };
  await tx.put(sampleProgress, row);
  progressOf.set(tx, row);
  return row;
}

/** The commit after which the changes of a series are in the log only. */
export function compactedOf({ compactedCommit, roundCommit, roundKey }: Progress, key: number): number {
  return key <= roundKey ? roundCommit : compactedCommit;
}
