#!/usr/bin/env node
// The windrow command.
import module from 'node:module';

// From Node 22 on, Node can keep what V8 compiles for the next start. Called before anything else is loaded.
if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function') module.enableCompileCache();
const { main } = await import('./command-line.js');
const { processIo } = await import('./io.js');
const exitCode = await main(process.argv.slice(2), processIo(new URL('./scan-worker.js', import.meta.url)));
// Everything has been written by then, and standard input may still be open, which would keep the process.
process.exit(exitCode);
