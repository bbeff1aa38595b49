import { formatInstant, readInstant } from '../../core/instant.js';
import type { EventRow } from '../../storage/tables/events.js';

/** The fields of an event (interface 2.4), in the order in which answers give them. */
export const eventFields = Object.freeze({
  id: 'text',
  name: 'text',
  type: 'text',
  eventTypeId: 'text',
  descr: 'text',
  severity: 'text',
  status: 'text',
  isUserEvent: 'boolean',
  occurredAt: 'instant',
  checksum: 'text',
  ercollectionid: 'text',
  vDeviceId: 'text',
  vParentDeviceId: 'text',
  clusterId: 'text',
  panelId: 'text',
  panelName: 'text',
  buildingId: 'text',
  floorId: 'text',
  floorName: 'text',
  segmentId: 'text',
  segmentName: 'text',
  cityId: 'text',
  cityName: 'text',
  regionId: 'text',
  regionName: 'text',
  countryId: 'text',
  countryName: 'text',
  latitude: 'number',
  longitude: 'number',
  altitude: 'number',
  eventDetails: 'object',
  sourceEvent: 'object',
} as const satisfies Partial<Readonly<Record<keyof EventRow, FieldType>>>);

/** An instant is text of one fixed form. An object is stored as JSON and cannot be filtered or ordered by. */
export type FieldType = 'text' | 'number' | 'boolean' | 'instant' | 'object';

export type EventField = keyof typeof eventFields;

// `as`: Object.keys returns string[], but these are the keys above.
export const eventFieldNames = Object.freeze(Object.keys(eventFields)) as readonly EventField[];

export function isEventField(name: string): name is EventField {
  return Object.hasOwn(eventFields, name);
}

/**
 * Reads an ISO 8601 instant into the form in which `occurredAt` is stored and shown: UTC with milliseconds. Finer
 * digits are cut off in the text, since the nearest double may fall into the next millisecond.
 */
export function readOccurredAt(text: string): { readonly occurredAt: string } | { readonly problem: string } {
  const reading = readInstant(text.replace(/(\.\d{3})\d+/, '$1'));
  return 'problem' in reading ? reading : { occurredAt: formatInstant(reading.timeMs) };
}
