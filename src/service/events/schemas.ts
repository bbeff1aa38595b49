import { Type } from 'typebox';
import { envelopeSchema, pageHeaders, pageSchema } from '../http/envelope.js';
import { security } from '../http/route.js';
import { eventFieldNames, eventFields, type FieldType } from './fields.js';
import { OPTIONS_NAME } from './odata/query-string.js';
import { EVENTS_MAX } from './read-events.js';

// What the routes take and give, for /openapi.json. The routes check what they are given themselves, for errors that
// tell the place, and write the records as text, so these schemas neither check nor serialise.

const orNull = (schema: Type.TSchema) => Type.Union([schema, Type.Null()]);

const fieldSchemas: Readonly<Record<FieldType, Type.TSchema>> = {
  text: orNull(Type.String()),
  boolean: orNull(Type.Boolean()),
  number: orNull(Type.Number()),
  instant: orNull(Type.String({ format: 'date-time', description: 'UTC with milliseconds' })),
  object: orNull(Type.Object({}, { additionalProperties: true })),
};

const event = Type.Object({
  ...Object.fromEntries(eventFieldNames.map((field) => [field, Type.Optional(fieldSchemas[eventFields[field]])])),
  sourceEvent: Type.Optional(
    orNull(Type.Object({ Type: Type.String(), Event: Type.Object({}, { additionalProperties: true }) })),
  ),
});

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
    'A page of the events that match; later pages, by the header continuationToken and the same query, show the ' +
    'state at the first one, whatever is written meanwhile.',
  ...shared,
  headers: Type.Object({ ...collectionHeader, ...pageHeaders }),
  querystring: Type.Object({
    [OPTIONS_NAME]: Type.Optional(Type.String({ description: 'The clauses together, as one query string' })),
    ...clauses,
  }),
  response: {
    200: pageSchema(event),
    204: Type.Null({ description: 'No event matches' }),
  },
};

const stored = envelopeSchema(
  Type.Object({
    ids: Type.Array(Type.String(), { description: 'In the order of the body' }),
    created: Type.Integer(),
    replaced: Type.Integer(),
    unchanged: Type.Integer({ description: 'There before as they are' }),
  }),
);

export const writeSchema = {
  summary: 'Write events',
  description:
    'One event or an array, or NDJSON; stored as a whole. An event of an id that the collection has replaces it. ' +
    `At most ${EVENTS_MAX} at once.`,
  ...shared,
  consumes: ['application/json', 'application/x-ndjson'],
  headers: Type.Object({
    ercollectionid: Type.Optional(Type.String({ description: 'The collection of events that do not name theirs' })),
  }),
  body: Type.Union([event, Type.Array(event)]),
  response: { 200: stored, 201: stored },
};

export const deleteSchema = {
  summary: 'Delete an event',
  ...shared,
  headers: Type.Object(collectionHeader),
  params: Type.Object({ id: Type.String() }),
  response: { 204: Type.Null({ description: 'Deleted' }) },
};
