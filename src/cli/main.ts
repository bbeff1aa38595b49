#!/usr/bin/env node
// The windrow command.
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { endAsOtherProcesses } from './terminal/first-process.js';

endAsOtherProcesses(process);

// From Node 22 on, Node can cache what V8 compiles for the next start. The cache is in the user's own folder, as Node's
// default is in a shared one where others could write code. Called before anything else is loaded.
if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function') {
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'windrow'));
}
const words = process.argv.slice(2);
const { runProcess } = await (words[0] === 'run' ? import('./run/process.js') : import('./commands.js'));
const exitCode = await runProcess(words, new URL('./csv-worker.js', import.meta.url));
// All output has been written. Standard input may still be open, which would keep the process alive.
process.exit(exitCode);
