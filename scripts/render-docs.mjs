// The generated pages of docs/ as text, for scripts/docs.mjs, which writes them, and test/docs/generated.test.ts, which
// fails if the written ones are stale.

/**
 * @param {ReadonlyMap<string, any>} operations The library's `operations`.
 * @param {Readonly<Record<string, string>>} errorCodes The library's `errorCodes`.
 * @returns {Record<string, string>} The text of each page by its name in docs/.
 */
export function renderPages(operations, errorCodes) {
  return { 'operations.md': renderOperations([...operations.values()]), 'errors.md': renderErrors(errorCodes) };
}

const SHAPES = {
  map: 'at the times of the samples',
  filter: 'some of the samples',
  regrid: 'at other times, or from several samples',
};

function renderOperations(operations) {
  const rows = operations.map(({ name, isExtension, summary, shape }) => {
    return [`[${name}](#${anchorOf(name)})${isExtension ? ' **+**' : ''}`, summary, SHAPES[shape]];
  });
  return page(
    'src/operations',
    '# Operations',
    `All ${operations.length} operations, as the engine itself describes them; \`windrow operations NAME\` prints the
same. What they mean down to the last sample is in [semantics.md](semantics.md).`,
    `Names of operations, functions and intervals are matched in any case. What is marked **+** is an
extension of the interface. An *interval* is \`QuarterHourly\`, \`HalfHourly\`, \`Hourly\`,
\`Daily\` or an ISO 8601 duration; operations with windows also take \`Weekly\`, \`Monthly\` and \`Yearly\`. A
*duration* is ISO 8601: weeks, days, hours, minutes and seconds, like \`PT15M\`. A *timezone* is an IANA name. Two
inputs meet as \`align\` says: by default, at equal times.`,
    `Times without a date in the examples are on one day in UTC. The tests run each example as batch and as stream.`,
    table(['operation', 'what it does', 'results'], rows),
    ...operations.map(renderOperation),
  );
}

function renderOperation({ name, aliases, summary, shape, inputs, parameters, examples }) {
  const also = aliases.length === 0 ? '' : ` Also written ${aliases.map(code).join(', ')}.`;
  const rows = Object.entries(parameters.properties).map(([parameter, schema]) => [
    code(parameter) + (schema['x-extension'] ? ' **+**' : ''),
    describeValues(schema),
    describeDefault(schema, parameters.required.includes(parameter)),
    schema.description,
  ]);
  return paragraphs(
    `## ${name}`,
    summary + also,
    `Inputs: ${inputs}. Results: ${SHAPES[shape]}.`,
    rows.length === 0 ? 'No parameters.' : table(['parameter', 'values', 'default', 'meaning'], rows),
    ...examples.map(renderExample),
  );
}

/** The values that a parameter accepts, in a few words. */
function describeValues(schema) {
  if (schema.oneOf) return schema.oneOf.map(describeValues).join(', or ');
  if (schema.properties) return describeItem(schema);
  if (schema.enum) {
    const mark = (name) => (schema['x-extensions']?.includes(name) ? ' **+**' : '');
    return schema.enum.map((name) => code(name) + mark(name)).join(', ');
  }
  if (schema.type === 'array') return `list of ${describeItem(schema.items)}`;
  if (schema.format === 'duration') return 'duration';
  if (schema.format === 'timezone') return 'timezone';
  if (schema.type === 'string') return 'interval';
  return (schema.type === 'integer' ? 'whole number' : 'number') + describeBounds(schema);
}

function describeBounds({ minimum, maximum }) {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  return minimum === undefined ? '' : `, at least ${minimum}`;
}

function describeItem({ properties, required = [], format, enum: choices }) {
  if (properties === undefined) return choices === undefined ? `${format}s` : choices.map(code).join(', ');
  const names = Object.entries(properties).map(([name, { const: only }]) => {
    return only === undefined ? (required.includes(name) ? name : `${name}?`) : `${name}: '${only}'`;
  });
  return code(`{ ${names.join(', ')} }`);
}

function describeDefault(schema, isRequired) {
  if (isRequired) return '*required*';
  if (schema.format === 'timezone') return 'that of the run';
  return schema.default === undefined ? 'none' : code(String(schema.default));
}

