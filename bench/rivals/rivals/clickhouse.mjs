/**
 * ClickHouse, in the process through chdb. CSV: one INSERT INTO FUNCTION file SELECT FROM file. The timestamp is read
 * as String and parsed by parseDateTime64BestEffort: the reader's own basic form refuses the `Z`, and its best-effort
 * form was slower (0.88 against 0.67 s). Memory: tables of ENGINE = Memory on both sides, DateTime64(3) and Float64.
 */
import { rmSync } from 'node:fs';
import { Session, version } from 'chdb';
import { serve } from '../serve.mjs';

const TIME = `DateTime64(3, 'UTC')`;

async function csvHourly(input, output, threads) {
  const session = new Session();
  session.query(`
    INSERT INTO FUNCTION file('${output}', 'CSVWithNames', 'timestamp DateTime(\\'UTC\\'), value Float64')
    SELECT toStartOfHour(parseDateTime64BestEffort(timestamp, 3, 'UTC')) AS start, avg(value)
    FROM file('${input}', 'CSVWithNames', 'timestamp String, value Float64')
    GROUP BY start ORDER BY start
    SETTINGS max_threads = ${threads}, engine_file_truncate_on_insert = 1`);
  session.close();
}

function load(session, { work, files, threads }) {
  session.query(`SET max_threads = ${threads}, max_insert_threads = ${threads}`);
  session.query('CREATE DATABASE bench ENGINE = Memory');
  session.query(`CREATE TABLE bench.samples (t ${TIME}, a Float64, b Float64) ENGINE = Memory`);
  session.query(`CREATE TABLE bench.result (t ${TIME}, value Float64) ENGINE = Memory`);
  const time = TIME.replaceAll("'", "\\'");
  const layout = `timeMs ${time}, jitteredMs ${time}, a Float64, b Float64`;
  session.query(`
    INSERT INTO bench.samples SELECT ${work.time}, a, b FROM file('${files.rowBinary}', 'RowBinary', '${layout}')`);
}

function writeResult(session, path) {
  rmSync(path, { force: true });
  session.query(`
    INSERT INTO FUNCTION file('${path}', 'RowBinary', 't Float64, value Float64')
    SELECT toFloat64(toUnixTimestamp64Milli(t)), value FROM bench.result ORDER BY t`);
}

const query = (sql) => (given) => {
  const session = new Session();
  load(session, given);
  return {
    run() {
      session.query('TRUNCATE TABLE bench.result');
      session.query(`INSERT INTO bench.result ${sql}`);
    },
    answer: (_, path) => writeResult(session, path),
  };
};

/** Each sample holds until the next or the window's end; the value at a window's start is carried in by lag. */
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

/** The ticks, as milliseconds: numbers() from the first tick on. An ASOF JOIN wants an equality too: `one`. */
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

await serve({
  version: () => version().libchdb.replaceAll(`"`, ""),
  csvHourly,
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
  },
});
