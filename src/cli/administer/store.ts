import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { WindrowError } from '../../core/errors.js';
import { backupStore, checkStore, restoreStore, type StoreReport } from '../../storage/index.js';
import { argumentOf, type Command, type Given, requiredOf } from '../command.js';
import { EXIT_DONE, EXIT_FAILED, fileFailure } from '../failure.js';
import { jsonOption, print } from './administer.js';

const dirArgument = { name: 'DIR', summary: 'the data directory of the service' };

export const backup: Command = {
  name: 'backup',
  summary: 'Copy the store of a service into a file, also while the service runs.',
  argument: dirArgument,
  options: [
    { flag: '--to', value: 'FILE', summary: 'the file to make' },
    { flag: '--force', summary: 'replace the file if there is one' },
  ],
  notes: [
    'The copy is of one moment, and is opened and checked before it gets its name. Copy a store that is in use in no ' +
      'other way: files that are copied one after the other do not belong together.',
  ],
  examples: [{ line: 'windrow backup /var/lib/windrow --to monday.db', does: 'a backup of everything' }],
  act: async (given, io) => {
    const directory = directoryOf(given, backup, 'copied with pg_basebackup, or with pg_dump');
    const file = requiredOf(given, backup, '--to');
    if (!existsSync(`${directory}/windrow.db`)) {
      throw new WindrowError('file.missing', `${directory}: there is no store of windrow; check the directory`);
    }
    if (existsSync(file) && !given.options.has('--force')) {
      throw new WindrowError(
        'arguments',
        `--to: ${file} is there already; give another name, or --force to replace it`,
      );
    }
    const byteCount = await backupStore(directory, file).catch((error: unknown) => {
      throw fileFailure(error, file, 'write');
    });
    await io.stderr.write(`windrow: ${resolve(file)} holds the store (${byteCount} bytes), and was checked\n`);
    return EXIT_DONE;
  },
};

export const restore: Command = {
  name: 'restore',
  summary: 'Make a backup the store of a data directory.',
  argument: { name: 'FILE', summary: 'what `windrow backup` made' },
  options: [
    { flag: '--to', value: 'DIR', summary: 'the data directory' },
    { flag: '--force', summary: 'replace the store that is there; no service may be running on it' },
  ],
  examples: [{ line: 'windrow restore monday.db --to /var/lib/windrow', does: 'into an empty directory' }],
  act: async (given, io) => {
    const file = argumentOf(given, restore);
    const directory = requiredOf(given, restore, '--to');
    await restoreStore(file, directory, given.options.has('--force')).catch((error: unknown) => {
      throw fileFailure(error, directory, 'write');
    });
    await io.stderr.write(`windrow: the store in ${resolve(directory)} is that of ${file}\n`);
    return EXIT_DONE;
  },
};

export const check: Command = {
  name: 'check',
  summary: 'Read all of a store, and tell whether it is whole.',
  argument: dirArgument,
  options: [jsonOption],
  notes: [
    'Works while the service runs. Checks the file itself, the checksums of samples and checkpoints, and the counts ' +
      'of series. The exit code is 0 when all is well, and 1 when something is damaged, which is then named.',
  ],
  examples: [{ line: 'windrow check /var/lib/windrow', does: 'read all of it' }],
  act: async (given, io) => {
    const report = await checkStore(directoryOf(given, check, 'checked with pg_amcheck'));
    await print(given, io, report, described(report));
    return report.faults.length === 0 ? EXIT_DONE : EXIT_FAILED;
  },
};

// PostgreSQL has programs of its own for this, which know more of it.
function directoryOf(given: Given, command: Command, how: string): string {
  const directory = argumentOf(given, command);
  if (!/^postgres(?:ql)?:/.test(directory)) return directory;
  throw new WindrowError('arguments', `${command.name}: expected a data directory; a store in PostgreSQL is ${how}`);
}

function described({ faults, ...counts }: StoreReport): string {
  const lines = [
    `series        ${counts.seriesCount}`,
    `samples       ${counts.sampleCount} in ${counts.segmentCount} segments`,
    `log           ${counts.logRowCount} rows that are not compacted yet`,
    `checkpoints   ${counts.checkpointCount}`,
    ...(counts.uncheckedCount === 0 ? [] : [`no checksum   ${counts.uncheckedCount} rows of an older version`]),
    ...faults.map((fault) => `DAMAGED       ${fault}`),
    faults.length === 0 ? 'the store is whole' : `${faults.length} faults`,
  ];
  return `${lines.join('\n')}\n`;
}
