// Deleting rows in PostgreSQL against dropping partitions, for the log and for segments, and what partitions cost
// reads: why tables are not partitioned by time (docs/scale.md).
//
//   node bench/service/partitions.mjs

import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { PostgresServer } from '../../scripts/cluster/postgres-server.mjs';

const TICK_MS = 10;
const SERIES = 200;
const SEGMENTS = 200;
const SEGMENT_SAMPLES = 4096;
const SPAN_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'windrow-partitions-'));
chmodSync(folder, 0o711);
const server = new PostgresServer(join(folder, 'server'), {
  shared_buffers: '512MB',
  max_wal_size: '2GB',
  autovacuum: 'off',
});
let client;
let pid;

const query = async (sql, values) => (await client.query(sql, values)).rows;

function processorMs() {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

async function walBytes() {
  const [{ bytes }] = await query(`SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS "bytes"`);
  return Number(bytes);
}

class Cost {
  #processorMs = 0;
  #walBytes = 0;

  async of(work) {
    const [wal, ms] = [await walBytes(), processorMs()];
    await work();
    this.#processorMs += processorMs() - ms;
    this.#walBytes += (await walBytes()) - wal;
  }

  toString() {
    return `${this.#processorMs} ms, ${(this.#walBytes / 1e6).toFixed(1)} MB of write-ahead log`;
  }
}

const bytesOf = (count) => `decode(repeat(md5(random()::text), ${Math.ceil(count / 16)}), 'hex')`;

/** Ten rounds of 1,000 rows; each trims the round before the last one. */
async function logCost(rowBytes, isPartitioned) {
  await query(`CREATE TABLE log (shard int, commit int8, part int8, changes bytea, PRIMARY KEY (shard, commit, part))
    ${isPartitioned ? 'PARTITION BY RANGE (commit)' : ''}`);
  if (!isPartitioned) await query('ALTER TABLE log ALTER changes SET STORAGE EXTERNAL');
  const [inserting, trimming] = [new Cost(), new Cost()];
  for (let round = 0; round < 12; round++) {
    if (isPartitioned) {
      await trimming.of(async () => {
        const [from, until] = [round * 1000 + 1, round * 1000 + 1001];
        await query(`CREATE TABLE log_${round} PARTITION OF log FOR VALUES FROM (${from}) TO (${until})`);
        await query(`ALTER TABLE log_${round} ALTER changes SET STORAGE EXTERNAL`);
      });
    }
    await inserting.of(() =>
      query(`INSERT INTO log SELECT 7, ${round * 1000} + i, 0, ${bytesOf(rowBytes)} FROM generate_series(1, 1000) i`),
    );
    if (round < 2) continue;
    await trimming.of(async () => {
      if (isPartitioned) await query(`DROP TABLE log_${round - 2}`);
      else await query(`DELETE FROM log WHERE shard = 7 AND commit <= ${(round - 1) * 1000}`);
      if (!isPartitioned) await query('VACUUM log');
    });
  }
  const how = isPartitioned ? 'make and drop' : 'delete and vacuum';
  console.log(`log of ${rowBytes} B rows: insert 12,000 ${inserting}; ${how} 10,000 ${trimming}`);
  await query('DROP TABLE log');
}

async function segmentCost(partitionCount) {
  await query(`CREATE TABLE segments (shard int, "seriesKey" int8, "endMs" float8, times bytea, "values" bytea,
    PRIMARY KEY (shard, "seriesKey", "endMs")) ${partitionCount > 0 ? 'PARTITION BY RANGE ("endMs")' : ''}`);
  const widthMs = SPAN_MS / partitionCount;
  for (let i = 0; i < partitionCount; i++) {
    const from = i === 0 ? 'MINVALUE' : i * widthMs;
    const until = i === partitionCount - 1 ? 'MAXVALUE' : (i + 1) * widthMs;
    await query(`CREATE TABLE segments_${i} PARTITION OF segments FOR VALUES FROM (${from}) TO (${until})`);
  }
  const tables =
    partitionCount === 0 ? ['segments'] : Array.from({ length: partitionCount }, (_, i) => `segments_${i}`);
  for (const table of tables) {
    await query(`ALTER TABLE ${table} ALTER times SET STORAGE EXTERNAL, ALTER "values" SET STORAGE EXTERNAL`);
  }
  const inserting = new Cost();
  await inserting.of(() =>
    query(`INSERT INTO segments SELECT 7, k, e, ${bytesOf(1000)}, ${bytesOf(8000)}
      FROM generate_series(1, ${SERIES}) k, generate_series(0, ${SPAN_MS - 1}, ${SPAN_MS / SEGMENTS}) e`),
  );
  await query('VACUUM ANALYZE segments');
  console.log(`${partitionCount} partitions: insert ${SERIES * SEGMENTS} segments ${inserting}`);
  const columns = '"endMs", times, "values"';
  for (const [what, condition] of [
    ['the first one from', `>= $3 ORDER BY "endMs"`],
    ['the last one before', `< $3 ORDER BY "endMs" DESC`],
  ]) {
    for (const at of [0, SPAN_MS / 2, SPAN_MS]) {
      const text = `SELECT ${columns} FROM segments WHERE shard = $1 AND "seriesKey" = $2 AND "endMs" ${condition} LIMIT $4`;
      const ask = (i) =>
        client.query({ name: `${what} ${partitionCount}`, text, values: [7, 1 + (i % SERIES), at, 1] });
      for (let i = 0; i < 20; i++) await ask(i);
      const ms = processorMs();
      for (let i = 0; i < 1000; i++) await ask(i);
      console.log(`  look up ${what} ${(100 * at) / SPAN_MS} % of the time: ${processorMs() - ms} us each`);
    }
  }
  const deleting = new Cost();
  const beforeMs = SPAN_MS / 12;
  const [{ count }] = await query(`SELECT count(*) FROM segments WHERE "endMs" < ${beforeMs}`);
  await deleting.of(async () => {
    if (partitionCount === 12) await query('DROP TABLE segments_0');
    else await query(`DELETE FROM segments WHERE shard = 7 AND "endMs" < ${beforeMs}`);
    if (partitionCount !== 12) await query('VACUUM segments');
  });
  const how = partitionCount === 12 ? 'drop' : 'delete and vacuum';
  console.log(`  ${how} ${count} of them, ${((count * SEGMENT_SAMPLES) / 1e6).toFixed(0)} M samples: ${deleting}`);
  await query('DROP TABLE segments');
}

try {
  await server.create();
  await server.start();
  client = new pg.Client({ connectionString: await server.createDatabase('windrow') });
  await client.connect();
  [{ pid }] = await query('SELECT pg_backend_pid() AS pid');
  for (const rowBytes of [300, 20_000])
    for (const isPartitioned of [false, true]) await logCost(rowBytes, isPartitioned);
  for (const count of [0, 12, 60]) await segmentCost(count);
  await client.end();
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
