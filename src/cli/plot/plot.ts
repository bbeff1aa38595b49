import { argumentOf, type Command } from '../command.js';
import { interruptible } from '../terminal/interruptible.js';

export const plot: Command = {
  name: 'plot',
  summary: 'Draw the series of a CSV file, in the terminal or as SVG.',
  argument: { name: 'FILE.csv', summary: 'any CSV that `run` reads, or has written; `-` is standard input' },
  options: [
    { flag: '--output', value: 'FILE', summary: 'write SVG (`-` is standard output) instead of drawing here' },
    { flag: '--series', value: 'NAME', isList: true, summary: 'only these, like office or office/Raw (default: all)' },
    { flag: '--title', value: 'TEXT', summary: 'a title for the SVG' },
    { flag: '--timezone', value: 'ZONE', summary: 'for the time axis, and times without an offset (default: UTC)' },
    { flag: '--rows', value: 'N', summary: 'lines of each panel in the terminal (default: 12)' },
    { flag: '--ascii', summary: 'plain characters alone in the terminal' },
  ],
  examples: [
    { line: 'windrow plot office.csv', does: 'a look at a file' },
    { line: 'windrow plot results.csv --output results.svg --title "Office"', does: 'a chart for a report' },
    { line: 'windrow run request.json --input office.csv --quiet | windrow plot -', does: 'a look at results' },
  ],
  act: async (given, io) => {
    const path = argumentOf(given, plot);
    const { plotFile } = await import('./plot-file.js');
    return interruptible(io, (temps) => plotFile(path, given, io, temps));
  },
};
