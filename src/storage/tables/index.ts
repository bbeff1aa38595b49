import type { Table } from '../table.js';
import { eventCounts, eventHorizon, events } from './events.js';
import {
  clients,
  collectionGrants,
  collections,
  organisations,
  secrets,
  throttles,
  tokens,
  users,
} from './identity.js';
import {
  endedPatterns,
  itemCatalog,
  itemCheckpoints,
  itemSources,
  items,
  itemWork,
  replicas,
  replicationProgress,
  requestTransactions,
} from './operations.js';
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

/**
 * Every table, for the drivers and for the tests that each driver passes. `as`: drivers read tables as data, whatever
 * their rows, and no `Table<Row>` fits all of them.
 */
export const tables = [
  organisations,
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
  requestTransactions,
  items,
  itemCatalog,
  itemSources,
  endedPatterns,
  replicas,
  replicationProgress,
  itemWork,
  itemCheckpoints,
  events,
  eventCounts,
  eventHorizon,
] as unknown as readonly Table<never>[];
