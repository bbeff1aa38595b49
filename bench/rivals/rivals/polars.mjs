/**
 * Polars. CSV: scan_csv with a full schema, one strptime format (parseDates was slower: 3.7 against 1.6 s), and the
 * streaming engine. Memory: a frame of Datetime(ms) and Float64, lazy expressions in one plan, group_by_dynamic. The
 * runner sets POLARS_MAX_THREADS, which Polars reads once at its start. A frame cannot be given back; it is dropped.
 */
import pl from 'nodejs-polars';
import { seriesNames } from '../data.mjs';
import { serve } from '../serve.mjs';

const HOUR_MS = 3_600_000;
const TIME = pl.Datetime('ms');
/** Polars takes a JavaScript number as a Float64 literal, and its remainder of large floats is off by a whole hour. */
const HOUR = pl.lit(HOUR_MS).cast(pl.Int64);
const NONE = pl.lit(0).cast(pl.Int64);

function scan(input, columns) {
  const time = pl.col('timestamp').str.strptime(TIME, '%Y-%m-%dT%H:%M:%S%.3fZ');
  return pl.scanCSV(input, { schema: { timestamp: pl.Utf8, ...columns } }).withColumn(time);
}

const means = (names) => names.map((name) => pl.col(name).mean());

/** For all columns; the times ascend. */
function hourly(input, output, names) {
  scan(input, Object.fromEntries(names.map((name) => [name, pl.Float64])))
    .groupByDynamic({ indexColumn: 'timestamp', every: '1h' })
    .agg(...means(names))
    .collectSync({ engine: 'streaming' })
    .writeCSV(output);
}

/** groupByDynamic with `by` takes half as long again. */
function hourlyLong(input, output) {
  scan(input, { timeseriesId: pl.Utf8, value: pl.Float64 })
    .withColumn(pl.col('timestamp').dt.truncate('1h'))
    .groupBy(['timeseriesId', 'timestamp'])
    .agg(...means(['value']))
    .sort(['timeseriesId', 'timestamp'])
    .collectSync({ engine: 'streaming' })
    .writeCSV(output);
}

const csv = {
  single: (input, output) => hourly(input, output, ['value']),
  long: hourlyLong,
  wide: (input, output) => hourly(input, output, seriesNames(20)),
};

function load({ work, column }) {
  const columns = Object.fromEntries(Object.keys(work.columns).map((name) => [name, column(name)]));
  return pl.DataFrame(columns).withColumn(pl.col('t').cast(pl.Int64).cast(TIME));
}

function readFrame(frame) {
  const times = frame.select(pl.col('t').cast(pl.Int64).cast(pl.Float64));
  return { timeMs: times.getColumn('t').toTypedArray(), value: frame.getColumn('a').toTypedArray() };
}

const lazily = (plan) => (given) => {
  const frame = load(given);
  return { run: () => plan(frame.lazy()).collectSync(), answer: readFrame };
};

const windows = (frame, every) => frame.groupByDynamic({ indexColumn: 't', every });
const middle = pl.col('a').gtEq(0).and(pl.col('a').ltEq(20));

function elementwise(frame) {
  const rounded = pl.col('a').mul(1.5).add(pl.col('b')).round(2);
  return frame.select(pl.col('t'), rounded.gt(0).cast(pl.Float64).mul(2).alias('a'));
}

function timeWeighted(frame) {
  const ms = pl.col('t').cast(pl.Int64);
  const startMs = pl.col('ms').sub(pl.col('ms').rem(HOUR));
  const endMs = pl.col('start').add(HOUR);
  const nextMs = pl.when(pl.col('next').ltEq(endMs)).then(pl.col('next')).otherwise(endMs);
  const carriedMs = pl.when(pl.col('last').lt(pl.col('start'))).then(pl.col('ms').sub(pl.col('start'))).otherwise(NONE);
  return windows(
    frame
      .withColumns(ms.alias('ms'), ms.shift(-1).alias('next'), ms.shift(1).alias('last'))
      .withColumns(pl.col('a').shift(1).alias('held'))
      .withColumns(startMs.alias('start'))
      .withColumns(nextMs.sub(pl.col('ms')).alias('own'), carriedMs.alias('carried'))
      .select(
        pl.col('t'),
        pl.col('a').mul(pl.col('own')).add(pl.col('held').fillNull(0).mul(pl.col('carried'))).alias('area'),
        pl.col('own').add(pl.col('carried')).alias('known'),
      ),
    '1h',
  )
    .agg(pl.col('area').sum(), pl.col('known').sum())
    .select(pl.col('t'), pl.col('area').div(pl.col('known')).alias('a'));
}

/** An as-of join of the ticks: backward takes the last sample at or before each. */
const holdAt = (stepMs) => (given) => {
  const frame = load(given);
  const times = given.column('t');
  const firstMs = Math.ceil(times[0] / stepMs) * stepMs;
  const lastMs = times[times.length - 1];
  const run = () => {
    const tickMs = pl.intRange({ start: firstMs, end: lastMs + 1, step: stepMs, eager: true });
    const ticks = pl.DataFrame({ t: tickMs.cast(TIME) });
    return ticks.lazy().joinAsof(frame.lazy(), { on: 't', strategy: 'backward' }).collectSync();
  };
  return { run, answer: readFrame };
};

const each = (expression) => lazily((frame) => frame.select(pl.col('t'), expression.alias('a')));
const byHour = (expression) => lazily((frame) => windows(frame, '1h').agg(expression));

await serve({
  version: () => `(nodejs-polars ${pl.version})`,
  csv,
  works: {
    elementwise: lazily(elementwise),
    'average-hourly': lazily((frame) => windows(frame, '1h').agg(pl.col('a').mean())),
    'sum-quarter': lazily((frame) => windows(frame, '15m').agg(pl.col('a').sum())),
    'time-weighted': lazily(timeWeighted),
    mask: lazily((frame) => frame.filter(middle.not())),
    where: lazily((frame) => frame.filter(middle)),
    cleanse: lazily((frame) => frame.select(pl.col('t'), pl.col('a').clip(0, 50))),
    shift: lazily((frame) => frame.select(pl.col('t').cast(pl.Int64).add(HOUR).cast(TIME), pl.col('a'))),
    hold: holdAt(900_000),
    resample: holdAt(60_000),
    exp: each(pl.col('a').exp()),
    log: each(pl.col('a').log()),
    pow: each(pl.col('a').pow(1.7)),
    floor: each(pl.col('a').floor()),
    scale: each(pl.col('a').mul(1.8).add(32)),
    'cumulative-sum': each(pl.col('a').cumSum()),
    'minimum-hourly': byHour(pl.col('a').min()),
    'range-hourly': byHour(pl.col('a').max().sub(pl.col('a').min())),
    'deviation-hourly': byHour(pl.col('a').std()),
    'median-hourly': byHour(pl.col('a').median()),
    'percentile-hourly': byHour(pl.col('a').quantile(0.95, 'linear')),
    'distinct-hourly': byHour(pl.col('a').nUnique().cast(pl.Float64)),
  },
});
