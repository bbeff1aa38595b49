import type { Reader } from '../storage.js';
import type { SampleLogRow } from '../tables/samples.js';
import type { Catalogue } from './catalogue.js';
import { readChange, readLogHeads } from './log-row.js';
import { logRows } from './pending.js';
import { type Progress, readProgress } from './progress.js';
import { ForgottenChangesError, type LoggedChange } from './samples.js';

/** The changes of the commits after this one; see `SampleStore.changesAfter`. */
export async function changesAfter(
  catalogue: Catalogue,
  tx: Reader,
  afterCommit: number,
  limit: number,
): Promise<LoggedChange[]> {
  const progress = await readProgress(tx);
  if (afterCommit < progress.forgottenCommit) throw new ForgottenChangesError(afterCommit, progress.forgottenCommit);
  const changes: LoggedChange[] = [];
  for await (const row of logRows(tx, afterCommit, Number.MAX_SAFE_INTEGER)) {
    if (changes.length >= limit && row.commit > changes.at(-1)!.commit) break;
    changes.push(...(await named(catalogue, tx, progress, row)));
  }
  return changes;
}

async function named(catalogue: Catalogue, tx: Reader, progress: Progress, row: SampleLogRow): Promise<LoggedChange[]> {
  const { organisation, commit, changes: bytes } = row;
  const heads = readLogHeads(bytes);
  const known = await catalogue.findByKeys(tx, progress, heads.keys);
  const changes: LoggedChange[] = [];
  for (const [i, key] of heads.keys.entries()) {
    const { name, timeMs, value, deleted } = readChange(bytes, heads, i);
    const series = name ?? known.get(key);
    // Dropped meanwhile: a later change says so.
    if (series === undefined) continue;
    const { timeseriesId, metric } = series;
    changes.push({
      organisation,
      commit,
      timeseriesId,
      metric,
      timeMs,
      value,
      ...(deleted === undefined ? {} : { deleted }),
    });
  }
  return changes;
}
