import { argumentOf, type Command, textOf } from '../command.js';
import { EXIT_DONE } from '../failure.js';
import { readPlan } from '../files/request.js';
import { counted } from '../terminal/words.js';

export const validate: Command = {
  name: 'validate',
  summary: 'Check a request, and tell every problem that it has.',
  argument: { name: 'REQUEST.json', summary: 'the request; `-` is standard input' },
  options: [{ flag: '--timezone', value: 'ZONE', summary: 'the zone of the run, like Europe/Berlin (default: UTC)' }],
  examples: [
    { line: 'windrow validate request.json', does: 'say whether a request is sound (exit code 0) or not (2)' },
    { line: 'jq ".requests.hourly" all.json | windrow validate -', does: 'check what another program writes' },
  ],
  act: async (given, io) => {
    const path = argumentOf(given, validate);
    const { items, sources, steps } = await readPlan(path, textOf(given, '--timezone'), io);
    const parts = [counted(items.length, 'result'), counted(sources.length, 'source'), counted(steps.length, 'step')];
    await io.stdout.write(`${path === '-' ? 'standard input' : path}: sound; ${parts.join(', ')}\n`);
    return EXIT_DONE;
  },
};
