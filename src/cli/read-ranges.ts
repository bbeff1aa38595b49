import { type Series, seriesKey } from '../core/series.js';
import { rowError } from '../formats/csv/errors.js';
import type { CsvReaderOptions, CsvSummary } from '../formats/csv/index.js';
import type { LongSeries } from '../formats/csv/read/by-series.js';
import { openReader } from '../formats/csv/read/reader.js';
import type { ColumnRows } from '../formats/csv/read/rows.js';
import { type InputFile, openToRead, readNow } from './files/inputs.js';
import { createLongJoiner, createTableJoiner, type RowJoiner } from './join-rows.js';
import type { Crew, CrewWork, ScannedRange } from './scan-crew.js';
import {
  createRangeScanner,
  numbersPerRange,
  type RangedFile,
  type RangeOutcome,
  type RangeScanner,
  type ReadAt,
  rangeCountOf,
} from './scan-range.js';
import { createSlotReader, createSlotWriter } from './scan-slots.js';
import type { Io } from './terminal/io.js';

/** A file to be read in ranges, and who is told of it. */
interface RangedRead {
  readonly file: RangedFile;
  readonly head: Uint8Array;
  readonly options: CsvReaderOptions & { readonly chunkRows: number };
  readonly wantedKeys: readonly string[];
  readonly onChunk: (series: readonly Series[]) => void;
  readonly onRead: (byteCount: number) => void;
  /** Asked after each range; once it is true, the rest is left. */
  readonly isStopped: () => boolean;
}

/** Between some ranges signals and timers get their turn. */
const RANGES_PER_TURN = 4;

// The header of a file that is read by many stands within so many bytes.
const HEAD_BYTES = 65_536;

/**
 * Reads a file with the help of a crew, to the same chunks, rows and errors as one thread; undefined when stopped.
 * 'alone' for a file that one thread has to read: it is small, cannot be read from any place, or begins strangely.
 */
export async function readWithCrew(
  { name, path, isRegular, sizeBytes = 0 }: InputFile,
  read: Omit<RangedRead, 'file' | 'head'>,
  crew: Crew,
  io: Io,
): Promise<CsvSummary | 'alone' | undefined> {
  if (!isRegular || sizeBytes < 2 * crew.rangeBytes) return 'alone';
  const descriptor = openToRead(path, io);
  try {
    const first = new Uint8Array(Math.min(HEAD_BYTES, sizeBytes));
    const start = first.subarray(0, readNow(io, descriptor, first, name, 0));
    const headBytes = openReader(read.options, () => undefined).readHeader(start);
    if (headBytes === undefined) return 'alone';
    const file = { fileName: name, descriptor, sizeBytes, headBytes, rangeBytes: crew.rangeBytes };
    return await readRanges({ ...read, file, head: first.subarray(0, headBytes) }, crew, io);
  } finally {
    io.fs.closeSync(descriptor);
  }
}

async function readRanges(read: RangedRead, crew: Crew, io: Io): Promise<CsvSummary | undefined> {
  const { file, options, wantedKeys } = read;
  const { timezone, chunkRows, onBadRow } = options;
  const shared = { chunkRows, ...(timezone && { timezone }), ...(onBadRow && { onBadRow }) };
  const work = crew.start({ file, wantedKeys, options: shared });
  try {
    return await readInOrder(read, work, io);
  } finally {
    work.cancel();
  }
}

