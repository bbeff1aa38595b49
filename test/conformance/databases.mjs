/**
 * Writes databases.json: the results of DuckDB and ClickHouse for the functions, windows and joins that they share.
 *
 *     (cd bench/rivals && npm install); node test/conformance/databases.mjs
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const rivals = createRequire(new URL('../../bench/rivals/', import.meta.url));
const { DuckDBInstance } = rivals('@duckdb/node-api');
const { query } = rivals('chdb');

const db = await (await DuckDBInstance.create(':memory:')).connect();
const rowsOf = async (sql) => (await db.runAndReadAll(sql)).getRowsJS();
const duck = `DuckDB ${(await rowsOf('select version()'))[0][0]}`;
const clickhouse = `ClickHouse ${query('select version()', 'TSV').trim()}`;

// Uneven whole seconds with gaps; values with ties; a second series that shares some of the times.
let seed = 7;
const draw = (limit) => {
  seed = (seed * 48271) % 2147483647;
  return seed % limit;
};
const START = Date.parse('2024-03-01T00:00:00Z') / 1000;
const readings = [];
for (let t = START + 77; readings.length < 70; t += 1 + draw(draw(9) === 0 ? 4000 : 400)) {
  readings.push([t, 20 + (draw(81) - 40) / 8]);
}
const others = readings.filter(() => draw(3) > 0).map(([t, x]) => [t + (draw(4) === 0 ? 1 : 0), x / 2 + draw(16) / 4]);
const table = (name, rows) =>
  `create table ${name} as select * from (values ${rows.map(([t, x]) => `(${t}::bigint, ${x}::double)`)}) v(t, x)`;
await db.run(table('a', readings));
await db.run(table('b', others));

const instant = (seconds) => new Date(seconds * 1000).toISOString();
const samples = (rows) =>
  rows.filter(([, x]) => x !== null && Number.isFinite(Number(x))).map(([t, x]) => [instant(Number(t)), Number(x)]);
const cases = [];

function add(name, source, operation, parameters, inputs, rows) {
  const references = inputs.map((_, index) => ({ timeseriesId: 'ab'[index], metric: 'Raw' }));
  const result = { timeseriesId: 'a', metric: 'M' };
  cases.push({
    name,
    source: `${source}: databases.mjs`,
    request: [
      {
        metric: 'M',
        processingType: 'batch',
        operations: [{ operation, input: references, output: [result], parameters }],
      },
    ],
    inputs: inputs.map((own, index) => ({ ...references[index], samples: samples(own) })),
    expected: [{ ...result, samples: samples(rows) }],
    tolerance: 1e-9,
  });
}

const functions = {
  Average: 'avg(x)',
  Sum: 'sum(x)',
  Count: 'count(x)',
  First: 'arg_min(x, t)',
  Last: 'arg_max(x, t)',
  Min: 'min(x)',
  Max: 'max(x)',
  Range: 'max(x) - min(x)',
  Median: 'median(x)',
  Percentile: 'quantile_cont(x, 0.85)',
  StandardDeviation: 'stddev_samp(x)',
  Variance: 'var_samp(x)',
  Delta: 'arg_max(x, t) - arg_min(x, t)',
  DistinctCount: 'count(distinct x)',
  Slope: `regr_slope(x, t - ${START}) * 3600`,
};
const ofFunction = (name) => (name === 'Percentile' ? { function: name, percentile: 85 } : { function: name });

for (const [name, sql] of Object.entries(functions)) {
  const bucket = '(t // 900) * 900';
  const rows = await rowsOf(`select ${bucket} w, ${sql} from a group by w order by w`);
  add(
    `${name} of quarters of an hour`,
    duck,
    'Aggregate',
    { ...ofFunction(name), interval: 'QuarterHourly' },
    [readings],
    rows,
  );

  // (t - 1200, t] in whole seconds: an SQL frame includes both of its ends.
  const frame = 'over (order by t range between 1199 preceding and current row)';
  const over = sql.replace(/\b(\w+)\(([^()]*)\)/g, `$1($2) ${frame}`);
  const sliding = { ...ofFunction(name), window: { type: 'sliding', size: 'PT20M' } };
  add(
    `${name} of the last 20 minutes`,
    duck,
    'Aggregate',
    sliding,
    [readings],
    await rowsOf(`select t, ${over} from a order by t`),
  );

  const numbered =
    'select *, sum(isNew) over (order by t) s from (select *, (t - lag(t) over (order by t) > 240)::int isNew from a)';
  const session = { ...ofFunction(name), window: { type: 'session', gap: 'PT4M' } };
  const parts = await rowsOf(`select min(t) w, ${sql} from (${numbered}) group by coalesce(s, 0) order by w`);
  add(`${name} of sessions`, duck, 'Aggregate', session, [readings], parts);
}

for (const [name, sql] of Object.entries({ Covariance: 'covar_samp(a.x, b.x)', Correlation: 'corr(a.x, b.x)' })) {
  const rows = await rowsOf(
    `select (a.t // 3600) * 3600 w, ${sql} from a join b using (t) group by w having count(*) > 1 order by w`,
  );
  add(`${name} of hours`, duck, 'Aggregate', { function: name, interval: 'Hourly' }, [readings, others], rows);
}

const joined = 'a asof join b on a.t >= b.t';
for (const [name, sql] of Object.entries({ Sub: 'a.x - b.x', Pow: 'pow(a.x, b.x)', Lte: '(a.x <= b.x)::int' })) {
  add(
    `${name} asof`,
    duck,
    name,
    { align: 'asof' },
    [readings, others],
    await rowsOf(`select a.t, ${sql} from ${joined} order by a.t`),
  );
}
const lagged = 'lag(x) over (order by t)';
add('Difference', duck, 'Difference', {}, [readings], await rowsOf(`select t, x - ${lagged} from a order by t`));
const perHour = `(x - ${lagged}) / (t - lag(t) over (order by t)) * 3600`;
add(
  'Derivative',
  duck,
  'Derivative',
  { unit: 'PT1H' },
  [readings],
  await rowsOf(`select t, ${perHour} from a order by t`),
);
add(
  'CumulativeSum',
  duck,
  'CumulativeSum',
  { interval: 'Hourly' },
  [readings],
  await rowsOf('select t, sum(x) over (partition by t // 3600 order by t) from a order by t'),
);

const gaps = `select t, (lead(t) over (order by t) - t) / 60 g from a qualify g > 6 order by t`;
add('Gaps', duck, 'Gaps', { gap: 'PT6M', unit: 'PT1M' }, [readings], await rowsOf(gaps));

const inClickhouse = (sql) => JSON.parse(query(sql, 'JSONCompact')).data;
const list = (rows) =>
  `(select arrayJoin([${rows.map(([t, x]) => `(toUInt32(${t}), toFloat64(${x}))`)}]) p, p.1 t, p.2 x)`;

// exp(-1/decay) per second halves the weight every `halflife` seconds.
const decayed = inClickhouse(
  `select t, exponentialTimeDecayedAvg(600 / log(2))(x, t) over
    (order by t rows between unbounded preceding and current row) from ${list(readings)} order by t`,
);
add('Decayed average', clickhouse, 'ExponentialAverage', { halflife: 'PT10M' }, [readings], decayed);

// Its buckets all hold the same number of samples, so the samples are placed to give our windows that number too.
const EACH = 6;
for (const windowCount of [4, 9]) {
  const rows = [[START - 60, 3]];
  for (let window = 0; window < windowCount; window++) {
    for (let i = 0; i < EACH; i++) rows.push([START + window * 3600 + i * 600 + draw(600), draw(64) / 4]);
  }
  rows.push([START + windowCount * 3600 + draw(600), 5]);
  const [[chosen]] = inClickhouse(`select largestTriangleThreeBuckets(${windowCount + 2})(t, x) from ${list(rows)}`);
  add(`LTTB of ${windowCount} windows`, clickhouse, 'Downsample', { interval: 'Hourly' }, [rows], chosen);
}
const counts = inClickhouse(
  `select intDiv(t, 3600) * 3600 w, argMin(t, (x, t)) * 1000 from ${list(readings)} group by w order by w`,
);
add('TimeOfMin of hours', clickhouse, 'Aggregate', { function: 'TimeOfMin', interval: 'Hourly' }, [readings], counts);

writeFileSync(
  new URL('databases.json', import.meta.url),
  `[\n${cases.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`,
);
