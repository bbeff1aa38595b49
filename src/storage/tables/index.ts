import type { Table } from '../table.js';
import { eventCounts, eventHorizon, events } from './events.js';
import { clients, collectionGrants, collections, secrets, throttles, tokens, users } from './identity.js';
import { itemCatalog, itemCheckpoints, itemSources, items, itemWork, transactions } from './operations.js';
import {
  logProgress,
  provisionalSamples,
  retention,
  sampleLog,
  sampleProgress,
  segments,
  series,
  sourceOffsets,
} from './samples.js';

/** Every table of the store, for drivers and for the suite that each of them passes. */
export const tables: readonly Table<never>[] = [
  clients,
  users,
  tokens,
  throttles,
  secrets,
  collections,
  collectionGrants,
  series,
  sampleLog,
  sourceOffsets,
  segments,
  provisionalSamples,
  sampleProgress,
  logProgress,
  retention,
  transactions,
  items,
  itemCatalog,
  itemSources,
  itemWork,
  itemCheckpoints,
  events,
  eventCounts,
  eventHorizon,
] as unknown as readonly Table<never>[];
