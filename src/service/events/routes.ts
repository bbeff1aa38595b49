import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { nextTurn } from '../../storage/next-turn.js';
import { shardOf } from '../../storage/shard.js';
import { type Transaction, writeReserved } from '../../storage/storage.js';
import { createId } from '../context.js';
import { addWholeBodies, readTextBody } from '../http/bodies.js';
import { envelope } from '../http/envelope.js';
import { badRequest, notFound } from '../http/errors.js';
import { continuationTokenOf, pageSizeOf } from '../http/paging.js';
import { type RouteParts, validatorCompiler } from '../http/route.js';
import { checkAccess } from '../identity/collections.js';
import { principalOf } from '../identity/principal.js';
import { listEvents } from './list.js';
import { readJsonEvents, readNdjsonEvents } from './read-events.js';
import { completeEvents } from './record.js';
import { deleteSchema, listSchema, writeSchema } from './schemas.js';
import { deleteEvent, storeEvents } from './store.js';

const NDJSON_TYPES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'];

/** A larger answer is sent piece by piece, as copying it into one buffer would hold others up. */
const WHOLE_BYTES_MAX = 1024 * 1024;

/** `GET`, `POST` and `DELETE` of /core/events (interface 2.4, 4.4). */
export function registerEvents(app: FastifyInstance, parts: RouteParts): void {
  const { context, authorize, tokens } = parts;
  const { storage, clock } = context;

  app.get(
    '/core/events',
    { onRequest: authorize('core_read', 'core_admin'), schema: listSchema, validatorCompiler },
    async (request, reply) => {
      const pieces = await listEvents(context, tokens, principalOf(request), {
        collection: requiredCollection(request),
        rawQuery: /\?(.*)$/s.exec(request.url)?.[1] ?? '',
        pageSize: pageSizeOf(request),
        continuationToken: continuationTokenOf(request),
      });
      if (pieces === undefined) return reply.code(204).send();
      reply.type('application/json; charset=utf-8');
      const byteCount = pieces.reduce((sum, { length }) => sum + length, 0);
      if (byteCount <= WHOLE_BYTES_MAX) return reply.send(Buffer.concat(pieces));
      return reply.header('content-length', byteCount).send(Readable.from(oneATurn(pieces), { objectMode: false }));
    },
  );

  app.delete<{ Params: { id: string } }>(
    '/core/events/:id',
    { onRequest: authorize('core_admin'), schema: deleteSchema, validatorCompiler },
    async (request, reply) => {
      const collection = requiredCollection(request);
      const principal = principalOf(request);
      const { organisation } = principal;
      const work = async (tx: Transaction) => {
        await checkAccess(tx, principal, collection);
        return deleteEvent(tx, { organisation, ercollectionid: collection }, request.params.id, clock.nowMs());
      };
      const wasThere = await writeReserved(storage, shardOf(organisation), work);
      if (!wasThere) throw notFound('the collection has no event with this id');
      return reply.code(204).send();
    },
  );
  registerWriting(app, parts);
}

// A fast caller takes all at once.
async function* oneATurn(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    yield piece;
    await nextTurn();
  }
}

function registerWriting(app: FastifyInstance, { context, authorize }: RouteParts): void {
  const { storage, clock, settings, metrics } = context;
  // A separate Fastify scope, as other routes parse NDJSON differently.
  void app.register(async (scope) => {
    scope.removeContentTypeParser(NDJSON_TYPES.filter((type) => scope.hasContentTypeParser(type)));
    const bodyLimit = settings.bodyBytesMax;
    addWholeBodies(scope, NDJSON_TYPES, readTextBody);
    scope.post(
      '/core/events',
      { onRequest: authorize('core_write', 'core_admin'), schema: writeSchema, validatorCompiler, bodyLimit },
      async (request, reply) => {
        const principal = principalOf(request);
        const events = await completeEvents(await readBody(request), () => createId(context));
        const collections = new Set(events.map(({ ercollectionid }) => ercollectionid));
        const nowMs = clock.nowMs();
        const stored = await storage.transaction(shardOf(principal.organisation), async (tx) => {
          for (const collection of collections) await checkAccess(tx, principal, collection);
          return storeEvents(tx, principal.organisation, events, nowMs);
        });
        metrics.eventsWritten.inc(stored.created + stored.replaced);
        const statusCode = stored.created > 0 ? 201 : 200;
        reply.code(statusCode);
        return envelope({ ids: events.map(({ id }) => id), ...stored }, statusCode);
      },
    );
  });
}

function readBody(request: FastifyRequest) {
  const collection = headerOf(request, 'ercollectionid');
  const type = (request.headers['content-type'] ?? '').replace(/;.*$/s, '').trim().toLowerCase();
  // The parser of these types returns text.
  if (NDJSON_TYPES.includes(type)) return readNdjsonEvents(String(request.body), collection);
  return readJsonEvents(request.body, collection);
}

function requiredCollection(request: FastifyRequest): string {
  const collection = headerOf(request, 'ercollectionid');
  if (collection !== undefined) return collection;
  throw badRequest('header ercollectionid: expected the id of the event collection, received nothing', {
    issues: [{ header: 'ercollectionid', expected: 'the id of the event collection', received: 'nothing' }],
  });
}

/** A header without spaces around it; undefined if it is missing or empty. */
function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  const text = (Array.isArray(value) ? value.join(', ') : (value ?? '')).trim();
  return text === '' ? undefined : text;
}
