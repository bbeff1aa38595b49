import { formatDuration, parseDuration } from '../../core/duration.js';
import { WindrowError } from '../../core/errors.js';
import type { RetentionScope } from '../../service/identity/retention.js';
import { type Command, type CommandGroup, type Given, requiredOf, textOf } from '../command.js';
import { administering, listCommand, orgOption } from './administer.js';

const scopeOptions = [
  orgOption,
  { flag: '--series', value: 'ID', summary: 'of this series alone (default: of all)' },
  { flag: '--metric', value: 'NAME', summary: 'of this metric alone (default: of all)' },
  { flag: '--results', summary: 'of what items compute (default: of what clients write)' },
];

const set = administering({
  name: 'retention set',
  summary: 'Say how long samples are kept.',
  options: [
    ...scopeOptions,
    { flag: '--keep', value: 'DURATION', summary: 'how long, such as P90D or PT12H (ISO 8601)' },
  ],
  notes: [
    'A running service deletes what is older within some minutes, by segments of some thousand samples: a segment ' +
      'goes once its last sample is too old. Of the rules that fit a series the most special one holds. Results ' +
      'that were computed from deleted samples stay, until a rule with --results deletes them.',
  ],
  examples: [
    { line: 'windrow retention set --org acme --keep P90D --data-dir /var/lib/windrow', does: 'what clients write' },
    { line: 'windrow retention set --org acme --results --keep P3650D --data-dir data', does: 'what items compute' },
  ],
  ask: (given, command) => ({
    ...scopeOf(given, command),
    keepMs: keepOf(requiredOf(given, command, '--keep')),
  }),
  work: (administration, rule) => administration.setRetention(rule),
});

const list = listCommand({
  name: 'retention list',
  summary: 'List the rules of how long samples are kept.',
  examples: [{ line: 'windrow retention list --data-dir /var/lib/windrow', does: 'all rules, a line each' }],
  read: (administration, of) => administration.listRetention(of),
  columns: {
    ORG: ({ organisation }) => organisation,
    OF: ({ kind }) => kind,
    SERIES: ({ timeseriesId }) => timeseriesId || '(all)',
    METRIC: ({ metric }) => metric || '(all)',
    KEEP: ({ keepMs }) => formatDuration(keepMs),
  },
});

const remove = administering({
  name: 'retention remove',
  summary: 'Remove a rule: what it was about is kept for ever, or as long as a more general rule says.',
  options: [...scopeOptions],
  examples: [{ line: 'windrow retention remove --org acme --data-dir /var/lib/windrow', does: 'the general rule' }],
  ask: scopeOf,
  work: async (administration, scope) => {
    if ((await administration.removeRetention(scope)) !== undefined) return;
    const mend = '`windrow retention list` tells the rules';
    throw new WindrowError('identity.missing', `there is no such rule of ${scope.organisation}; ${mend}`);
  },
});

export const retention: CommandGroup = {
  name: 'retention',
  summary: 'Say how long samples and results are kept.',
  commands: [set, list, remove],
};

function scopeOf(given: Given, command: Command): RetentionScope {
  return {
    organisation: requiredOf(given, command, '--org'),
    kind: given.options.has('--results') ? 'results' : 'samples',
    timeseriesId: textOf(given, '--series') ?? '',
    metric: textOf(given, '--metric') ?? '',
  };
}

function keepOf(text: string): number {
  const keepMs = parseDuration(text);
  if (keepMs !== undefined && keepMs > 0) return keepMs;
  throw new WindrowError('arguments', `--keep: expected a duration such as P90D, received ${JSON.stringify(text)}`);
}
