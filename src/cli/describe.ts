import { WindrowError } from '../core/errors.js';
import { findOperation, operationNames, suggestOperation } from '../operations/index.js';
import { type OperationInfo, operations } from '../operations/info.js';
import type { Example } from '../operations/operation.js';
import { explain } from '../plan/explain.js';
import type { Plan } from '../plan/plan.js';
import { argumentOf, type Command, counted, textOf } from './command.js';
import { EXIT_DONE } from './failure.js';
import { requestArgument } from './files/input-options.js';
import { checkWritten } from './files/paths.js';
import { openPicture } from './files/picture.js';
import { readPlan } from './files/request.js';
import { withTempFiles } from './files/temp-files.js';
import type { Io } from './terminal/io.js';

const zoneOption = {
  flag: '--timezone',
  value: 'ZONE',
  summary: 'time zone of the run, such as Europe/Berlin (default: UTC)',
};

export const validate: Command = {
  name: 'validate',
  summary: 'Check a request and list all its problems.',
  argument: requestArgument,
  options: [zoneOption],
  examples: [
    { line: 'windrow validate request.json', does: 'check whether a request is valid (exit code 0) or not (2)' },
    { line: 'jq ".requests.hourly" all.json | windrow validate -', does: 'check the output of another program' },
  ],
  act: async (given, io) => {
    const path = argumentOf(given, validate);
    const { items, sources, steps } = await readPlan(path, textOf(given, '--timezone'), io);
    const parts = [counted(items.length, 'result'), counted(sources.length, 'source'), counted(steps.length, 'step')];
    await io.stdout.write(`${path === '-' ? 'standard input' : path}: valid; ${parts.join(', ')}\n`);
    return EXIT_DONE;
  },
};

export const explainCommand: Command = {
  name: 'explain',
  summary: 'Explain a request: its steps in running order, what each one keeps, and when results come.',
  argument: requestArgument,
  options: [
    zoneOption,
    { flag: '--json', summary: 'print the plan itself, as JSON' },
    { flag: '--graph', value: 'FILE', summary: 'draw the pipeline: as PNG if the name ends in .png, else as SVG' },
  ],
  examples: [
    { line: 'windrow explain request.json', does: 'read a request before it runs' },
    { line: 'windrow explain request.json --timezone Europe/Berlin', does: 'the same, with local days' },
    { line: 'windrow explain request.json --graph pipeline.svg', does: 'a picture of it, with windows and look-back' },
    { line: "windrow explain request.json --json | jq '.steps[].operation'", does: 'the plan, for a program' },
  ],
  act: async (given, io) => {
    const graph = textOf(given, '--graph');
    const isJson = given.options.has('--json');
    const path = argumentOf(given, explainCommand);
    if (graph === '-' && isJson) {
      throw new WindrowError('arguments', '--graph: expected a file, received `-`: standard output is for the plan');
    }
    if (graph !== undefined) checkWritten([path], [['--graph', [graph]]], io);
    const plan = await readPlan(path, textOf(given, '--timezone'), io);
    const code = graph === undefined ? EXIT_DONE : await drawInto(graph, plan, io);
    if (code !== EXIT_DONE || (graph !== undefined && !isJson)) return code;
    await io.stdout.write(isJson ? `${JSON.stringify(plan, null, 2)}\n` : explain(plan));
    return EXIT_DONE;
  },
};

async function drawInto(path: string, plan: Plan, io: Io): Promise<number> {
  return withTempFiles(io, async (temps) => {
    const picture = await openPicture('--graph', path, io, temps);
    const { drawGraph } = await import('../plot/graph.js');
    await picture.write(drawGraph(plan));
    picture.keep();
    return EXIT_DONE;
  });
}

export const operationsCommand: Command = {
  name: 'operations',
  summary: 'List all operations, or show the parameters and examples of one.',
  argument: {
    name: 'NAME',
    summary: 'an operation, such as Aggregate (default: all)',
    isOptional: true,
    values: operationNames.filter((name) => !name.includes(' ')),
  },
  options: [{ flag: '--json', summary: 'print JSON, with the JSON Schema of every parameter' }],
  examples: [
    { line: 'windrow operations', does: 'all operations, one per line' },
    { line: 'windrow operations Aggregate', does: 'one operation, with its parameters and examples' },
    { line: 'windrow operations Mask --json', does: 'the same, for a program' },
  ],
  act: async (given, io) => {
    const one = given.argument === undefined ? undefined : wantedOperation(given.argument);
    const all = [...operations.values()];
    const text = one === undefined ? list(all) : describe(one);
    await io.stdout.write(given.options.has('--json') ? `${JSON.stringify(one ?? all, null, 2)}\n` : text);
    return EXIT_DONE;
  },
};

function wantedOperation(name: string): OperationInfo {
  const operation = operations.get(findOperation(name)?.name ?? '');
  if (operation !== undefined) return operation;
  const expected = `expected the name of an operation, received ${name}; ${suggestOperation(name)}`;
  throw new WindrowError('arguments', `operations: ${expected}`);
}

function list(all: readonly OperationInfo[]): string {
  const width = Math.max(...all.map(({ name }) => name.length));
  const lines = all.map(({ name, summary }) => `${name.padEnd(width)}  ${summary}`);
  return `${lines.join('\n')}\n\nRun \`windrow operations NAME\` for the details of one.\n`;
}

function describe({ name, aliases, summary, inputs, parameters, examples }: OperationInfo): string {
  const also = aliases.length === 0 ? '' : ` (also ${aliases.join(', ')})`;
  const lines = [`${name}${also}: ${summary}`, '', `Inputs: ${inputs}.`, ''];
  const all = Object.entries(parameters.properties);
  lines.push(all.length === 0 ? 'No parameters.' : 'Parameters:');
  const width = Math.max(0, ...all.map(([parameter]) => parameter.length));
  for (const [parameter, schema] of all) {
    const standard = schema.default === undefined ? 'optional' : `default ${JSON.stringify(schema.default)}`;
    const need = parameters.required.includes(parameter) ? 'required' : standard;
    const indent = ' '.repeat(width + 4);
    lines.push(`  ${parameter.padEnd(width)}  ${schema.description} (${need})`);
    if (Array.isArray(schema.enum)) lines.push(...wrap(`one of ${schema.enum.join(', ')}`, indent));
    const added = schema['x-extensions'];
    if (Array.isArray(added)) lines.push(...wrap(`extensions of the interface: ${added.join(', ')}`, indent));
  }
  lines.push('', 'Examples:', ...examples.flatMap(describeExample));
  return `${lines.join('\n')}\n`;
}

function describeExample({ title, parameters, inputs, output }: Example): string[] {
  const samples = (list: Example['output']): string =>
    list.map(([time, value]) => `${time} ${value}`).join(' · ') || 'nothing';
  return [
    '',
    `  ${title}`,
    `    parameters  ${JSON.stringify(parameters)}`,
    ...inputs.flatMap((input, index) =>
      wrap(`${samples(input)}`, `    ${index === 0 ? 'input ' : 'and   '}      `, 16),
    ),
    ...wrap(samples(output), '    gives       ', 16),
  ];
}

/** Lines of at most 100 characters. The first begins with `lead`; the others are indented. */
function wrap(text: string, lead: string, indent: number = lead.length): string[] {
  const lines: string[] = [];
  let line = lead;
  for (const word of text.split(' ')) {
    if (line.length + word.length > 100 && line.trim() !== '') {
      lines.push(line.trimEnd());
      line = ' '.repeat(indent);
    }
    line += `${word} `;
  }
  lines.push(line.trimEnd());
  return lines;
}
