#!/usr/bin/env node
// The windrow command.
import { main } from './command-line.js';
import { processIo } from './io.js';

// Everything has been written by now, and standard input may still be open, which would keep the process.
process.exit(await main(process.argv.slice(2), processIo()));
