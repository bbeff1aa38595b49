import {
  booleanOrNull,
  defineTable,
  integer,
  integerOrNull,
  type RowIn,
  realOrNull,
  text,
  textOrNull,
} from '../table.js';

/**
 * Versions of events (interface 2.4). Snapshots from `firstCommit` up to, not including, `endCommit` see a version, so
 * that all pages of a query show one moment. Fields that can be filtered and ordered by are columns; the two objects
 * are JSON.
 */
export const events = defineTable(
  'events',
  {
    organisation: text,
    ercollectionid: text,
    id: text,
    firstCommit: integer,
    /** NEVER for the current version. */
    endCommit: integer,
    /** When `endCommit` was set, to delete old versions by; null for the current one. */
    endedMs: integerOrNull,
    name: textOrNull,
    type: textOrNull,
    eventTypeId: textOrNull,
    descr: textOrNull,
    severity: textOrNull,
    status: textOrNull,
    isUserEvent: booleanOrNull,
    /** `2024-01-31T12:00:00.000Z`: in this form, text sorts by time. */
    occurredAt: textOrNull,
    checksum: textOrNull,
    vDeviceId: textOrNull,
    vParentDeviceId: textOrNull,
    clusterId: textOrNull,
    panelId: textOrNull,
    panelName: textOrNull,
    buildingId: textOrNull,
    floorId: textOrNull,
    floorName: textOrNull,
    segmentId: textOrNull,
    segmentName: textOrNull,
    cityId: textOrNull,
    cityName: textOrNull,
    regionId: textOrNull,
    regionName: textOrNull,
    countryId: textOrNull,
    countryName: textOrNull,
    latitude: realOrNull,
    longitude: realOrNull,
    altitude: realOrNull,
    eventDetails: textOrNull,
    sourceEvent: textOrNull,
  },
  ['organisation', 'ercollectionid', 'id', 'firstCommit'],
  [
    // The usual page shows a collection's newest events. The index contains the commits, so that versions outside a
    // snapshot are skipped, and a collection is counted, without reading rows.
    ['organisation', 'ercollectionid', 'occurredAt', 'id', 'firstCommit', 'endCommit'],
    // The next most usual shows the open ones.
    ['organisation', 'ercollectionid', 'status', 'occurredAt', 'id', 'firstCommit', 'endCommit'],
    ['endedMs'],
  ],
);
export type EventRow = RowIn<typeof events>;

/** `endCommit` of the current version. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** How many events a collection has now, so that the first page without a filter need not count. */
export const eventCounts = defineTable(
  'event_counts',
  { organisation: text, ercollectionid: text, eventCount: integer },
  ['organisation', 'ercollectionid'],
);

/** How far old versions of a shard's events were deleted: snapshots before this commit are incomplete. One row. */
export const eventHorizon = defineTable('event_horizon', { name: text, forgottenCommit: integer }, ['name']);
