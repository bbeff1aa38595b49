import type { Reader } from '../storage.js';
import type { SeriesRow } from '../tables/samples.js';
import { isErased, touchedAreas } from './areas.js';
import { indexAt, isEmptyPatch, overlay, type Patch } from './patch.js';
import { type OpenSeries, readProvisional, readSamples } from './read.js';
import type { SeriesInfo } from './samples.js';
import { SegmentCursor, unpackSegments } from './segments.js';

type Counted = Pick<SeriesInfo, 'sampleCount' | 'firstMs' | 'lastMs'>;

/** What is known of a series: its row tells of the segments, the rest is added to it. */
export async function describeSeries(tx: Reader, row: SeriesRow, patch: Patch): Promise<SeriesInfo> {
  const { timeseriesId, metric, itemId } = row;
  const series = { key: row.seriesKey, patch, isResult: itemId !== null };
  const finals = await countFinals(tx, row, series);
  const counted = series.isResult ? await addProvisional(tx, series, finals) : finals;
  return { timeseriesId, metric, itemId, ...counted };
}

async function countFinals(tx: Reader, row: SeriesRow, series: OpenSeries): Promise<Counted> {
  const { sampleCount, firstMs, lastMs } = row;
  const { timeMs, deleted } = series.patch;
  if (isEmptyPatch(series.patch)) return { sampleCount, firstMs, lastMs };
  if (firstMs === null || lastMs === null) return rangeOf(timeMs);
  if (deleted.length === 0 && timeMs[0]! > lastMs) {
    return { sampleCount: sampleCount + timeMs.length, firstMs, lastMs: timeMs.at(-1)! };
  }
  let count = sampleCount;
  for await (const { segment, patch } of touchedAreas(new SegmentCursor(tx, row.seriesKey), series.patch)) {
    if (segment === undefined) count += patch.timeMs.length;
    else if (isErased(segment, patch)) count += patch.timeMs.length - segment.sampleCount;
    else count += overlay(unpackSegments([segment]), patch).timeMs.length - segment.sampleCount;
  }
  if (deleted.length === 0) {
    return { sampleCount: count, firstMs: Math.min(firstMs, timeMs[0]!), lastMs: Math.max(lastMs, timeMs.at(-1)!) };
  }
  const first = await readSamples(tx, series, { limit: 1, isFinalOnly: true });
  const last = await readSamples(tx, series, { limit: 1, isDescending: true, isFinalOnly: true });
  return { sampleCount: count, firstMs: first.timeMs[0] ?? null, lastMs: last.timeMs[0] ?? null };
}

async function addProvisional(tx: Reader, series: OpenSeries, finals: Counted): Promise<Counted> {
  const provisional = await readProvisional(tx, series.key);
  const added = rangeOf(provisional.timeMs);
  if (added.firstMs === null || added.lastMs === null) return finals;
  if (finals.firstMs === null || finals.lastMs === null) return added;
  const firstMs = Math.min(finals.firstMs, added.firstMs);
  const lastMs = Math.max(finals.lastMs, added.lastMs);
  if (added.firstMs > finals.lastMs) return { sampleCount: finals.sampleCount + added.sampleCount, firstMs, lastMs };
  const { timeMs } = await readSamples(tx, series, { fromMs: added.firstMs, isFinalOnly: true });
  const count = provisional.timeMs.filter((time) => timeMs[indexAt(timeMs, time)] !== time).length;
  return { sampleCount: finals.sampleCount + count, firstMs, lastMs };
}

function rangeOf(timeMs: Float64Array): Counted {
  return { sampleCount: timeMs.length, firstMs: timeMs[0] ?? null, lastMs: timeMs.at(-1) ?? null };
}
