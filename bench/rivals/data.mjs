/**
 * The data every rival is given: the same bytes on every machine, made from the row number alone.
 * Files are made once and kept in `data/` (git-ignored), or where WINDROW_BENCH_DATA points.
 *
 *   node data.mjs csv 5000000          samples-5000000.csv, `timestamp,value`, 32 bytes a row
 *   node data.mjs columns 10000000     one .f64 file a column, and the same rows as ClickHouse's RowBinary
 */
import { closeSync, existsSync, mkdirSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const FOLDER = process.env.WINDROW_BENCH_DATA ?? join(dirname(fileURLToPath(import.meta.url)), 'data');
const START_MS = Date.UTC(1990, 0, 1);
const MINUTE_MS = 60_000;
const CSV_STEP_MS = 10_000;
const DAY_MS = 86_400_000;
const CHUNK_ROWS = 1 << 16;
/** 2024-05-17T10:20:30.123Z,12.345 and a line feed. */
const CSV_ROW_BYTES = 32;

export const COLUMNS = ['timeMs', 'jitteredMs', 'a', 'b'];

/** A well mixed 32-bit number from a row number (the finaliser of MurmurHash3). */
function mix(row) {
  let h = row | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A daily rise and fall with noise, 0..99999 thousandths. Whole numbers only: the same on every machine. */
function thousandths(row, timeMs) {
  const phase = timeMs % DAY_MS;
  const rise = phase < DAY_MS / 2 ? phase : DAY_MS - phase;
  return Math.floor((rise * 80_000) / (DAY_MS / 2)) + (mix(row) % 20_000);
}

/** Row -> one sample of each in-memory column. `b` ends in 0.0003 so that 1.5 a + b never lies on a tie of Round 2. */
const columnAt = {
  timeMs: (row) => START_MS + row * MINUTE_MS,
  jitteredMs: (row) => START_MS + row * MINUTE_MS + (mix(row + 0x51ed) % MINUTE_MS),
  a: (row) => (thousandths(row, row * MINUTE_MS) - 30_000) / 1000,
  b: (row) => (mix(row + 0x9e37) % 1000) / 100 + 0.0003,
};

/** Where the CSV of so many rows lies; made if it is not there. */
export function csvFile(rowCount) {
  const path = join(FOLDER, `samples-${rowCount}.csv`);
  return made(path, () => writeCsv(path, rowCount));
}

/** Where the files of the in-memory columns lie; made if they are not there. */
export function columnFiles(rowCount) {
  const folder = join(FOLDER, `columns-${rowCount}`);
  const files = { rowBinary: join(folder, 'rows.rowbinary') };
  for (const name of COLUMNS) {
    files[name] = made(join(folder, `${name}.f64`), () => writeColumn(join(folder, `${name}.f64`), name, rowCount));
  }
  made(files.rowBinary, () => writeRowBinary(files.rowBinary, rowCount));
  return files;
}

/** One column file, read into a Float64Array. */
export function readColumn(path) {
  const column = new Float64Array(statSync(path).size / 8);
  const bytes = new Uint8Array(column.buffer);
  const file = openSync(path, 'r');
  // One read call takes at most 2 GiB.
  for (let at = 0; at < bytes.length; ) at += readSync(file, bytes, at, Math.min(bytes.length - at, 1 << 30), at);
  closeSync(file);
  return column;
}

function made(path, write) {
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  write();
  return path;
}

/** Calls `fill(firstRow, rowCount) -> bytes` chunk by chunk; the file appears whole or not at all. */
function writeChunks(path, rowCount, head, fill) {
  const file = openSync(`${path}.part`, 'w');
  writeSync(file, head);
  for (let row = 0; row < rowCount; row += CHUNK_ROWS) {
    writeSync(file, fill(row, Math.min(CHUNK_ROWS, rowCount - row)));
  }
  closeSync(file);
  renameSync(`${path}.part`, path);
}

function writeCsv(path, rowCount) {
  const chunk = Buffer.alloc(CHUNK_ROWS * CSV_ROW_BYTES);
  writeChunks(path, rowCount, 'timestamp,value\n', (firstRow, rows) => {
    let at = 0;
    for (let row = firstRow; row < firstRow + rows; row++) {
      const timeMs = START_MS + row * CSV_STEP_MS + (mix(row + 0x51ed) % CSV_STEP_MS);
      const value = Math.max(10_000, thousandths(row, timeMs));
      const text = `${new Date(timeMs).toISOString()},${(value / 1000).toFixed(3)}\n`;
      at += chunk.latin1Write(text, at);
    }
    return chunk.subarray(0, at);
  });
}

function writeColumn(path, name, rowCount) {
  const chunk = new Float64Array(CHUNK_ROWS);
  writeChunks(path, rowCount, '', (firstRow, rows) => {
    for (let i = 0; i < rows; i++) chunk[i] = columnAt[name](firstRow + i);
    return new Uint8Array(chunk.buffer, 0, rows * 8);
  });
}

function writeRowBinary(path, rowCount) {
  const chunk = new DataView(new ArrayBuffer(CHUNK_ROWS * 32));
  writeChunks(path, rowCount, '', (firstRow, rows) => {
    for (let i = 0; i < rows; i++) {
      chunk.setBigInt64(i * 32, BigInt(columnAt.timeMs(firstRow + i)), true);
      chunk.setBigInt64(i * 32 + 8, BigInt(columnAt.jitteredMs(firstRow + i)), true);
      chunk.setFloat64(i * 32 + 16, columnAt.a(firstRow + i), true);
      chunk.setFloat64(i * 32 + 24, columnAt.b(firstRow + i), true);
    }
    return new Uint8Array(chunk.buffer, 0, rows * 32);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [kind, rowCount] = process.argv.slice(2);
  console.log(kind === 'csv' ? csvFile(Number(rowCount)) : columnFiles(Number(rowCount)));
}
