import fc from 'fast-check';
import { type EventField, eventFieldNames, eventFields } from '../../../src/service/events/fields.js';

/** An event as a client posts it. */
export type PostedEvent = Partial<Record<EventField, unknown>>;

// Few values per field, so that filters match and orders have ties. Some are awkward: quotes, escapes, and texts that
// UTF-8 and UTF-16 order differently.
const values = {
  text: fc.constantFrom('', 'a', 'B', 'b', "O'Hare", '%27', 'a&b', '\ufb33', '😀', 'é', 'Open'),
  boolean: fc.boolean(),
  number: fc.constantFrom(-1.5, 0, 1, 2, 1e21, 5e-324),
  instant: fc.constantFrom(
    '2024-01-31T13:00:00+01:00',
    '2024-01-31T12:00:00.000Z',
    '2024-01-31T12:00:00.001Z',
    '1969-12-31T23:59:59.999Z',
    '2024-02-29T00:00:00Z',
  ),
};
const details = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 3,
  noNullPrototype: true,
});

/** Any fields except the id and the collection; some are null, most are absent. */
export function postedEvents(): fc.Arbitrary<PostedEvent> {
  const fields = eventFieldNames.filter((field) => field !== 'id' && field !== 'ercollectionid');
  const events = fc.record(Object.fromEntries(fields.map((field) => [field, fc.option(valuesOf(field))])), {
    requiredKeys: [],
  });
  // As from JSON, which has no -0.
  return events.map((event): PostedEvent => JSON.parse(JSON.stringify(event)));
}

export function valuesOf(field: EventField): fc.Arbitrary<unknown> {
  if (field === 'sourceEvent') return details.map((event) => ({ Type: 'alarm', Event: event }));
  const type = eventFields[field];
  return type === 'object' ? details : values[type];
}
