#!/usr/bin/env node
// The windrow command.
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// From Node 22 on, Node can keep what V8 compiles for the next start. In the user's own folder: code that others can
// write must not run here, and Node's usual folder lies in a shared one. Called before anything else is loaded.
if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function') {
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'windrow'));
}
const words = process.argv.slice(2);
const { runProcess } = await (words[0] === 'run' ? import('./run/process.js') : import('./commands.js'));
const exitCode = await runProcess(words, new URL('./csv-worker.js', import.meta.url));
// Everything has been written by then, and standard input may still be open, which would keep the process.
process.exit(exitCode);
