import fc from 'fast-check';
import { type EventField, eventFieldNames, eventFields } from '../../../src/service/events/fields.js';

/** An event as a client posts it. */
export type PostedEvent = Partial<Record<EventField, unknown>>;

// Few values for each field, so that filters find something and orders have ties, and some of them awkward: texts
// whose order by UTF-8 differs from that by UTF-16 units, quotes, escapes.
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

/** Any of the fields but the id and the collection, some of them null, most of them absent or few. */
export function postedEvents(): fc.Arbitrary<PostedEvent> {
  const fields = eventFieldNames.filter((field) => field !== 'id' && field !== 'ercollectionid');
  const events = fc.record(Object.fromEntries(fields.map((field) => [field, fc.option(valuesOf(field))])), {
    requiredKeys: [],
  });
  // As JSON brings them, which knows no -0.
  return events.map((event): PostedEvent => JSON.parse(JSON.stringify(event)));
}

export function valuesOf(field: EventField): fc.Arbitrary<unknown> {
  if (field === 'sourceEvent') return details.map((event) => ({ Type: 'alarm', Event: event }));
  const type = eventFields[field];
  return type === 'object' ? details : values[type];
}
