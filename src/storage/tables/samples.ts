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

/** The series that there are. What is counted here is of the segments; the log comes on top. */
export const series = defineTable(
  'series',
  {
    organisation: text,
    timeseriesId: text,
    metric: text,
    /** What log and segments call the series: counted up in its shard, and never given again. */
    seriesKey: integer,
    /** The item whose result this is; null for a series that clients write. */
    itemId: textOrNull,
    createdMs: integer,
    /** The commit that made the row: a cache may keep it once that is on the disk. */
    createdCommit: integer,
    sampleCount: integer,
    /** Times of the first and last sample in the segments; null when there is none. */
    firstMs: realOrNull,
    lastMs: realOrNull,
    /** Samples up to here were deleted by a rule of retention; null when none were. */
    forgottenMs: realOrNull,
  },
  ['organisation', 'timeseriesId', 'metric'],
  [['seriesKey'], ['itemId']],
);
export type SeriesRow = RowIn<typeof series>;

/**
 * Changes as they came: one row for many series, compacted into segments in the background. A row is
 * never changed, only deleted some time after it is in the segments.
 */
export const sampleLog = defineLog('sample_log', {
  /** The commit that wrote it, and its place in that commit. */
  commit: integer,
  part: integer,
  organisation: text,
  sampleCount: integer,
  changes: bytes,
  /** CRC-32 of the row's content; null in rows of before there were checksums. */
  checksum: integerOrNull,
  /** Where a queue delivered the samples from, so that what comes twice is taken once. */
  source: textOrNull,
  partition: textOrNull,
  offset: integerOrNull,
});
export type SampleLogRow = RowIn<typeof sampleLog>;

/** The last offset taken from each partition of a source. */
export const sourceOffsets = defineTable(
  'source_offsets',
  { organisation: text, source: text, partition: text, offset: integer },
  ['organisation', 'source', 'partition'],
);

/**
 * Columns of a few thousand samples of one series, in time order; segments of a series do not overlap. By their
 * last sample, so that the first segment that a range touches is the first one at or after its start.
 */
export const segments = defineTable(
  'segments',
  {
    seriesKey: integer,
    /** Of the first and last sample, epoch ms; whole milliseconds are not assumed. */
    startMs: real,
    endMs: real,
    sampleCount: integer,
    times: bytes,
    values: bytes,
    /** CRC-32 of the row's content; null in rows of before there were checksums. */
    checksum: integerOrNull,
  },
  ['seriesKey', 'endMs'],
);
export type SegmentRow = RowIn<typeof segments>;

/** The samples of a result that the next input may still change: what lies after its final ones. */
export const provisionalSamples = defineTable(
  'provisional_samples',
  {
    seriesKey: integer,
    commit: integer,
    sampleCount: integer,
    times: bytes,
    values: bytes,
    /** CRC-32 of the row's content; null in rows of before there were checksums. */
    checksum: integerOrNull,
  },
  ['seriesKey'],
);
export type ProvisionalRow = RowIn<typeof provisionalSamples>;

/**
 * How far the samples of a shard are compacted. One row, `name` 'samples', read by each work on samples.
 *
 * A round of compaction takes the log of the commits (compactedCommit, roundCommit] into the segments, series by
 * series; between rounds both are the same.
 */
export const sampleProgress = defineTable(
  'sample_progress',
  {
    name: text,
    /** The commit that last wrote this row. */
    commit: integer,
    /** All that the log holds up to this commit is in the segments. */
    compactedCommit: integer,
    roundCommit: integer,
    /** The series of the round up to this key are done, and the next one up to, not including, `roundMs`. */
    roundKey: integer,
    roundMs: realOrNull,
    /** The log of the commits up to this one is deleted. */
    forgottenCommit: integer,
    /** The last commit that dropped a series: what caches knew of series before it may be wrong. */
    droppedCommit: integer,
    nextSeriesKey: integer,
  },
  ['name'],
);
export type SampleProgressRow = RowIn<typeof sampleProgress>;

/** How far live items have taken in the log of a shard. One row, `name` 'log'; none while there never was an item. */
export const logProgress = defineTable('log_progress', { name: text, absorbedCommit: integer }, ['name']);

/**
 * How long samples are kept. Of the rules that fit a series the most special one holds: for the series and metric, for
 * the series, for the metric, for the organisation.
 */
export const retention = defineTable(
  'retention',
  {
    organisation: text,
    /** `samples` for what clients write, `results` for what items compute. */
    kind: text,
    /** '' for every series. */
    timeseriesId: text,
    /** '' for every metric. */
    metric: text,
    keepMs: integer,
    createdMs: integer,
  },
  ['organisation', 'kind', 'timeseriesId', 'metric'],
);
export type RetentionRow = RowIn<typeof retention>;
