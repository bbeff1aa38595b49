/**
 * The data for all rivals: the same bytes on every machine, computed from row numbers (except that the last digit of
 * the two sine columns depends on the JavaScript engine). Files are made once and kept in `data/` (git-ignored), or in
 * the folder WINDROW_BENCH_DATA.
 */
import { closeSync, existsSync, mkdirSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = process.env.WINDROW_BENCH_DATA ?? join(dirname(fileURLToPath(import.meta.url)), 'data');
const START_MS = Date.UTC(1990, 0, 1);
const MINUTE_MS = 60_000;
const CSV_STEP_MS = 10_000;
const DAY_MS = 86_400_000;
const CHUNK_ROWS = 1 << 16;

/** Hashes a row number to 32 well-mixed bits (the finaliser of MurmurHash3). */
function mix(row) {
  let h = row | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A daily curve with noise, 0..99999 thousandths. Integers only, so it is the same on every machine. */
function thousandths(row, timeMs) {
  const phase = timeMs % DAY_MS;
  const rise = phase < DAY_MS / 2 ? phase : DAY_MS - phase;
  return Math.floor((rise * 80_000) / (DAY_MS / 2)) + (mix(row) % 20_000);
}

/**
 * Row number -> one sample of each in-memory column. `b` ends in 0.0003 so that 1.5 a + b is never a tie of Round 2.
 */
const columnAt = {
  timeMs: (row) => START_MS + row * MINUTE_MS,
  jitteredMs: (row) => START_MS + row * MINUTE_MS + (mix(row + 0x51ed) % MINUTE_MS),
  a: (row) => (thousandths(row, row * MINUTE_MS) - 30_000) / 1000,
  b: (row) => (mix(row + 0x9e37) % 1000) / 100 + 0.0003,
  // A state that lasts, and a condition that does not.
  state: (row) => mix(row + 0x7a3) & 1,
  // The range of `a` and `b`, with all digits of a double; the second sine serves as noise.
  sine: (row) => 20 + 40 * Math.sin((2 * Math.PI * row) / 1440) + 10 * Math.sin(row * 12.9898),
  cosine: (row) => 5 + 5 * Math.cos(row * 78.233),
};

/** The names of the series in files with several. */
export function seriesNames(count) {
  return Array.from({ length: count }, (_, k) => `sensor_${String(k).padStart(2, '0')}`);
}

/** The path of a task's CSV, which is made if missing. */
export function csvFile({ layout, rows, seriesCount }) {
  // The file name is the name of its series in the single layout.
  const path = join(FOLDER, `${layout === 'single' ? 'samples' : layout}-${rows}.csv`);
  return made(path, () => writeCsv(path, rows, csvLayouts[layout](seriesNames(seriesCount))));
}

/** The paths of a task's columns, by the task's own names; missing files are made. */
export function columnFiles({ columns, rows }) {
  const folder = join(FOLDER, `columns-${rows}`);
  const files = {};
  for (const [name, column] of Object.entries(columns)) {
    const path = join(folder, `${column}.f64`);
    files[name] = made(path, () => writeColumn(path, column, rows));
  }
  return files;
}

/** The path of the same columns as one file in another format. */
export function formattedPath({ columns, rows }, extension) {
  return join(FOLDER, `columns-${rows}`, `${Object.values(columns).join('-')}.${extension}`);
}

/** In ClickHouse's own format, which it loads fastest; made if missing. */
export function nativeFile(work) {
  const path = formattedPath(work, 'native');
  return made(path, () => writeNative(path, work.columns, work.rows));
}

/** Reads a column file into a Float64Array. */
export function readColumn(path) {
  const column = new Float64Array(statSync(path).size / 8);
  const bytes = new Uint8Array(column.buffer);
  const file = openSync(path, 'r');
  // One read call returns at most 2 GiB.
  for (let at = 0; at < bytes.length; ) at += readSync(file, bytes, at, Math.min(bytes.length - at, 1 << 30), at);
  closeSync(file);
  return column;
}

/** Reads a file once, so that it is in the system's cache. */
export function readThrough(path) {
  const buffer = Buffer.allocUnsafe(1 << 20);
  const file = openSync(path, 'r');
  while (readSync(file, buffer) > 0);
  closeSync(file);
}

function made(path, write) {
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  write();
  return path;
}

/** Calls `fill(firstRow, rowCount) -> bytes` chunk by chunk; the file appears complete or not at all. */
function writeChunks(path, rowCount, head, fill) {
  const file = openSync(`${path}.part`, 'w');
  writeSync(file, head);
  for (let row = 0; row < rowCount; row += CHUNK_ROWS) {
    writeSync(file, fill(row, Math.min(CHUNK_ROWS, rowCount - row)));
  }
  closeSync(file);
  renameSync(`${path}.part`, path);
}

/** A reading from 10 to 99.999 with three decimals. */
const reading = (row, timeMs) => (Math.max(10_000, thousandths(row, timeMs)) / 1000).toFixed(3);
const jittered = (row, stepMs) => START_MS + row * stepMs + (mix(row + 0x51ed) % stepMs);
const iso = (timeMs) => new Date(timeMs).toISOString();

/** Layout -> header, and the text of a row. */
const csvLayouts = {
  single: () => ({
    header: 'timestamp,value',
    line(row) {
      const timeMs = jittered(row, CSV_STEP_MS);
      return `${iso(timeMs)},${reading(row, timeMs)}\n`;
    },
  }),
  /** The series take turns, each once a minute. */
  long: (names) => ({
    header: 'timestamp,timeseriesId,value',
    line(row) {
      const timeMs = jittered(row, MINUTE_MS / names.length);
      return `${iso(timeMs)},${names[row % names.length]},${reading(row, timeMs)}\n`;
    },
  }),
  wide: (names) => ({
    header: `timestamp,${names.join(',')}`,
    line(row) {
      const timeMs = jittered(row, CSV_STEP_MS);
      return `${iso(timeMs)},${names.map((_, k) => reading(row * names.length + k, timeMs)).join(',')}\n`;
    },
  }),
};

function writeCsv(path, rowCount, { header, line }) {
  writeChunks(path, rowCount, `${header}\n`, (firstRow, rows) => {
    let text = '';
    for (let row = firstRow; row < firstRow + rows; row++) text += line(row);
    return Buffer.from(text, 'latin1');
  });
}

function fillColumn(name, firstRow, rows) {
  const column = new Float64Array(rows);
  for (let i = 0; i < rows; i++) column[i] = columnAt[name](firstRow + i);
  return column;
}

function writeColumn(path, name, rowCount) {
  writeChunks(path, rowCount, '', (firstRow, rows) => new Uint8Array(fillColumn(name, firstRow, rows).buffer));
}

/** Blocks of columns: both counts, then each column's name, type and values (ClickHouse's format Native). */
function writeNative(path, columns, rowCount) {
  const text = (value) => [varint(value.length), Buffer.from(value)];
  writeChunks(path, rowCount, '', (firstRow, rows) => {
    const parts = Object.entries(columns).flatMap(([name, column]) => {
      const values = fillColumn(column, firstRow, rows);
      const isTime = name === 't';
      const bytes = isTime ? BigInt64Array.from(values, BigInt) : values;
      return [...text(name), ...text(isTime ? `DateTime64(3, 'UTC')` : 'Float64'), Buffer.from(bytes.buffer)];
    });
    return Buffer.concat([varint(Object.keys(columns).length), varint(rows), ...parts]);
  });
}

function varint(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}