function renderExample({ title, parameters, inputs, output }) {
  const columns =
    inputs.length === 1 ? ['input'] : ['first input', 'second input', 'third input'].slice(0, inputs.length);
  const times = [...new Set([...inputs, output].flat().map(([time]) => time))].sort((a, b) => timeOf(a) - timeOf(b));
  const rows = times.map((time) => [
    time,
    ...[...inputs, output].map((samples) => String(samples.find(([at]) => at === time)?.[1] ?? '')),
  ]);
  const given = Object.keys(parameters).length === 0 ? '' : `: ${code(inlineJson(parameters))}`;
  return paragraphs(`**${title}**${given}`, table(['time', ...columns, 'result'], rows, '---:'));
}

function timeOf(text) {
  return Date.parse(/^\d\d:/.test(text) ? `2024-03-01T${text}Z` : text);
}

function inlineJson(value) {
  return JSON.stringify(value, null, 1).replace(/\s*\n\s*/g, ' ');
}

const ERROR_GROUPS = {
  request: [
    'Requests',
    '`createPlan` throws a `RequestError`, whose `issues` hold every problem, each with its own code.',
  ],
  option: ['Options of a run', 'An `InputError`. A bad option `timezone` has the code `request.timezone`.'],
  input: ['Input series', 'An `InputError`.'],
  output: ['Results', 'An `OutputLimitError`, which names the step, the count and the limit.'],
  stream: ['Streams', 'An `InputError`; a `CheckpointError` from `checkpoint`.'],
  checkpoint: ['Checkpoints', 'A `CheckpointError`.'],
  csv: [
    'CSV',
    'A `CsvError` of `windrow/csv`, with file, line, column and text; only the command gives `csv.gzip`, `csv.zstd`.',
  ],
  file: ['Files', 'Only from the command.'],
  storage: ['Storage', 'Only from the service.'],
  identity: ['Identity', 'Only from the service and the commands that administer it.'],
  arguments: ['Arguments', 'Only from the command.'],
};

function renderErrors(errorCodes) {
  const groups = new Map();
  for (const [errorCode, meaning] of Object.entries(errorCodes)) {
    const [name] = errorCode.split('.');
    groups.set(name, [...(groups.get(name) ?? []), [code(errorCode), meaning]]);
  }
  const sections = [...groups].map(([name, rows]) => {
    const [title, thrown] = ERROR_GROUPS[name] ?? [name, ''];
    return paragraphs(`## ${title}`, thrown, table(['code', 'meaning'], rows));
  });
  return page(
    'src/core/errors.ts',
    '# Errors',
    `Every error that windrow throws on purpose is a \`WindrowError\` with a \`code\`. Codes are stable: programs may
branch on them. The message says where the problem is, what was expected, what came and, if that is known, how to mend
it; its words may change. \`options\` names the options that would mend it, for programs. Settings of the service that
a program gives wrongly are a \`TypeError\`, whose message says the same. Any other error is our mistake: please
report it.`,
    `The command exits with 0 when it is done; with 1 when it failed while running, on bad data for example; with 2 when
the request or the arguments are wrong: all codes of requests, options, arguments and identity, \`csv.unclear\`, a
series or file that does not exist, a folder in the place of a file, output over the limit, and a package that is not
installed. When it is interrupted it exits with 129, 130 or 143, as is usual in shells; \`serve\` and
\`--watch\`, which nothing else ends, with 0.`,
    ...sections,
  );
}

function page(source, ...parts) {
  const mark = `<!-- Generated from ${source} by \`npm run docs\`: change the source, not this page. -->`;
  return `${paragraphs(mark, ...parts)}\n`;
}

function paragraphs(...parts) {
  return parts.filter((part) => part !== '').join('\n\n');
}

function table(heads, rows, rule = '---') {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), `|${heads.map(() => rule).join('|')}|`, ...rows.map(line)].join('\n');
}

function code(text) {
  return `\`${text}\``;
}

function anchorOf(name) {
  return name.toLowerCase().replaceAll(' ', '-');
}
