import { type Series, type SeriesReference, seriesKey } from '../../../core/series.js';
import { zoneOf } from '../../../core/zone.js';
import { RepeatedHours } from '../../table/repeated-hours.js';
import { rowError } from '../errors.js';
import type { CsvReaderOptions, CsvSummary } from '../options.js';
import type { LongSeries } from '../read/by-series.js';
import { FileReader } from '../read/reader.js';
import type { ColumnRows } from '../read/rows.js';
import { createLongJoiner, createTableJoiner, type RowJoiner } from './join.js';
import type { RangePool } from './pool.js';
import { type OnRows, type RangedFile, type RangeOutcome, RangeReader, type ReadAt, sharedCopyOf } from './range.js';
import type { RangeResult } from './worker.js';

/** A file to be read by several threads, and the callbacks that take its rows. */
export interface ThreadedRead {
  readonly descriptor: number;
  readonly sizeBytes: number;
  readonly rangeBytes: number;
  readonly readAt: ReadAt;
  readonly options: CsvReaderOptions;
  /** The series that the run reads; for the threads, what `wanted` is among the options. */
  readonly sources: readonly SeriesReference[];
  readonly onChunk: (series: readonly Series[]) => void;
  readonly onRead: (byteCount: number) => void;
  /** Called after each range; once it returns true, reading stops. */
  readonly isStopped: () => boolean;
}

// The header must lie within this many bytes; otherwise one thread reads the file.
const HEAD_BYTES = 65_536;
/** How many ranges the main thread may read ahead. */
const OWN_AHEAD = 8;
/** How many ranges at the start the main thread reads itself, while the threads start. */
const OWN_FIRST = 8;

/**
 * Reads a file with the threads of a pool, with the same chunks, rows and errors as one thread would give. Returns
 * undefined if stopped, and 'alone' for a file that one thread must read, as it is small or its header is unusual.
 *
 * @throws CsvError for a row that cannot be read, and the system's error if a thread cannot read the file.
 */
export async function readThreaded(read: ThreadedRead, pool: RangePool): Promise<CsvSummary | 'alone' | undefined> {
  const { descriptor, sizeBytes, rangeBytes, readAt, options } = read;
  // A thread that sees one series cannot tell that the file has others.
  if (sizeBytes < 2 * rangeBytes || options.as !== undefined) return 'alone';
  const first = new Uint8Array(Math.min(HEAD_BYTES, sizeBytes));
  const start = first.subarray(0, readAt(first, 0));
  const told = new FileReader(options, () => undefined, { isPatient: true }).tellHeader(
    start,
    start.length === sizeBytes,
  );
  if (told === undefined || told.header.isAnnotated) return 'alone';
  const file = { fileName: options.fileName, descriptor, sizeBytes, rangeBytes, ...told };
  const asked: Asked[] = [];
  try {
    return await readInOrder(read, file, pool, asked);
  } finally {
    // Threads read from the descriptor until they have ended.
    await Promise.allSettled(asked.map(({ result }) => result));
  }
}

/** Lets the pool hand out ranges and take results. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A range that has been requested, and may have been read ahead. */
interface Asked {
  readonly result: Promise<RangeResult>;
  isRead: boolean;
}

async function readInOrder(
  read: ThreadedRead,
  file: RangedFile,
  pool: RangePool,
  asked: Asked[],
): Promise<CsvSummary | undefined> {
  const { timezone, chunkRows, onBadRow, unnamed } = read.options;
  const options = { chunkRows, unnamed, ...(timezone && { timezone }), ...(onBadRow && { onBadRow }) };
  const task = { fileNumber: pool.nextFile(), file, sources: read.sources, options };
  const open = (): RangeReader => new RangeReader(file, read.options, read.readAt);
  const reader = open();
  const account = new Account(read, reader);
  const count = Math.max(1, Math.ceil((file.sizeBytes - file.headBytes) / file.rangeBytes));
  const ownCount = Math.min(OWN_FIRST, count >> 1);
  let next = ownCount;

  function ask(): void {
    const one: Asked = { result: pool.read({ ...task, index: next++ }), isRead: false };
    const isRead = (): void => {
      one.isRead = true;
    };
    // A failure is reported when its turn comes.
    one.result.then(isRead, isRead);
    asked.push(one);
  }

  function readHere(index: number): RangeResult {
    const rows: ColumnRows[] = [];
    const outcome = reader.readRange(index, (chunk) => rows.push(sharedCopyOf(chunk)));
    return { thread: MAIN, outcome, rows };
  }

  // While it would wait for the threads, the main thread reads ranges that have not been requested from them.
  async function readMeanwhile(first: Asked, limit: number): Promise<void> {
    for (;;) {
      await nextTurn();
      if (first.isRead || next >= limit) return;
      asked.push({ result: Promise.resolve(readHere(next++)), isRead: true });
    }
  }

  // The result of a range that was asked for.
  async function take(index: number): Promise<RangeResult> {
    const [first] = asked;
    if (first === undefined) throw new Error('assertion failed: a range was not asked for');
    if (!first.isRead) await readMeanwhile(first, Math.min(count, index + pool.rangesAhead + OWN_AHEAD));
    const result = await first.result;
    asked.shift();
    return result;
  }

  for (let index = 0; index < count; index++) {
    while (next < Math.min(count, Math.max(index, ownCount) + pool.rangesAhead)) ask();
    const result = await (index < ownCount ? nextTurn().then(() => readHere(index)) : take(index));
    if ('failure' in result) throw Object.assign(new Error(result.failure.message), { code: result.failure.code });
    const { thread, outcome, rows } = result;
    account.open(thread, outcome);
    rows.forEach(account.addRows);
    account.close(outcome);
    read.onRead(outcome.bytes);
    if (read.isStopped()) return undefined;
    if (outcome.resumeAt !== undefined) return readRest(read, open(), outcome.resumeAt, account);
  }
  account.flush();
  return read.isStopped() ? undefined : account.summary();
}

