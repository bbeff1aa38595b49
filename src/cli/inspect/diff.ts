import { exactJson, jsonNumber } from '../../core/json-number.js';
import { seriesKey, seriesName } from '../../core/series.js';
import { type ChangedResult, type ChangedSample, diff as diffPlans } from '../../inspect/index.js';
import type { Plan } from '../../plan/plan.js';
import { argumentOf, type Command, counted, type Given, textOf } from '../command.js';
import { EXIT_DONE } from '../failure.js';
import type { NamedPaths } from '../files/paths.js';
import { readPlan } from '../files/request.js';
import { type TempFiles, withTempFiles } from '../files/temp-files.js';
import type { Io } from '../terminal/io.js';
import { checkReads, fileOptions, localTime, openGiven, readSources, runOptionsOf } from './input.js';

export const diff: Command = {
  name: 'diff',
  summary: 'Show what a changed request would change in the results.',
  argument: { name: 'OLD.json', summary: 'the request as it is' },
  second: { name: 'NEW.json', summary: 'the request as it would be' },
  options: fileOptions,
  notes: [
    `Compares results by name, bit for bit: samples that were added, are gone or differ, and the largest differences.
The exit code is 0 whether or not they differ.`,
  ],
  examples: [
    {
      line: 'windrow diff old.json new.json --input office.csv',
      does: 'compare two versions of a request on your data',
    },
  ],
  act: (given, io) => withTempFiles(io, (temps) => diffFiles(given, io, temps)),
};

async function diffFiles(given: Given, io: Io, temps: TempFiles): Promise<number> {
  const old = argumentOf(given, diff);
  const recent = argumentOf({ ...given, argument: given.second }, { ...diff, argument: diff.second! });
  const timezone = textOf(given, '--timezone');
  const requests: NamedPaths = [
    ['OLD.json', [old]],
    ['NEW.json', [recent]],
  ];
  checkReads(given, 'diff', requests);
  const before = await readPlan(old, timezone, io);
  const after = await readPlan(recent, timezone, io);
  const files = openGiven(given, 'diff', io, temps);
  const inputs = await readSources(bothSources(before, after), files, io);
  const changes = diffPlans(before, after, inputs, runOptionsOf(given));
  const text = changes.flatMap((change) => describe(change, before.timezone)).join('\n');
  await io.stdout.write(given.options.has('--json') ? `${exactJson(changes, 2)}\n` : `${text}\n`);
  return EXIT_DONE;
}

/** A plan that reads the sources of both plans. */
function bothSources(before: Plan, after: Plan): Plan {
  const sources = new Map([...before.sources, ...after.sources].map((source) => [seriesKey(source), source]));
  return { ...before, sources: [...sources.values()] };
}

function describe(change: ChangedResult, timezone: string): string[] {
  const { series, isIn, sameCount, addedCount, goneCount, differentCount, addedOrGone, largest } = change;
  const name = seriesName(series);
  if (isIn === 'after') return [`${name}: new, ${counted(addedCount, 'sample')}`];
  if (isIn === 'before') return [`${name}: gone, ${counted(goneCount, 'sample')}`];
  if (addedCount + goneCount + differentCount === 0) return [`${name}: all ${counted(sameCount, 'sample')} the same`];
  const counts = `${addedCount} added, ${goneCount} gone, ${differentCount} different, ${sameCount} the same`;
  const valueText = (value: number | undefined): string => (value === undefined ? '-' : jsonNumber(value));
  const row = ({ timeMs, before, after }: ChangedSample): string =>
    `    ${localTime(timeMs, timezone)}  ${valueText(before)} -> ${valueText(after)}`;
  return [
    `${name}: ${counts}`,
    ...(addedOrGone.length === 0 ? [] : ['  the first that were added or are gone', ...addedOrGone.map(row)]),
    ...(largest.length === 0 ? [] : ['  the largest differences', ...largest.map(row)]),
  ];
}
