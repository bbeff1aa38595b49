import { resolve } from 'node:path';
import { WindrowError } from '../../core/errors.js';
import {
  backupStore,
  checkStore,
  hasStore,
  restoreStore,
  type StoreReport,
  stopUnfinished,
} from '../../storage/index.js';
import { isAddress } from '../../storage/postgres/address.js';
import { argumentOf, type Command, type Given, requiredOf, shellWord } from '../command.js';
import { EXIT_DONE, EXIT_FAILED, fileFailure } from '../failure.js';
import { untilStopped } from '../files/temp-files.js';
import { directoryIn } from '../store.js';
import type { Io } from '../terminal/io.js';
import { jsonOption, print } from './administer.js';

const dirArgument = { name: 'DIR', summary: 'the data directory of the service' };

// PostgreSQL has better programs of its own for these.
const expectedDirectory = (how: string) => `expected a data directory; a store in PostgreSQL is ${how}`;
const backupDirectory = expectedDirectory('copied with pg_basebackup, or with pg_dump');
const checkDirectory = expectedDirectory('checked with pg_amcheck');

export const backup: Command = {
  name: 'backup',
  summary: 'Back up the store of a service into a file, even while the service runs.',
  argument: dirArgument,
  options: [
    { flag: '--to', value: 'FILE', summary: 'the file to create' },
    { flag: '--force', summary: 'replace the file if there is one; never one of a store in use' },
  ],
  refused: { '--store': backupDirectory },
  notes: [
    'The backup is of one moment, and is read as a whole before it gets its name. If samples of the store are ' +
      'damaged, the backup is still made, but the command says so and exits with 1: keep earlier backups. Never copy ' +
      'the files of a store in use by other means: files copied one after the other do not fit together.',
  ],
  examples: [{ line: 'windrow backup /var/lib/windrow --to monday.db', does: 'a backup of everything' }],
  act: async (given, io) => {
    const directory = directoryOf(given, backup, backupDirectory);
    const file = requiredOf(given, backup, '--to');
    if (!hasStore(directory)) {
      throw new WindrowError('file.missing', `${directory}: there is no store of windrow; check the directory`);
    }
    const copy = async () => {
      const made = await backupStore(directory, file, given.options.has('--force')).catch((error: unknown) => {
        throw fileFailure(error, file, 'write');
      });
      if (made.faults.length > 0) {
        const mend = `run \`windrow check ${shellWord(directory)}\`, and keep the backups from before`;
        return tellDamage(io, `${resolve(file)} is a backup of the store, which is damaged`, made.faults, mend);
      }
      const what = `${made.isOlder ? 'a backup' : 'a checked backup'} of the store (${made.byteCount} bytes)`;
      // It is made, even if nobody can be told.
      await io.stderr.write(`windrow: ${resolve(file)} is ${what}${scopeOf(made)}\n`).catch(() => undefined);
      return EXIT_DONE;
    };
    return untilStopped(io, copy, stopUnfinished);
  },
};

export const restore: Command = {
  name: 'restore',
  summary: 'Restore a backup into a data directory.',
  argument: { name: 'FILE', summary: 'a backup made by `windrow backup`' },
  options: [
    { flag: '--to', value: 'DIR', summary: 'the data directory' },
    { flag: '--force', summary: 'replace an existing store; no service may be running on it' },
  ],
  refused: { '--store': expectedDirectory('restored with pg_restore, or is a copy of pg_basebackup') },
  examples: [{ line: 'windrow restore monday.db --to /var/lib/windrow', does: 'into an empty directory' }],
  act: async (given, io) => {
    const file = argumentOf(given, restore);
    const directory = directoryIn(given, restore, '--to', 'PostgreSQL has pg_restore and pg_basebackup for that');
    const copy = async () => {
      const made = await restoreStore(file, directory, given.options.has('--force')).catch((error: unknown) => {
        throw fileFailure(error, directory, 'write');
      });
      if (made.faults.length > 0) {
        const mend = `run \`windrow check ${shellWord(directory)}\`, or restore another backup`;
        return tellDamage(io, `the store in ${resolve(directory)} was restored, and is damaged`, made.faults, mend);
      }
      const told = `windrow: the store in ${resolve(directory)} was restored from ${file}${scopeOf(made)}\n`;
      await io.stderr.write(told).catch(() => undefined);
      return EXIT_DONE;
    };
    return untilStopped(io, copy, stopUnfinished);
  },
};

export const check: Command = {
  name: 'check',
  summary: 'Read the whole store and check it for damage.',
  argument: dirArgument,
  options: [jsonOption],
  refused: { '--store': checkDirectory },
  notes: [
    'Works while the service runs. Checks the file itself, the checksums of samples and checkpoints, and the counts ' +
      'of series. Names whatever is damaged. The exit code is 0 if nothing is damaged, 1 if something is or the ' +
      'store cannot be read, and 2 if there is no store.',
  ],
  examples: [{ line: 'windrow check /var/lib/windrow', does: 'read all of it' }],
  act: async (given, io) => {
    const report = await checkStore(directoryOf(given, check, checkDirectory));
    await print(given, io, report, described(report));
    return report.faults.length === 0 ? EXIT_DONE : EXIT_FAILED;
  },
};

async function tellDamage(io: Io, what: string, faults: readonly string[], mend: string): Promise<number> {
  const count = faults.length === 1 ? '' : `${faults.length} faults, the first: `;
  await io.stderr.write(`windrow: ${what}: ${count}${faults[0]}; ${mend}\n`);
  return EXIT_FAILED;
}

function directoryOf(given: Given, command: Command, expected: string): string {
  const directory = argumentOf(given, command);
  if (!isAddress(directory)) return directory;
  throw new WindrowError('arguments', `${command.name}: ${expected}`);
}

/** What was checked of a store of an older version. */
const OLDER =
  'of an older windrow: only the structure of its file was checked; start the service once, which upgrades it, and ' +
  'check again';

function scopeOf({ isOlder }: { readonly isOlder: boolean }): string {
  return isOlder ? `; it is ${OLDER}` : '';
}

function described({ faults, version, isOlder, ...counts }: StoreReport): string {
  const found = faults.map((fault) => `DAMAGED       ${fault}`);
  if (isOlder) {
    const whole = found.length === 0 ? ['its file is whole'] : found;
    const scope = `version ${version}, ${OLDER}`;
    return `${[...whole, scope].join('\n')}\n`;
  }
  const lines = [
    `series        ${counts.seriesCount}`,
    `samples       ${counts.sampleCount} in ${counts.segmentCount} segments`,
    `log           ${counts.logRowCount} rows that are not compacted yet`,
    `checkpoints   ${counts.checkpointCount}`,
    ...found,
    faults.length === 0 ? 'the store is whole' : faults.length === 1 ? '1 fault' : `${faults.length} faults`,
  ];
  return `${lines.join('\n')}\n`;
}