async function readInOrder(read: RangedRead, work: CrewWork, io: Io): Promise<CsvSummary | undefined> {
  const { file, head, options } = read;
  const { descriptor, fileName } = file;
  const readAt: ReadAt = (block, position) => readNow(io, descriptor, block, fileName, position);
  const openScanner = (): RangeScanner => createRangeScanner(file, head, options, readAt);
  const scanner = openScanner();
  const account = openAccount(read, scanner);
  const slots = createSlotWriter(numbersPerRange(file));
  const arrived = createSlotReader();
  const waiting = new Map<number, ScannedRange>();

  // Waits until the range was read, here or elsewhere, and takes it.
  async function take(index: number): Promise<RangeOutcome> {
    for (;;) {
      for (const range of work.collect()) waiting.set(range.index, range);
      const range = waiting.get(index);
      if (range !== undefined) {
        waiting.delete(index);
        account.open(range.worker, range.outcome);
        arrived.empty(range.worker, range.slot, account.addRows);
        return account.close(range.outcome);
      }
      const own = work.claim();
      if (own === undefined) await work.wait();
      else if (own === index && account.isTable) return scanNow(own);
      else {
        const outcome = scanner.scan(own, slots.add);
        waiting.set(own, { worker: OWN, index: own, outcome, slot: slots.take() });
      }
    }
  }

  // A range that is next is handed on as it is read; the series of the long layout would come after their rows.
  function scanNow(index: number): RangeOutcome {
    account.open(OWN, { newSeries: [], samples: [] });
    const outcome = scanner.scan(index, account.addRows);
    account.open(OWN, outcome);
    return account.close(outcome);
  }

  for (let index = 0; index < rangeCountOf(file); index++) {
    const { resumeAt, bytes } = await take(index);
    read.onRead(bytes);
    if (read.isStopped()) return undefined;
    work.advance(index + 1);
    if (resumeAt !== undefined) {
      work.cancel();
      return readRest(read, openScanner(), resumeAt, account);
    }
    if (index % RANGES_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  account.joiner.flush();
  return read.isStopped() ? undefined : account.summary();
}

// A row goes on over the cut, so line ends do not tell where rows begin: the rest is read by one.
async function readRest(
  { file, isStopped, onRead }: RangedRead,
  scanner: RangeScanner,
  position: number,
  account: Account,
): Promise<CsvSummary | undefined> {
  const slots = createSlotWriter(numbersPerRange(file));
  const arrived = createSlotReader();
  scanner.goTo(position);
  for (let outcome = scanner.scanOn(slots.add); outcome !== undefined; outcome = scanner.scanOn(slots.add)) {
    account.open(REST, outcome);
    arrived.empty(REST, slots.take(), account.addRows);
    account.close(outcome);
    onRead(outcome.bytes);
    if (isStopped()) return undefined;
    await new Promise((resolve) => setImmediate(resolve));
  }
  account.joiner.flush();
  return isStopped() ? undefined : account.summary();
}

// Readers beside those of the crew, which are numbered from 0.
const OWN = -1;
const REST = -2;

/** What the ranges held together, taken in the order of the file: of each first its series, then its rows. */
interface Account {
  readonly isTable: boolean;
  readonly joiner: RowJoiner;
  readonly open: (worker: number, outcome: Pick<RangeOutcome, 'newSeries' | 'samples'>) => void;
  readonly addRows: (rows: ColumnRows) => void;
  /** @throws CsvError for the bad row that ends the reading */
  readonly close: (outcome: RangeOutcome) => RangeOutcome;
  readonly summary: () => CsvSummary;
}

function openAccount({ options, onChunk }: RangedRead, { reader }: RangeScanner): Account {
  const { layout, line: firstLine } = reader.progress();
  const { chunkRows, wanted = () => true } = options;
  // A table has its series by its header; those of the long layout come with their rows.
  const ofHeader = reader
    .series()
    .map((one, index): LongSeries => ({ ...one, index, isWanted: wanted(one), samples: 0 }));
  const all = [...ofHeader];
  const byKey = new Map(all.map((one) => [seriesKey(one), one]));
  const joiner =
    layout === 'long'
      ? createLongJoiner(all, chunkRows, onChunk)
      : createTableJoiner(
          all.filter(({ isWanted }) => isWanted),
          chunkRows,
          onChunk,
        );
  // The series of each thread, by its own indices.
  const known = new Map<number, LongSeries[]>();
  const total = { rows: 0, rejected: 0, missing: 0 };
  let line = firstLine;
  let series: readonly LongSeries[] = ofHeader;

  function open(worker: number, { newSeries, samples }: Parameters<Account['open']>[1]): void {
    const own = known.get(worker) ?? [...ofHeader];
    known.set(worker, own);
    for (const { timeseriesId, metric } of newSeries) {
      const key = seriesKey({ timeseriesId, metric });
      const entry = byKey.get(key) ?? { timeseriesId, metric, index: all.length, isWanted: true, samples: 0 };
      if (!byKey.has(key)) all.push(entry);
      byKey.set(key, entry);
      own.push(entry);
    }
    for (const [index, count] of samples.entries()) {
      const entry = own[index];
      if (entry !== undefined) entry.samples += count;
    }
    series = own;
  }

  function close(outcome: RangeOutcome): RangeOutcome {
    for (const rejected of outcome.rejects) options.onReject?.({ ...rejected, line: line + rejected.line });
    const { fault } = outcome;
    if (fault !== undefined) throw rowError(options.fileName, line + fault.line, fault.problem);
    total.rows += outcome.rows;
    total.rejected += outcome.rejected;
    total.missing += outcome.missing;
    line += outcome.lines;
    return outcome;
  }

  return {
    isTable: layout !== 'long',
    joiner,
    open,
    addRows: (rows) => joiner.add(rows, series),
    close,
    summary: () => ({
      layout,
      ...total,
      series: all.map(({ timeseriesId, metric, samples }) => ({ timeseriesId, metric, samples })),
    }),
  };
}
