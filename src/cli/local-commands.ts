import type { Command } from './command.js';

/** The commands that need nothing but files, by their names, in the order of `--help`. */
export const localCommands: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./run.js')).run,
  validate: async () => (await import('./validate.js')).validate,
  explain: async () => (await import('./explain.js')).explainCommand,
  operations: async () => (await import('./operations.js')).operations,
  plot: async () => (await import('./plot.js')).plot,
};
