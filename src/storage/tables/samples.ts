import {
  bytes,
  defineLog,
  defineTable,
  integer,
  integerOrNull,
  type RowIn,
  real,
  realOrNull,
  text,
  textOrNull,
} from '../table.js';

/** All series. Counts and times cover only the segments, not the log. */
export const series = defineTable(
  'series',
  {
    organisation: text,
    timeseriesId: text,
    metric: text,
    /** The series' id in the log and segments: a counter in its shard, never reused. */
    seriesKey: integer,
    /** The item whose result this is; null for a series that clients write. */
    itemId: textOrNull,
    createdMs: integer,
    /** The commit that created the row: caches may keep it once that commit is on the disk. */
    createdCommit: integer,
    sampleCount: integer,
    /** Times of the first and last sample in the segments; null if there are none. */
    firstMs: realOrNull,
    lastMs: realOrNull,
    /** Samples up to this time were deleted by a retention rule; null if none were. */
    forgottenMs: realOrNull,
  },
  ['organisation', 'timeseriesId', 'metric'],
  [['seriesKey'], ['itemId']],
);
export type SeriesRow = RowIn<typeof series>;

/**
 * Changes in the order of arrival: one row for many series, moved into segments in the background. A row is never
 * changed, only deleted some time after it is in the segments.
 */
export const sampleLog = defineLog('sample_log', {
  /** The commit that wrote the row, and the row's place in that commit. */
  commit: integer,
  part: integer,
  organisation: text,
  sampleCount: integer,
  changes: bytes,
  /** CRC-32 of the row's content. */
  checksum: integer,
  /** The queue that delivered the samples, so that a repeated delivery is ignored. */
  source: textOrNull,
  partition: textOrNull,
  offset: integerOrNull,
});
export type SampleLogRow = RowIn<typeof sampleLog>;

/** The last offset stored from each partition of a source. */
export const sourceOffsets = defineTable(
  'source_offsets',
  { organisation: text, source: text, partition: text, offset: integer },
  ['organisation', 'source', 'partition'],
);

/**
 * A few thousand samples of one series, as columns in time order; segments of a series do not overlap. The key has the
 * last sample's time, so that the first segment of a range is the first one that ends at or after its start.
 */
export const segments = defineTable(
  'segments',
  {
    seriesKey: integer,
    /** Times of the first and last sample, in epoch ms, not necessarily whole. */
    startMs: real,
    endMs: real,
    sampleCount: integer,
    times: bytes,
    values: bytes,
    /** CRC-32 of the row's content. */
    checksum: integer,
  },
  ['seriesKey', 'endMs'],
);
export type SegmentRow = RowIn<typeof segments>;

/** `segments` without the samples. */
export const segmentHeads = defineTable(
  segments.name,
  { seriesKey: integer, startMs: real, endMs: real, sampleCount: integer },
  ['seriesKey', 'endMs'],
);
export type SegmentHead = RowIn<typeof segmentHeads>;

/** Provisional samples of a result: those after its final ones, which the next input may still change. */
export const provisionalSamples = defineTable(
  'provisional_samples',
  {
    seriesKey: integer,
    commit: integer,
    sampleCount: integer,
    times: bytes,
    values: bytes,
    /** CRC-32 of the row's content. */
    checksum: integer,
  },
  ['seriesKey'],
);
export type ProvisionalRow = RowIn<typeof provisionalSamples>;

/** `provisional_samples` without the samples. */
export const provisionalHeads = defineTable(provisionalSamples.name, { seriesKey: integer }, ['seriesKey']);

/**
 * Progress of a shard's compaction. One row, `name` 'samples', read by each transaction on samples.
 *
 * A round of compaction moves the log of the commits (compactedCommit, roundCommit] into the segments, series by
 * series; between rounds the two are equal.
 */
export const sampleProgress = defineTable(
  'sample_progress',
  {
    name: text,
    /** The commit that last wrote this row. */
    commit: integer,
    /** All of the log up to this commit is in the segments. */
    compactedCommit: integer,
    roundCommit: integer,
    /** In this round, the series up to this key are done, and the next one up to, not including, `roundMs`. */
    roundKey: integer,
    roundMs: realOrNull,
    /** The log up to this commit is deleted. */
    forgottenCommit: integer,
    /** The last commit that dropped a series: what caches hold from before it may be wrong. */
    droppedCommit: integer,
    nextSeriesKey: integer,
  },
  ['name'],
);
export type SampleProgressRow = RowIn<typeof sampleProgress>;

/** The commit up to which items have absorbed a shard's log. One row, `name` 'log'; none if there never was an item. */
export const logProgress = defineTable('log_progress', { name: text, absorbedCommit: integer }, ['name']);

/**
 * Retention rules: how long samples are kept. The most specific rule that fits a series applies: for series and
 * metric, for the series, for the metric, for the organisation.
 */
export const retention = defineTable(
  'retention',
  {
    organisation: text,
    /** `samples` for series that clients write, `results` for those that items compute. */
    kind: text,
    /** '' means every series. */
    timeseriesId: text,
    /** '' means every metric. */
    metric: text,
    keepMs: integer,
    createdMs: integer,
  },
  ['organisation', 'kind', 'timeseriesId', 'metric'],
);
export type RetentionRow = RowIn<typeof retention>;
