#!/usr/bin/env node
// The windrow command. It and what it loads first are CommonJS, for which Node need not start its loader of modules.
import { join } from 'node:path';
import { compiledFolder, loadFile } from './compiled-code.js';
import { guessHelpers } from './thread-count.js';
import type { CrewWorker } from './workers.js';

async function run(words: readonly string[]): Promise<number> {
  const code = join(__dirname, 'scan-worker.js');
  const helpers = guessHelpers(words);
  let workers: readonly CrewWorker[] = [];
  // Before anything else is loaded: they start meanwhile.
  if (helpers > 0) workers = (await import('./workers.js')).startWorkers(code, helpers);
  const local = loadFile(join(__dirname, 'local.js'), require, compiledFolder(process.env));
  const exitCode = await (local.exports as typeof import('./local.js')).startLocal(words, code, workers);
  // Done, that is; and a run needs most of the code.
  if (exitCode === 0 && words[0] === 'run') local.keep();
  if (exitCode !== undefined) return exitCode;
  return (await import('./start.js')).start(words, code, workers);
}

// Everything has been written by then, and standard input may still be open, which would keep the process.
void run(process.argv.slice(2)).then((exitCode) => process.exit(exitCode));
