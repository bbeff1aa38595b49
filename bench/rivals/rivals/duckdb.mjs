/**
 * DuckDB. CSV: explicit column types (no sniffing), one COPY from read_csv to a file. Memory: a table of TIMESTAMP and
 * DOUBLE columns loaded from Parquet, which is much faster than the appender from JavaScript's arrays; queries are
 * prepared once, and results are materialised as DuckDB's own chunks, not as JavaScript values. Results cannot be given
 * back; they are dropped.
 */
import { existsSync, renameSync } from 'node:fs';
import { DOUBLE, DuckDBDataChunk, DuckDBInstance, version } from '@duckdb/node-api';
import { formattedPath, seriesNames } from '../data.mjs';
import { serve } from '../serve.mjs';

/** The size of DuckDB's vectors: one data chunk. */
const VECTOR_ROWS = 2048;
const QUARTER = `INTERVAL 15 MINUTES`;

async function connect(threads) {
  const instance = await DuckDBInstance.create(':memory:', { threads: String(threads) });
  return instance.connect();
}

/** `select` over the columns after the timestamp, by the hour. */
async function hourly({ input, output, threads, columns, select, by }) {
  const connection = await connect(threads);
  const types = Object.entries({ timestamp: 'TIMESTAMP', ...columns }).map(([name, type]) => `'${name}': '${type}'`);
  await connection.run(`
    COPY (
      SELECT date_trunc('hour', timestamp) AS timestamp, ${select}
      FROM read_csv('${input}', header = true, delim = ',', auto_detect = false, columns = {${types.join(', ')}})
      GROUP BY ${by} ORDER BY ${by}
    ) TO '${output}' (HEADER)`);
}

const DOUBLE_COLUMN = { value: 'DOUBLE' };
const csv = {
  single: (input, output, threads) =>
    hourly({ input, output, threads, columns: DOUBLE_COLUMN, select: 'avg(value) AS value', by: '1' }),
  long(input, output, threads) {
    const columns = { timeseriesId: 'VARCHAR', ...DOUBLE_COLUMN };
    const select = 'timeseriesId, avg(value) AS value';
    return hourly({ input, output, threads, columns, select, by: '2, 1' });
  },
  wide(input, output, threads) {
    const names = seriesNames(20);
    const columns = Object.fromEntries(names.map((name) => [name, 'DOUBLE']));
    const select = names.map((name) => `avg(${name}) AS ${name}`).join(', ');
    return hourly({ input, output, threads, columns, select, by: '1' });
  },
};

const parquetPath = (work) => formattedPath(work, 'parquet');

