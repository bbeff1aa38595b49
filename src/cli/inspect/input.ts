import { WindrowError } from '../../core/errors.js';
import { formatInstant } from '../../core/instant.js';
import { concatenate, type Series, type SeriesReference, seriesKey } from '../../core/series.js';
import { isUtc, zoneOf } from '../../core/zone.js';
import type { RunOptions } from '../../engine/options.js';
import { FileReader } from '../../formats/csv/read/reader.js';
import type { RangePool } from '../../formats/csv/threaded/pool.js';
import type { Plan } from '../../plan/plan.js';
import { type CommandOption, type Given, textOf } from '../command.js';
import { type InputOptions, readInputOptions, inputOptions as tableOptions } from '../files/input-options.js';
import { type InputFile, openInputs } from '../files/inputs.js';
import type { TempFiles } from '../files/temp-files.js';
import { checkSources, type FileOutcome, readFile } from '../run/read-file.js';
import type { Io } from '../terminal/io.js';

/** What commands share that look at a request over files. */
export const inputOptions: readonly CommandOption[] = [
  { flag: '--input', value: 'FILE', isList: true, summary: 'CSV files, as `run` reads them (`-` for standard input)' },
  // `why` calls the result that it is asked for `--series`.
  ...tableOptions.filter(({ flag }) => flag !== '--series'),
  { flag: '--from', value: 'TIME', summary: 'ignore samples before this time, such as 2024-01-31T12:00:00Z' },
  { flag: '--until', value: 'TIME', summary: 'ignore samples at or after this time' },
  {
    flag: '--timezone',
    value: 'ZONE',
    summary: 'time zone of local days and of times without an offset (default: UTC)',
  },
  { flag: '--json', summary: 'print JSON, for a program' },
];

export function openGiven(given: Given, command: string, io: Io, temps: TempFiles): InputFile[] {
  const paths = given.options.get('--input') ?? [];
  if (paths.length > 0) return openInputs(paths, true, io, temps);
  throw new WindrowError('arguments', `${command}: expected --input FILE.csv, received none`);
}

/** What was said of the tables; the series that `why` asks about is no column. */
export function tableOptionsOf(given: Given): InputOptions {
  const options = new Map([...given.options].filter(([flag]) => flag !== '--series'));
  return readInputOptions({ ...given, options });
}

export function runOptionsOf(given: Given): RunOptions {
  const [from, until] = [textOf(given, '--from'), textOf(given, '--until')];
  return { ...(from === undefined ? {} : { from }), ...(until === undefined ? {} : { until }) };
}

const CHUNK_ROWS = 8192;

/** Reads the series of a plan into memory: one for each source, in the order of the rows. @throws WindrowError */
export async function readSources(
  plan: Plan,
  inputs: readonly InputFile[],
  input: InputOptions,
  io: Io,
  pool?: RangePool,
): Promise<Series[]> {
  const parts = new Map(plan.sources.map((source) => [seriesKey(source), [] as Series[]]));
  const onChunk = (series: readonly Series[]): void => {
    for (const one of series) {
      parts.get(seriesKey(one))?.push({ ...one, timeMs: one.timeMs.slice(), value: one.value.slice() });
    }
  };
  const settings = { plan, timezone: plan.timezone, chunkRows: CHUNK_ROWS, onBadRow: 'fail', input, pool } as const;
  const listener = { onChunk, onReject: () => {}, onRead: () => {}, isStopped: () => false };
  const files: FileOutcome[] = [];
  for (const one of inputs) {
    const file = await readFile(settings, one, listener, io);
    if (file !== undefined) files.push(file);
  }
  checkSources(plan, files);
  return plan.sources.map((source) => ({ ...source, ...concatenate(parts.get(seriesKey(source)) ?? []) }));
}

/** Where a sample stands. */
export interface Line {
  readonly file: string;
  readonly line: number;
}

/**
 * Finds the lines of samples, which are known by their place among those of their series. The files are read again, row
 * by row.
 *
 * @param wanted the places that are looked for, by the key of their series.
 */
export async function findLines(
  plan: Plan,
  inputs: readonly InputFile[],
  given: InputOptions,
  wanted: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<ReadonlyMap<string, ReadonlyMap<number, Line>>> {
  const lines = new Map([...wanted.keys()].map((key) => [key, new Map<number, Line>()]));
  const counts = new Map([...wanted.keys()].map((key) => [key, 0]));
  const [only] = plan.sources;
  for (const input of inputs) {
    // Standard input has no name: what it holds is the one series that the request reads.
    const keyOf = (reference: SeriesReference): string =>
      input.path === '-' && plan.sources.length === 1 ? seriesKey(only!) : seriesKey(reference);
    const options = { ...given, fileName: input.name, timezone: plan.timezone, chunkRows: 1 };
    const isWanted = (reference: SeriesReference): boolean => wanted.has(keyOf(reference));
    const reader: FileReader = new FileReader({ ...options, wanted: isWanted }, (series) => {
      // By then the reader has come to the line behind the row.
      const line = reader.progress().line - 1;
      for (const one of series) {
        const key = keyOf(one);
        const place = counts.get(key)!;
        if (wanted.get(key)!.has(place)) lines.get(key)!.set(place, { file: input.name, line });
        counts.set(key, place + 1);
      }
    });
    for await (const block of input.blocks(() => {})) reader.push(block);
    reader.end();
  }
  return lines;
}

/** An instant as clocks of a zone show it, with their offset: `2024-03-01T01:00:00.000+01:00`. */
export function localTime(timeMs: number, timezone: string): string {
  const offsetMs = isUtc(timezone) ? 0 : (zoneOf(timezone)?.offsetMsAt(timeMs) ?? 0);
  if (isUtc(timezone)) return formatInstant(timeMs);
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const pad = (number: number): string => String(number).padStart(2, '0');
  const offset = `${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
  return formatInstant(timeMs + offsetMs).replace('Z', offset);
}
