import type { Command } from './command.js';

/** Every command by its name, in the order of `--help`, loaded when it is needed. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./run.js')).run,
  validate: async () => (await import('./validate.js')).validate,
  explain: async () => (await import('./explain.js')).explainCommand,
  operations: async () => (await import('./operations.js')).operations,
  plot: async () => (await import('./plot.js')).plot,
};
