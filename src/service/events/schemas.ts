import { Type } from 'typebox';
import { envelopeSchema, orNull, pageHeaders, pageSchema } from '../http/envelope.js';
import { security } from '../http/route.js';
import { eventFieldNames, eventFields, type FieldType } from './fields.js';
import { OPTIONS_NAME } from './odata/query-string.js';
import { EVENTS_MAX, KEY_CHARS_MAX } from './read-events.js';

// Schemas for /openapi.json only. The routes check their input themselves, for errors that name the place, and write
// the records as text, so these schemas neither check nor serialise.

const fieldSchemas: Readonly<Record<FieldType, Type.TSchema>> = {
  text: orNull(Type.String()),
  boolean: orNull(Type.Boolean()),
  number: orNull(Type.Number()),
  instant: orNull(Type.String({ format: 'date-time', description: 'UTC with milliseconds' })),
  object: orNull(Type.Object({}, { additionalProperties: true })),
};

const sourceEvent = { Type: Type.String(), Event: Type.Object({}, { additionalProperties: true }) };

const fieldsOf = (schemas: typeof fieldSchemas) =>
  Object.fromEntries(eventFieldNames.map((field) => [field, Type.Optional(schemas[eventFields[field]])]));

/** An event of an answer, which may have more fields one day. */
const event = Type.Object(
  { ...fieldsOf(fieldSchemas), sourceEvent: Type.Optional(orNull(Type.Object(sourceEvent))) },
  { title: 'Event' },
);

const only = { additionalProperties: false };
const key = Type.Optional(orNull(Type.String({ minLength: 1, maxLength: KEY_CHARS_MAX })));

/** An event of a request. */
const writtenEvent = Type.Object(
  {
    ...fieldsOf({ ...fieldSchemas, instant: orNull(Type.String({ description: 'ISO 8601' })) }),
    id: key,
    ercollectionid: key,
    sourceEvent: Type.Optional(orNull(Type.Object(sourceEvent, only))),
  },
  { ...only, title: 'WrittenEvent' },
);

const collectionHeader = { ercollectionid: Type.String({ description: 'The id of the event collection' }) };

const clauses = {
  $top: Type.Optional(Type.Integer({ minimum: 0, description: 'The most events over all pages' })),
  $count: Type.Optional(Type.Boolean({ default: true, description: 'false leaves paging.totalCount out' })),
  $filter: Type.Optional(Type.String({ description: "field eq 'value', joined by and" })),
  $select: Type.Optional(Type.String({ description: 'Fields separated by commas, or *' })),
  $orderby: Type.Optional(Type.String({ description: 'Fields with asc or desc; occurredAt desc by default' })),
};

const shared = { tags: ['Events'], security };

export const listSchema = {
  summary: 'Events of a collection',
  description:
    'A page of the events that match. Later pages, requested with the header continuationToken and the same ' +
    'query, show the state at the time of the first one, whatever is written meanwhile.',
  ...shared,
  headers: Type.Object({ ...collectionHeader, ...pageHeaders }),
  querystring: Type.Object({
    [OPTIONS_NAME]: Type.Optional(Type.String({ description: 'All clauses in one query string' })),
    ...clauses,
  }),
  response: {
    200: pageSchema(event, {
      totalCount: Type.Optional(Type.Integer({ description: 'Matches on all pages, regardless of $top' })),
    }),
    204: Type.Null({ description: 'No event matches' }),
  },
};

const stored = envelopeSchema(
  Type.Object({
    ids: Type.Array(Type.String(), { description: 'In the order of the body' }),
    created: Type.Integer(),
    replaced: Type.Integer(),
    unchanged: Type.Integer({ description: 'Already stored with the same content' }),
  }),
);

export const writeSchema = {
  summary: 'Write events',
  description:
    'One event, an array or NDJSON, stored in one commit. An event replaces the one with its id in the collection. ' +
    `At most ${EVENTS_MAX} at once.`,
  ...shared,
  consumes: ['application/json', 'application/x-ndjson'],
  headers: Type.Object({
    ercollectionid: Type.Optional(Type.String({ description: 'The collection for events that do not name theirs' })),
  }),
  body: Type.Union([writtenEvent, Type.Array(writtenEvent, { minItems: 1, maxItems: EVENTS_MAX })]),
  response: { 200: stored, 201: stored },
};

export const deleteSchema = {
  summary: 'Delete an event',
  ...shared,
  headers: Type.Object(collectionHeader),
  params: Type.Object({ id: Type.String() }),
  response: { 204: Type.Null({ description: 'Deleted' }) },
};