// A row continues after the range, so line ends do not tell where rows begin: one thread reads the rest.
async function readRest(
  { isStopped, onRead }: ThreadedRead,
  reader: RangeReader,
  position: number,
  account: Account,
): Promise<CsvSummary | undefined> {
  reader.goTo(position);
  for (;;) {
    const rows: ColumnRows[] = [];
    const outcome = reader.readOn((chunk) => rows.push(sharedCopyOf(chunk)));
    if (outcome === undefined) break;
    // The series of a range must be known before its rows.
    account.open(REST, outcome);
    rows.forEach(account.addRows);
    account.close(outcome);
    onRead(outcome.bytes);
    if (isStopped()) return undefined;
    await nextTurn();
  }
  account.flush();
  return isStopped() ? undefined : account.summary();
}

// Numbers for the main thread and for what it reads alone at the end; Node numbers the pool's threads from 1.
const MAIN = 0;
const REST = -1;

interface CountedSeries extends LongSeries {
  /** Rows so far. */
  samples: number;
}

/** Adds up what the ranges held, in the order of the file: of each range first its series, then its rows. */
class Account {
  readonly #read: ThreadedRead;
  readonly #layout: CsvSummary['layout'];
  readonly #isTable: boolean;
  readonly #joiner: RowJoiner;
  readonly #total = { rows: 0, rejected: 0, missing: 0 };
  /** The series of a table, from its header; those of the long layout come with their rows. */
  readonly #ofHeader: readonly CountedSeries[];
  readonly #all: CountedSeries[];
  readonly #byKey: Map<string, CountedSeries>;
  /** The series of each thread, by its own indices. */
  readonly #known = new Map<number, CountedSeries[]>();
  readonly #notes: readonly string[];
  readonly #repeatedHours: RepeatedHours | undefined;
  #series: readonly CountedSeries[];
  #line: number;

  constructor(read: ThreadedRead, { reader }: RangeReader) {
    const { options, onChunk } = read;
    const { timezone, wanted = () => true } = options;
    const { layout, line, notes } = reader.progress();
    const zone = timezone === undefined ? undefined : zoneOf(timezone);
    this.#notes = notes;
    this.#repeatedHours = zone && new RepeatedHours(zone);
    this.#read = read;
    this.#layout = layout;
    this.#line = line;
    this.#ofHeader = reader.series().map((one, index) => ({ ...one, index, samples: 0 }));
    this.#series = this.#ofHeader;
    this.#all = [...this.#ofHeader];
    this.#byKey = new Map(this.#all.map((one) => [seriesKey(one), one]));
    const kept = this.#all.filter((one) => wanted(one));
    this.#isTable = layout === 'wide' || layout === 'single';
    this.#joiner = this.#isTable
      ? createTableJoiner(kept, options.chunkRows, onChunk)
      : createLongJoiner(this.#all, options.chunkRows, onChunk);
  }

  /** Takes the series of a range that a thread has read. */
  open(thread: number, { newSeries, samples }: RangeOutcome): void {
    const own = this.#known.get(thread) ?? [...this.#ofHeader];
    this.#known.set(thread, own);
    for (const { timeseriesId, metric } of newSeries) {
      const key = seriesKey({ timeseriesId, metric });
      const index = this.#all.length;
      const entry = this.#byKey.get(key) ?? { timeseriesId, metric, index, samples: 0 };
      if (!this.#byKey.has(key)) this.#all.push(entry);
      this.#byKey.set(key, entry);
      own.push(entry);
    }
    for (const [index, count] of samples.entries()) {
      const entry = own[index];
      if (entry !== undefined) entry.samples += count;
    }
    this.#series = own;
  }

  readonly addRows: OnRows = (rows) => {
    // Threads cannot settle repeated local times, as they do not know the rows before their range.
    for (const row of this.#repeatedHours === undefined ? [] : rows.nearChange) {
      const series = this.#isTable ? 0 : this.#series[rows.series![row]!]!.index;
      rows.timeMs[row] = this.#repeatedHours!.settle(series, rows.timeMs[row]!);
    }
    this.#joiner.add(rows, this.#series);
  };

  /** Takes the counts of the range. @throws CsvError for the bad row that ends reading. */
  close({ rejects, fault, rows, rejected, missing, lines }: RangeOutcome): void {
    const { options } = this.#read;
    for (const row of rejects) options.onReject?.({ ...row, line: this.#line + row.line });
    if (fault !== undefined) throw rowError(options.fileName, this.#line + fault.line, fault.problem);
    this.#total.rows += rows;
    this.#total.rejected += rejected;
    this.#total.missing += missing;
    this.#line += lines;
  }

  /** Passes on the rows that do not fill a chunk. */
  flush(): void {
    this.#joiner.flush();
  }

  summary(): CsvSummary {
    const series = this.#all.map(({ timeseriesId, metric, samples }) => ({ timeseriesId, metric, samples }));
    return { layout: this.#layout, ...this.#total, series, notes: this.#notes };
  }
}
