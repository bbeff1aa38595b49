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
 * Versions of events (interface 2.4): a version is seen by snapshots from `firstCommit` up to, not including,
 * `endCommit`, so that the pages of a query are those of one moment. The fields that can be filtered and ordered
 * by are columns; the two that are objects are JSON.
 */
export const events = defineTable(
  'events',
  {
    organisation: text,
    ercollectionid: text,
    id: text,
    firstCommit: integer,
    /** NEVER for the version that holds now. */
    endCommit: integer,
    /** When `endCommit` was set, to forget old versions by; null for the one that holds. */
    endedMs: integerOrNull,
    name: textOrNull,
    type: textOrNull,
    eventTypeId: textOrNull,
    descr: textOrNull,
    severity: textOrNull,
    status: textOrNull,
    isUserEvent: booleanOrNull,
    /** `2024-01-31T12:00:00.000Z`: in this one form the order of the text is that of time. */
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
    // The usual page is a collection's newest events. The commits stand in the index so that versions that a
    // snapshot does not see are passed over, and a collection counted, without a look at the rows.
    ['organisation', 'ercollectionid', 'occurredAt', 'id', 'firstCommit', 'endCommit'],
    // And next to it the open ones.
    ['organisation', 'ercollectionid', 'status', 'occurredAt', 'id', 'firstCommit', 'endCommit'],
    ['endedMs'],
  ],
);
export type EventRow = RowIn<typeof events>;

/** `endCommit` of a version that holds now. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** How many events a collection has now, so that the first page of all of them need not count. */
export const eventCounts = defineTable(
  'event_counts',
  { organisation: text, ercollectionid: text, eventCount: integer },
  ['organisation', 'ercollectionid'],
);

/** How far the past of a shard's events has been forgotten: snapshots before this commit have holes. One row. */
export const eventHorizon = defineTable('event_horizon', { name: text, forgottenCommit: integer }, ['name']);
