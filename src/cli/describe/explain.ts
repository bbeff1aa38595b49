import { explain } from '../../plan/explain.js';
import { argumentOf, type Command, textOf } from '../command.js';
import { EXIT_DONE } from '../failure.js';
import { readPlan } from '../files/request.js';

export const explainCommand: Command = {
  name: 'explain',
  summary: 'Tell what a request does: its steps in running order, what each keeps, when results come.',
  argument: { name: 'REQUEST.json', summary: 'the request; `-` is standard input' },
  options: [
    { flag: '--timezone', value: 'ZONE', summary: 'the zone of the run, like Europe/Berlin (default: UTC)' },
    { flag: '--json', summary: 'print the plan itself, as JSON' },
  ],
  examples: [
    { line: 'windrow explain request.json', does: 'read a request before it runs' },
    { line: 'windrow explain request.json --timezone Europe/Berlin', does: 'the same with local days' },
    { line: "windrow explain request.json --json | jq '.steps[].operation'", does: 'the plan, for a program' },
  ],
  act: async (given, io) => {
    const plan = await readPlan(argumentOf(given, explainCommand), textOf(given, '--timezone'), io);
    await io.stdout.write(given.options.has('--json') ? `${JSON.stringify(plan, null, 2)}\n` : explain(plan));
    return EXIT_DONE;
  },
};
