import { formatDuration, parseDuration } from '../../core/duration.js';
import { WindrowError } from '../../core/errors.js';
import { isKeep, KEEP } from '../../service/identity/keep.js';
import type { RetentionScope } from '../../service/identity/retention.js';
import { type Command, type CommandGroup, filledOf, type Given, requiredOf } from '../command.js';
import { administering, listCommand, orgOption } from './administer.js';

const scopeOptions = [
  orgOption,
  { flag: '--series', value: 'ID', summary: 'only for series with this timeseriesId (default: all)' },
  { flag: '--metric', value: 'NAME', summary: 'only for this metric (default: all)' },
  { flag: '--results', summary: 'for the results of items (default: for samples that clients write)' },
];

const set = administering({
  name: 'retention set',
  summary: 'Set how long samples are kept.',
  options: [
    ...scopeOptions,
    { flag: '--keep', value: 'DURATION', summary: 'how long, such as P90D or PT12H (ISO 8601)' },
  ],
  notes: [
    'A running service deletes older samples in rounds (see --retention-interval of serve): at the latest in the ' +
      'first round after they are an eighth older than that. If several rules fit a series, the one for its id and ' +
      'metric applies, else that for its id, for its metric, for all. Results computed from deleted samples stay ' +
      'until a rule with --results deletes them.',
  ],
  examples: [
    { line: 'windrow retention set --org acme --keep P90D --data-dir /var/lib/windrow', does: 'what clients write' },
    { line: 'windrow retention set --org acme --results --keep P3650D --data-dir data', does: 'what items compute' },
  ],
  ask: (given, command) => ({
    ...scopeOf(given, command),
    keepMs: keepOf(requiredOf(given, command, '--keep')),
  }),
  work: async (administration, rule) => {
    await administration.setRetention(rule);
    return rule;
  },
  tell: async ({ organisation, kind, timeseriesId, metric, keepMs }, _given, io) => {
    const of = `${timeseriesId === '' ? 'all series' : `the series ${timeseriesId}`}${metric && `, metric ${metric},`}`;
    await io.stderr.write(`windrow: ${organisation}: ${kind} of ${of} are kept for ${formatDuration(keepMs)}\n`);
  },
});

const list = listCommand({
  name: 'retention list',
  summary: 'List the retention rules.',
  examples: [{ line: 'windrow retention list --data-dir /var/lib/windrow', does: 'all rules, one a line' }],
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
  summary: 'Remove a rule: its samples are then kept for ever, or as long as a more general rule says.',
  options: [...scopeOptions],
  examples: [{ line: 'windrow retention remove --org acme --data-dir /var/lib/windrow', does: 'the general rule' }],
  ask: scopeOf,
  work: async (administration, scope) => {
    if ((await administration.removeRetention(scope)) !== undefined) return;
    const mend = '`windrow retention list` shows the rules';
    throw new WindrowError('identity.missing', `there is no such rule of ${scope.organisation}; ${mend}`);
  },
});

export const retention: CommandGroup = {
  name: 'retention',
  summary: 'Set how long samples and results are kept.',
  commands: [set, list, remove],
};

function scopeOf(given: Given, command: Command): RetentionScope {
  return {
    organisation: requiredOf(given, command, '--org'),
    kind: given.options.has('--results') ? 'results' : 'samples',
    timeseriesId: filledOf(given, command, '--series') ?? '',
    metric: filledOf(given, command, '--metric') ?? '',
  };
}

function keepOf(text: string): number {
  const keepMs = parseDuration(text);
  if (keepMs !== undefined && isKeep(keepMs)) return keepMs;
  throw new WindrowError('arguments', `--keep: expected ${KEEP}, received ${JSON.stringify(text)}`);
}
