import { WindrowError } from '../../core/errors.js';
import { didYouMean } from '../../core/suggest.js';
import { examplesOf } from '../../operations/examples.js';
import { findOperation, operationNames, operationsByName } from '../../operations/index.js';
import { operations as operationInfos } from '../../operations/info.js';
import type { Example, Operation } from '../../operations/operation.js';
import type { Command } from '../command.js';
import { EXIT_DONE } from '../failure.js';

export const operations: Command = {
  name: 'operations',
  summary: 'List the operations; with a name, its parameters and examples.',
  argument: { name: 'NAME', summary: 'an operation, like Aggregate (default: all)', isOptional: true },
  options: [{ flag: '--json', summary: 'print JSON, with the JSON Schema of every parameter' }],
  examples: [
    { line: 'windrow operations', does: 'all operations, a line each' },
    { line: 'windrow operations Aggregate', does: 'one of them, with its parameters and examples' },
    { line: 'windrow operations Mask --json', does: 'the same, for a program' },
  ],
  act: async (given, io) => {
    const operation = given.argument === undefined ? undefined : wantedOperation(given.argument);
    const text = given.options.has('--json') ? listJson(operation) : listText(operation);
    await io.stdout.write(text);
    return EXIT_DONE;
  },
};

function listJson(operation: Operation | undefined): string {
  const data = operation === undefined ? [...operationInfos.values()] : operationInfos.get(operation.name);
  return `${JSON.stringify(data, null, 2)}\n`;
}

function listText(operation: Operation | undefined): string {
  return operation === undefined ? list([...operationsByName.values()]) : describe(operation);
}

function wantedOperation(name: string): Operation {
  const operation = findOperation(name);
  if (operation !== undefined) return operation;
  const hint = didYouMean(name, operationNames) ?? `there are ${operationNames.join(', ')}`;
  throw new WindrowError('arguments', `operations: expected the name of an operation, received ${name}; ${hint}`);
}

function list(all: readonly Operation[]): string {
  const width = Math.max(...all.map(({ name }) => name.length));
  const lines = all.map(({ name, summary }) => `${name.padEnd(width)}  ${summary}`);
  return `${lines.join('\n')}\n\n\`windrow operations NAME\` tells more of one.\n`;
}

const INPUTS = {
  one: 'one series',
  two: 'two series',
  'one with scalar, or two': 'one series and a scalar, or two series',
};

function describe(operation: Operation): string {
  const { name, aliases = [], summary, inputs, parameters } = operation;
  const also = aliases.length === 0 ? '' : ` (also ${aliases.join(', ')})`;
  const lines = [`${name}${also}: ${summary}`, '', `Takes ${INPUTS[inputs]}.`, ''];
  const names = Object.keys(parameters);
  lines.push(names.length === 0 ? 'No parameters.' : 'Parameters:');
  const width = Math.max(0, ...names.map((parameter) => parameter.length));
  for (const [parameter, { summary: words, isRequired, default: standard, schema }] of Object.entries(parameters)) {
    const need = isRequired ? 'required' : standard === undefined ? 'optional' : `default ${JSON.stringify(standard)}`;
    const indent = ' '.repeat(width + 4);
    lines.push(`  ${parameter.padEnd(width)}  ${words} (${need})`);
    if (Array.isArray(schema.enum)) lines.push(...wrap(`one of ${schema.enum.join(', ')}`, indent));
  }
  lines.push('', 'Examples:');
  for (const example of examplesOf(name)) lines.push(...describeExample(example));
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

/** Lines of at most 100 characters; the first begins with `lead`, the others are as far in. */
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
