/**
 * ClickHouse in process, by chdb. CSV: one INSERT INTO FUNCTION file SELECT FROM file. The timestamp is read as String
 * and parsed by parseDateTime64BestEffort: the reader's basic form refuses the `Z`, and its best-effort form was slower
 * (0.88 against 0.67 s). Memory: loaded from its Native format; ENGINE = Memory tables for inputs and results,
 * DateTime64(3) and Float64. Each result is a table of its own, given back by DROP TABLE.
 */
import { rmSync } from 'node:fs';
import { Session, version } from 'chdb';
import { nativeFile, seriesNames } from '../data.mjs';
import { serve } from '../serve.mjs';

const TIME = `DateTime64(3, 'UTC')`;

/** `select` over the columns after the timestamp, by the hour. `made` are the columns of the output. */
function hourly({ input, output, threads, columns, select, made, by }) {
  const session = new Session();
  session.query(`
    INSERT INTO FUNCTION file('${output}', 'CSVWithNames', 'timestamp DateTime(\\'UTC\\'), ${made}')
    SELECT toStartOfHour(parseDateTime64BestEffort(timestamp, 3, 'UTC')) AS start, ${select}
    FROM file('${input}', 'CSVWithNames', 'timestamp String, ${columns}')
    GROUP BY ${by} ORDER BY ${by}
    SETTINGS max_threads = ${threads}, engine_file_truncate_on_insert = 1`);
  session.close();
}

const ONE_VALUE = 'value Float64';
const csv = {
  single: (input, output, threads) =>
    hourly({ input, output, threads, columns: ONE_VALUE, select: 'avg(value)', made: ONE_VALUE, by: 'start' }),
  long(input, output, threads) {
    const columns = `timeseriesId String, ${ONE_VALUE}`;
    const by = 'timeseriesId, start';
    hourly({ input, output, threads, columns, select: 'timeseriesId, avg(value)', made: columns, by });
  },
  wide(input, output, threads) {
    const names = seriesNames(20);
    const columns = names.map((name) => `${name} Float64`).join(', ');
    const select = names.map((name) => `avg(${name})`).join(', ');
    hourly({ input, output, threads, columns, select, made: columns, by: 'start' });
  },
};

function load(session, { work, threads }) {
  session.query(`SET max_threads = ${threads}, max_insert_threads = ${threads}`);
  session.query('CREATE DATABASE bench ENGINE = Memory');
  const values = Object.keys(work.columns).filter((name) => name !== 't');
  const columns = values.map((name) => `${name} Float64`).join(', ');
  session.query(`CREATE TABLE bench.samples (t ${TIME}, ${columns}) ENGINE = Memory`);
  session.query(`INSERT INTO bench.samples SELECT * FROM file('${nativeFile(work)}', 'Native')`);
}

function writeResult(session, table, path) {
  rmSync(path, { force: true });
  session.query(`
    INSERT INTO FUNCTION file('${path}', 'RowBinary', 't Float64, value Float64')
    SELECT toFloat64(toUnixTimestamp64Milli(t)), value FROM ${table} ORDER BY t`);
}

const query = (sql) => (given) => {
  const session = new Session();
  load(session, given);
  let count = 0;
  return {
    run() {
      const table = `bench.result_${++count}`;
      session.query(`CREATE TABLE ${table} (t ${TIME}, value Float64) ENGINE = Memory`);
      session.query(`INSERT INTO ${table} ${sql}`);
      return table;
    },
    giveBack: (table) => session.query(`DROP TABLE ${table} SYNC`),
    answer: (table, path) => writeResult(session, table, path),
  };
};

/** Each sample holds until the next or the window's end; lag carries the value at a window's start in. */
const TIME_WEIGHTED = `
  SELECT start, sum(a * own_ms + last_a * carried_ms) / sum(own_ms + carried_ms)
  FROM (
    SELECT a, toUnixTimestamp64Milli(t) AS ms, toStartOfHour(t) AS start, intDiv(ms, 3600000) * 3600000 AS start_ms,
           leadInFrame(ms, 1, start_ms + 3600000) OVER w AS next_ms,
           lagInFrame(ms, 1, ms) OVER w AS last_ms, lagInFrame(a, 1, 0) OVER w AS last_a,
           least(next_ms, start_ms + 3600000) - ms AS own_ms,
           if(last_ms < start_ms, ms - start_ms, 0) AS carried_ms
    FROM bench.samples
    WINDOW w AS (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  )
  GROUP BY start ORDER BY start`;

