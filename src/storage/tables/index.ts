import type { Table } from '../table.js';
import * as events from './events.js';
import * as identity from './identity.js';
import * as operations from './operations.js';
import * as samples from './samples.js';

/** Every table of the store, for drivers and for the suite that each of them passes. */
export const tables: readonly Table<never>[] = [identity, samples, operations, events].flatMap((room) =>
  // What these export besides tables are numbers, and the name of a row.
  Object.values(room).filter((exported) => typeof exported === 'object' && 'columns' in exported),
) as unknown as readonly Table<never>[];
