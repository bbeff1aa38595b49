import type { Table } from '../table.js';
import * as events from './events.js';
import * as identity from './identity.js';
import * as operations from './operations.js';
import * as samples from './samples.js';

/** Every table, for the drivers and for the tests that each driver passes. */
export const tables: readonly Table<never>[] = [identity, samples, operations, events].flatMap((module) =>
  // The modules also export numbers, texts and functions.
  Object.values(module).filter((exported) => typeof exported === 'object' && 'columns' in exported),
) as unknown as readonly Table<never>[];
