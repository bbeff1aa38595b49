import { InputError } from '../core/errors.js';
import { type SeriesReference, seriesName } from '../core/series.js';
import { didYouMean } from '../core/suggest.js';
import { formatOf } from '../formats/formats.js';
import type { ChartData } from '../plot/index.js';
import { argumentOf, type Command, countOf, defined, type Given, textOf } from './command.js';
import { EXIT_DONE, unlessMissing } from './failure.js';
import { badRowOption, formatOption, inputOptions, onBadRowOf, readInputOptions } from './files/input-options.js';
import { openInputs } from './files/inputs.js';
import { checkWritten } from './files/paths.js';
import { openPicture } from './files/picture.js';
import { asForRun, callingItSeriesColumn, withSeriesColumn } from './files/series-column.js';
import { type TempFiles, withTempFiles } from './files/temp-files.js';
import { notesOf, readFormat } from './run/read-file.js';
import type { Io, Outlet } from './terminal/io.js';
import { printable } from './terminal/printable.js';

export const plot: Command = {
  name: 'plot',
  summary: 'Plot the series of a file, in the terminal, as SVG or as PNG.',
  argument: { name: 'FILE', summary: 'any file that `run` reads or writes (`-` for standard input)' },
  options: [
    {
      flag: '--output',
      value: 'FILE',
      summary: 'write a picture instead: PNG if the name ends in .png, else SVG (`-` for standard output)',
    },
    {
      flag: '--series',
      value: 'NAME',
      isList: true,
      summary: 'draw only these series of the file, such as office or office/Raw (default: all)',
    },
    { flag: '--title', value: 'TEXT', summary: 'a title for the picture' },
    {
      flag: '--timezone',
      value: 'ZONE',
      summary: 'time zone of the time axis and of times without an offset (default: UTC)',
    },
    { flag: '--rows', value: 'N', summary: 'height of each panel in the terminal, in lines (default: 12)' },
    { flag: '--ascii', summary: 'in the terminal, use only ASCII characters' },
    ...withSeriesColumn(inputOptions),
    badRowOption,
  ],
  notes: [
    `Series of similar values share a panel; in a terminal without colours each has its own. Text columns are left out,
with a note on standard error. PNG needs the optional package @resvg/resvg-js, and a font.`,
  ],
  examples: [
    { line: 'windrow plot office.csv', does: 'look at a file' },
    { line: 'windrow plot results.csv --output results.svg --title "Office"', does: 'make a chart for a report' },
    { line: 'windrow plot results.csv --output results.png', does: 'the same as PNG, for a mail or a chat' },
    { line: 'windrow run request.json --input office.csv --quiet | windrow plot -', does: 'look at results' },
  ],
  act: async (given, io) => {
    const path = argumentOf(given, plot);
    return withTempFiles(io, (temps) => plotFile(path, given, io, temps));
  },
};

const ROWS_MAX = 200;

// Reads a file and draws its series, into a file or the terminal.
async function plotFile(path: string, given: Given, io: Io, temps: TempFiles): Promise<number> {
  const output = textOf(given, '--output');
  const timezone = textOf(given, '--timezone') ?? 'UTC';
  const rows = Math.min(countOf(given, '--rows', 2) ?? 12, ROWS_MAX);
  if (output !== undefined) checkWritten([path], [['--output', [output]]], io);
  const picture = output === undefined ? undefined : await openPicture('--output', output, io, temps);
  // Loaded here, so that --help needs no package.
  const { ChartData, drawSvg, drawTerminal } = await import('../plot/index.js');
  const data = new ChartData();
  await readInto(data, path, given, timezone, io, temps);
  const lines = data.lines();
  if (picture !== undefined) {
    await picture.write(drawSvg(lines, { title: textOf(given, '--title') ?? '', timezone }));
    picture.keep();
    return EXIT_DONE;
  }
  const paint = await linePaint(io.stdout);
  const isUnicode = !given.options.has('--ascii');
  const { columns } = io.stdout;
  const named = lines.map((line) => ({ ...line, name: printable(line.name) }));
  const drawn = drawTerminal(named, { columns, rows, timezone, isUnicode, ...defined({ paint }) });
  await io.stdout.write(Buffer.from(drawn)); // as bytes: colours are control characters, too
  return EXIT_DONE;
}

async function readInto(
  data: ChartData,
  path: string,
  given: Given,
  timezone: string,
  io: Io,
  temps: TempFiles,
): Promise<void> {
  const names = given.options.get('--series') ?? [];
  const isWanted = (one: SeriesReference): boolean =>
    names.includes(one.timeseriesId) || names.includes(seriesName(one));
  const chosen = names.length === 0 ? { areTextsLeft: true } : { wanted: isWanted };
  const said = { ...readInputOptions(asForRun(given)), onBadRow: onBadRowOf(given) };
  const format = formatOption(given, '--format') ?? formatOf(path);
  for (const input of openInputs([path], false, io, temps)) {
    const options = { ...said, ...chosen, fileName: input.name, timezone };
    const listener = { onRead: () => {}, onChunk: data.add.bind(data), isStopped: () => false };
    const read = await callingItSeriesColumn(() => readFormat(format, options, input, listener, io));
    const notes = notesOf(read!); // it is never stopped
    if (notes.length > 0) await io.stderr.write(`windrow: ${input.name}: ${notes.join('; ')}\n`);
    checkNames(names, read!.series);
  }
}

function checkNames(names: readonly string[], series: readonly SeriesReference[]): void {
  const known = series.flatMap((one) => [one.timeseriesId, seriesName(one)]);
  for (const name of names) {
    if (known.includes(name)) continue;
    const hint = didYouMean(name, known) ?? `the file has ${series.map(seriesName).join(', ') || 'none'}`;
    throw new InputError('input.missing', `--series: expected a series of the file, received ${name}; ${hint}`);
  }
}

const NAMES = ['blueBright', 'yellow', 'green', 'magenta', 'red', 'cyan', 'gray'] as const;

/** Colours for the lines of a chart; none if the output is not a terminal, or NO_COLOR is set. */
async function linePaint(outlet: Outlet): Promise<((text: string, lineIndex: number) => string) | undefined> {
  if (!outlet.isTerminal) return undefined;
  const loaded = await import('picocolors').catch(unlessMissing);
  if (loaded === undefined || !loaded.default.isColorSupported) return undefined;
  return (text, lineIndex) => loaded.default[NAMES[lineIndex % NAMES.length] ?? 'gray'](text);
}
