import { WindrowError } from '../../core/errors.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import { patternOf } from '../../core/pattern.js';
import { concatenate, isKnownTime, type Series, seriesKey } from '../../core/series.js';
import { isUtc, zoneOf } from '../../core/zone.js';
import type { RunOptions } from '../../engine/options.js';
import type { RangePool } from '../../formats/csv/threaded/pool.js';
import type { Plan } from '../../plan/plan.js';
import { type CommandOption, counted, defined, type Given, textOf } from '../command.js';
import {
  badRowOption,
  formatOption,
  inputOptions,
  instantOption,
  onBadRowOf,
  readInputOptions,
  spanOptions,
} from '../files/input-options.js';
import { type InputFile, openInputs } from '../files/inputs.js';
import { checkStandardInput, type NamedPaths } from '../files/paths.js';
import type { TempFiles } from '../files/temp-files.js';
import { type FileSettings, readAll, readFile } from '../run/read-file.js';
import type { Io } from '../terminal/io.js';

/** The options of commands that examine a request over files. */
export const fileOptions: readonly CommandOption[] = [
  { flag: '--input', value: 'FILE', isList: true, summary: 'files, as `run` reads them (`-` for standard input)' },
  ...inputOptions,
  ...spanOptions,
  badRowOption,
  { flag: '--json', summary: 'print JSON, for a program' },
];

/** Files, and what the caller says about them. */
export interface Files {
  readonly inputs: readonly InputFile[];
  readonly said: Pick<FileSettings, 'input' | 'format' | 'onBadRow'>;
}

export function openGiven(given: Given, command: string, io: Io, temps: TempFiles): Files {
  const paths = given.options.get('--input') ?? [];
  const said = { input: readInputOptions(given), format: formatOption(given, '--format'), onBadRow: onBadRowOf(given) };
  if (paths.length > 0) return { inputs: openInputs(paths, true, io, temps), said };
  throw new WindrowError('arguments', `${command}: expected --input FILE, received nothing`);
}

/** Checks that requests and files do not read standard input both. @throws WindrowError */
export function checkReads(given: Given, command: string, requests: NamedPaths): void {
  checkStandardInput(command, [...requests, ['--input', given.options.get('--input') ?? []]]);
}

export function runOptionsOf(given: Given): RunOptions {
  const instant = (flag: string): Instant | undefined => {
    const text = textOf(given, flag);
    return text === undefined ? undefined : instantOption(text);
  };
  return defined({ from: instant('--from'), until: instant('--until') });
}

/**
 * Reads all series of a plan into memory, with samples in the order of the rows, and tells of rows that are left out.
 *
 * @param pool reads by threads what was read before, so that nothing is told again.
 * @throws WindrowError
 */
export async function readSources(plan: Plan, { inputs, said }: Files, io: Io, pool?: RangePool): Promise<Series[]> {
  const settings = { ...said, plan, timezone: plan.timezone, pool };
  const { series, files } = await readAll(settings, inputs, { onReject: () => {}, onRead: () => {} }, io);
  for (const { path, rejected } of pool === undefined ? files : []) {
    if (rejected > 0) await io.stderr.write(`windrow: left out: ${counted(rejected, 'bad row')} of ${path}\n`);
  }
  const read = new Set(series.map(seriesKey));
  const lacking = plan.sources.filter((one) => patternOf(one.timeseriesId) === undefined && !read.has(seriesKey(one)));
  return [...series, ...lacking.map((source) => ({ ...source, ...concatenate([]) }))];
}

/** The place of a sample in a file. */
export interface Line {
  readonly file: string;
  readonly line: number;
}

/**
 * Finds the lines of samples that are given by their index within their series. Reads the files again, row by row.
 *
 * @param wanted the indices to find, by the key of their series.
 */
export async function findLines(
  plan: Plan,
  { inputs, said }: Files,
  wanted: ReadonlyMap<string, ReadonlySet<number>>,
  io: Io,
): Promise<ReadonlyMap<string, ReadonlyMap<number, Line>>> {
  const lines = new Map([...wanted.keys()].map((key) => [key, new Map<number, Line>()]));
  const counts = new Map([...wanted.keys()].map((key) => [key, 0]));
  let open = [...wanted.values()].reduce((sum, { size }) => sum + size, 0);
  const settings = { ...said, plan, timezone: plan.timezone, chunkRows: 1 };
  for (const input of inputs) {
    const onChunk = (series: readonly Series[], line = 0): void => {
      for (const one of series) {
        const key = seriesKey(one);
        const first = counts.get(key);
        if (first === undefined) continue;
        counts.set(key, first + one.timeMs.length);
        for (let place = first; place < first + one.timeMs.length; place++) {
          if (!wanted.get(key)!.has(place)) continue;
          lines.get(key)!.set(place, { file: input.name, line });
          open--;
        }
      }
    };
    const isStopped = (): boolean => open === 0;
    await readFile(settings, input, { onReject: () => {}, onRead: () => {}, onChunk, isStopped }, io);
    if (open === 0) break;
  }
  return lines;
}

/**
 * An instant in local time with its offset, `2024-03-01T01:00:00.000+01:00`, as `--at` reads it. In UTC where such a
 * text would name another instant or none: the offset has seconds, or the local year is not one of 0001 to 9999.
 */
export function localTime(timeMs: number, timezone: string): string {
  const utc = formatInstant(timeMs);
  const offsetMs = isUtc(timezone) ? 0 : (zoneOf(timezone)?.offsetMsAt(timeMs) ?? 0);
  const localMs = Math.floor(timeMs / MINUTE_MS) * MINUTE_MS + offsetMs;
  const isReadable = offsetMs % MINUTE_MS === 0 && isKnownTime(localMs);
  if (isUtc(timezone) || !isReadable) return utc;
  const minutes = Math.abs(offsetMs) / MINUTE_MS;
  const pad = (number: number): string => String(number).padStart(2, '0');
  const offset = `${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
  const toMinute = 'YYYY-MM-DDTHH:MM:'.length;
  return `${formatInstant(localMs).slice(0, toMinute)}${utc.slice(toMinute, -1)}${offset}`;
}

const MINUTE_MS = 60_000;