/** The ticks in milliseconds: numbers() from the first tick on. An ASOF JOIN also needs an equality: `one`. */
const holdAt = (stepMs) => `
  WITH (SELECT intDiv(min(toUnixTimestamp64Milli(t)) + ${stepMs - 1}, ${stepMs}) FROM bench.samples) AS first,
       (SELECT intDiv(max(toUnixTimestamp64Milli(t)), ${stepMs}) FROM bench.samples) AS last
  SELECT ticks.t, samples.a
  FROM (
    SELECT 1 AS one, fromUnixTimestamp64Milli(toInt64((number + assumeNotNull(first)) * ${stepMs}), 'UTC') AS t
    FROM numbers(assumeNotNull(last - first + 1))
  ) AS ticks
  ASOF JOIN (SELECT 1 AS one, t, a FROM bench.samples) AS samples
  ON ticks.one = samples.one AND ticks.t >= samples.t`;

const each = (expression) => query(`SELECT t, ${expression} FROM bench.samples`);
const byHour = (expression) =>
  query(`SELECT toStartOfHour(t) AS start, ${expression} FROM bench.samples GROUP BY start ORDER BY start`);
/** Over the rows in their order, which a memory table keeps on one thread. */
const fromLast = (expression) =>
  query(`
    SELECT t, ${expression} FROM (
      SELECT t, a, row_number() OVER w AS number, lagInFrame(a) OVER w AS last FROM bench.samples
      WINDOW w AS (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    ) WHERE number > 1`);

await serve({
  makeFiles: ({ work }) => nativeFile(work),
  version: () => version().libchdb.replaceAll(`"`, ""),
  csv,
  works: {
    elementwise: query('SELECT t, (round(a * 1.5 + b, 2) > 0) * 2. FROM bench.samples'),
    'average-hourly': query(
      'SELECT toStartOfHour(t) AS start, avg(a) FROM bench.samples GROUP BY start ORDER BY start',
    ),
    'sum-quarter': query(
      'SELECT toStartOfFifteenMinutes(t) AS start, sum(a) FROM bench.samples GROUP BY start ORDER BY start',
    ),
    'time-weighted': query(TIME_WEIGHTED),
    mask: query('SELECT t, a FROM bench.samples WHERE NOT (a BETWEEN 0 AND 20)'),
    where: query('SELECT t, a FROM bench.samples WHERE a BETWEEN 0 AND 20'),
    cleanse: query('SELECT t, least(greatest(a, 0.), 50.) FROM bench.samples'),
    shift: query('SELECT addHours(t, 1), a FROM bench.samples'),
    hold: query(holdAt(900_000)),
    resample: query(holdAt(60_000)),
    sqrt: each('sqrt(a)'),
    exp: each('exp(a)'),
    log: each('log(a)'),
    pow: each('pow(a, 1.7)'),
    floor: each('floor(a)'),
    scale: each('a * 1.8 + 32.'),
    maximum: each('greatest(a, b)'),
    select: each('if(b != 0, a, 0.)'),
    difference: fromLast('a - last'),
    counter: fromLast('if(a < last, a, a - last)'),
    'cumulative-sum': each('sum(a) OVER (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)'),
    'minimum-hourly': byHour('min(a)'),
    'range-hourly': byHour('max(a) - min(a)'),
    'deviation-hourly': byHour('stddevSamp(a)'),
    'median-hourly': byHour('quantileExactInclusive(0.5)(a)'),
    'percentile-hourly': byHour('quantileExactInclusive(0.95)(a)'),
    'distinct-hourly': byHour('toFloat64(uniqExact(a))'),
  },
});
