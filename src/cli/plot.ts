import { argumentOf, type Command } from './command.js';
import { withTempFiles } from './files/temp-files.js';

export const plot: Command = {
  name: 'plot',
  summary: 'Plot the series of a CSV file, in the terminal or as SVG.',
  argument: { name: 'FILE.csv', summary: 'any CSV file that `run` reads or writes (`-` for standard input)' },
  options: [
    {
      flag: '--output',
      value: 'FILE',
      summary: 'write SVG (`-` for standard output) instead of plotting in the terminal',
    },
    {
      flag: '--series',
      value: 'NAME',
      isList: true,
      summary: 'only these series, such as office or office/Raw (default: all)',
    },
    { flag: '--title', value: 'TEXT', summary: 'a title for the SVG' },
    {
      flag: '--timezone',
      value: 'ZONE',
      summary: 'time zone of the time axis and of times without an offset (default: UTC)',
    },
    { flag: '--rows', value: 'N', summary: 'height of each panel in the terminal, in lines (default: 12)' },
    { flag: '--ascii', summary: 'use ASCII characters only in the terminal' },
  ],
  examples: [
    { line: 'windrow plot office.csv', does: 'look at a file' },
    { line: 'windrow plot results.csv --output results.svg --title "Office"', does: 'make a chart for a report' },
    { line: 'windrow run request.json --input office.csv --quiet | windrow plot -', does: 'look at results' },
  ],
  act: async (given, io) => {
    const path = argumentOf(given, plot);
    const { plotFile } = await import('./plot-file.js');
    return withTempFiles(io, (temps) => plotFile(path, given, io, temps));
  },
};
