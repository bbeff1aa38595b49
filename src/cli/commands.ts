import { type Commands, main } from './command-line.js';
import { plot } from './plot.js';
import { run } from './run/run.js';
import { processIo } from './terminal/io.js';

export const commands: Commands = {
  run: async () => run,
  validate: async () => (await import('./describe.js')).validate,
  init: async () => (await import('./init.js')).init,
  explain: async () => (await import('./describe.js')).explainCommand,
  operations: async () => (await import('./describe.js')).operationsCommand,
  why: async () => (await import('./inspect/why.js')).why,
  verify: async () => (await import('./inspect/verify.js')).verify,
  diff: async () => (await import('./inspect/diff.js')).diff,
  plot: async () => plot,
  workbench: async () => (await import('./workbench.js')).workbench,
  serve: async () => (await import('./serve.js')).serve,
  client: async () => (await import('./administer/client.js')).client,
  user: async () => (await import('./administer/user.js')).user,
  collection: async () => (await import('./administer/collection.js')).collection,
  retention: async () => (await import('./administer/retention.js')).retention,
  backup: async () => (await import('./administer/store.js')).backup,
  restore: async () => (await import('./administer/store.js')).restore,
  check: async () => (await import('./administer/store.js')).check,
  completion: async () => (await import('./completion.js')).completionOf(commands),
};

/** Runs any command with the files and streams of this process. @param code the code of the reading threads. */
export function runProcess(words: readonly string[], code: URL): Promise<number> {
  return main(words, processIo(code), commands);
}