/** Writes columns as DOUBLE by the appender, with a true TIMESTAMP, unless done before. */
async function makeFiles({ work, column }) {
  const path = parquetPath(work);
  if (existsSync(path)) return;
  const connection = await connect(1);
  const names = Object.keys(work.columns);
  await connection.run(`CREATE TABLE loading (${names.map((name) => `${name} DOUBLE`).join(', ')})`);
  const appender = await connection.createAppender('loading');
  const columns = names.map(column);
  for (let row = 0; row < work.rows; row += VECTOR_ROWS) {
    const chunk = DuckDBDataChunk.create(names.map(() => DOUBLE));
    chunk.setColumns(columns.map((values) => values.subarray(row, row + VECTOR_ROWS)));
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
  await connection.run(`
    COPY (
      SELECT make_timestamp(CAST(t AS BIGINT) * 1000) AS t, ${names.slice(1).join(', ')} FROM loading
    ) TO '${path}.part' (FORMAT parquet)`);
  renameSync(`${path}.part`, path);
}

/** Both columns of a result as float64, read chunk by chunk. */
function readResult(result) {
  const timeMs = new Float64Array(result.rowCount);
  const value = new Float64Array(result.rowCount);
  let row = 0;
  for (let i = 0; i < result.chunkCount; i++) {
    const chunk = result.getChunk(i);
    const times = chunk.getColumnVector(0);
    const values = chunk.getColumnVector(1);
    for (let k = 0; k < chunk.rowCount; k++, row++) {
      timeMs[row] = Number(times.getItem(k).micros) / 1000;
      value[row] = values.getItem(k);
    }
  }
  return { timeMs, value };
}

const query = (sql) => async (given) => {
  const connection = await connect(given.threads);
  await connection.run(`CREATE TABLE samples AS SELECT * FROM read_parquet('${parquetPath(given.work)}')`);
  // The planner does not know the number of ticks, and would choose a nested loop for few: minutes, not seconds.
  await connection.run('SET asof_loop_join_threshold = 0');
  const prepared = await connection.prepare(sql);
  return { run: () => prepared.run(), answer: readResult };
};

/** Each sample holds until the next or the window's end; lag carries the value at a window's start in. */
const TIME_WEIGHTED = `
  WITH held AS (
    SELECT t, a, date_trunc('hour', t) AS start,
           lead(t) OVER (ORDER BY t) AS next_t, lag(t) OVER (ORDER BY t) AS last_t, lag(a) OVER (ORDER BY t) AS last_a
    FROM samples
  ), parts AS (
    SELECT start,
           epoch_ms(least(coalesce(next_t, start + INTERVAL 1 HOUR), start + INTERVAL 1 HOUR)) - epoch_ms(t) AS own_ms,
           CASE WHEN last_t < start THEN epoch_ms(t) - epoch_ms(start) ELSE 0 END AS carried_ms,
           a, coalesce(last_a, 0) AS last_a
    FROM held
  )
  SELECT start, sum(a * own_ms + last_a * carried_ms) / sum(own_ms + carried_ms) FROM parts GROUP BY 1 ORDER BY 1`;

const holdAt = (step) => `
  WITH ticks AS (
    SELECT unnest(generate_series(
      time_bucket(${step}, min(t) + ${step} - INTERVAL 1 MICROSECOND), max(t), ${step}
    )) AS t
    FROM samples
  )
  SELECT ticks.t, samples.a FROM ticks ASOF JOIN samples ON ticks.t >= samples.t ORDER BY 1`;

const each = (expression) => query(`SELECT t, ${expression} FROM samples`);
const byHour = (expression) => query(`SELECT date_trunc('hour', t), ${expression} FROM samples GROUP BY 1 ORDER BY 1`);
const fromLast = (expression) =>
  query(`
    SELECT t, ${expression} FROM (SELECT t, a, lag(a) OVER w AS last, lag(t) OVER w AS last_t FROM samples WINDOW w AS (ORDER BY t))
    WHERE last IS NOT NULL`);

await serve({
  makeFiles,
  version: () => version(),
  csv,
  works: {
    elementwise: query(
      'SELECT t, CAST(round(a * CAST(1.5 AS DOUBLE) + b, 2) > 0 AS DOUBLE) * CAST(2 AS DOUBLE) FROM samples',
    ),
    'average-hourly': query(`SELECT date_trunc('hour', t), avg(a) FROM samples GROUP BY 1 ORDER BY 1`),
    'sum-quarter': query(`SELECT time_bucket(${QUARTER}, t), sum(a) FROM samples GROUP BY 1 ORDER BY 1`),
    'time-weighted': query(TIME_WEIGHTED),
    mask: query('SELECT t, a FROM samples WHERE NOT (a BETWEEN 0 AND 20)'),
    where: query('SELECT t, a FROM samples WHERE a BETWEEN 0 AND 20'),
    cleanse: query('SELECT t, least(greatest(a, CAST(0 AS DOUBLE)), CAST(50 AS DOUBLE)) FROM samples'),
    shift: query('SELECT t + INTERVAL 1 HOUR, a FROM samples'),
    hold: query(holdAt(QUARTER)),
    resample: query(holdAt('INTERVAL 1 MINUTE')),
    sqrt: each('sqrt(a)'),
    exp: each('exp(a)'),
    log: each('ln(a)'),
    pow: each('pow(a, 1.7)'),
    mod: each('fmod(a, 7)'),
    floor: each('floor(a)'),
    scale: each('a * CAST(1.8 AS DOUBLE) + CAST(32 AS DOUBLE)'),
    maximum: each('greatest(a, b)'),
    select: each('CASE WHEN b <> 0 THEN a ELSE CAST(0 AS DOUBLE) END'),
    difference: fromLast('a - last'),
    derivative: fromLast('(a - last) / ((epoch_ms(t) - epoch_ms(last_t)) / 3600000)'),
    counter: fromLast('CASE WHEN a < last THEN a ELSE a - last END'),
    'cumulative-sum': each('sum(a) OVER (ORDER BY t)'),
    'moving-average': each('avg(a) OVER (ORDER BY t RANGE BETWEEN INTERVAL 3599999 MILLISECONDS PRECEDING AND CURRENT ROW)'),
    'minimum-hourly': byHour('min(a)'),
    'range-hourly': byHour('max(a) - min(a)'),
    'deviation-hourly': byHour('stddev_samp(a)'),
    'median-hourly': byHour('median(a)'),
    'percentile-hourly': byHour('quantile_cont(a, 0.95)'),
    'distinct-hourly': byHour('CAST(count(DISTINCT a) AS DOUBLE)'),
  },
});
