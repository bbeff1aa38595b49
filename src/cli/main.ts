#!/usr/bin/env node
// The windrow command.
import { guessHelpers } from './thread-count.js';
import type { CrewWorker } from './workers.js';

const words = process.argv.slice(2);
const code = new URL('./scan-worker.js', import.meta.url);
const helpers = guessHelpers(words);
let workers: readonly CrewWorker[] = [];
// Before anything else is loaded: they start meanwhile.
if (helpers > 0) workers = (await import('./workers.js')).startWorkers(code, helpers);
const { start } = await import('./start.js');

// Everything has been written by now, and standard input may still be open, which would keep the process.
process.exit(await start(words, code, workers));
