import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { shardOf } from '../../storage/shard.js';
import { type TransactionRow, transactions } from '../../storage/tables/operations.js';
import type { ServiceContext } from '../context.js';
import { envelope, pagedEnvelope, pageHeaders } from '../http/envelope.js';
import { notFound } from '../http/errors.js';
import { readPage } from '../http/paging.js';
import { type RouteParts, security } from '../http/route.js';
import { type Principal, principalOf } from '../identity/principal.js';
import { equal } from '../store.js';
import { transactionRecord } from './record.js';
import { statusAnswer, statusPageAnswer } from './schemas.js';

/** `GET /core/status/{transactionId}` (interface 2.3, 4.2), and without an id the caller's latest requests. */
export function registerStatus(app: FastifyInstance, parts: RouteParts): void {
  const onRequest = parts.authorize('core_read', 'core_write', 'core_admin');
  const shared = { tags: ['Status'], security };

  app.get<{ Params: { transactionId: string } }>(
    '/core/status/:transactionId',
    {
      onRequest,
      schema: {
        ...shared,
        summary: 'What became of a transaction',
        description:
          'States: Created, Running (its history is being computed), Active (its results follow each arrival, ' +
          'or each boundary of its frequency), Completed, Failed. A request is a transaction whose ' +
          'transactionIDList names one for each of its items, and its state follows theirs.',
        params: Type.Object({ transactionId: Type.String() }),
        response: { 200: statusAnswer },
      },
    },
    async (request, reply) => {
      const { transactionId } = request.params;
      if (transactionId !== '') {
        return envelope(transactionRecord(await readTransaction(parts.context, principalOf(request), transactionId)));
      }
      // The path with a slash behind it is the one without an id, and its answer of the other form.
      reply.serializer((answer) => JSON.stringify(answer));
      return listLatest(parts, request);
    },
  );

  const listSchema = {
    ...shared,
    summary: "The caller's latest requests",
    description: 'Newest first. Each names the transactions of its items in transactionIDList.',
    headers: Type.Object(pageHeaders),
    response: { 200: statusPageAnswer },
  };
  app.get('/core/status', { onRequest, schema: listSchema }, (request) => listLatest(parts, request));
}

async function readTransaction(
  { storage }: ServiceContext,
  { organisation }: Principal,
  transactionId: string,
): Promise<TransactionRow> {
  const row = await storage.read(shardOf(organisation), (tx) => tx.get(transactions, { organisation, transactionId }));
  if (row !== undefined) return row;
  throw notFound(`there is no transaction ${JSON.stringify(transactionId)}; GET /core/status lists the latest`);
}

async function listLatest({ context: { storage }, tokens }: RouteParts, request: FastifyRequest) {
  const { organisation, clientId } = principalOf(request);
  const { rows, paging } = await readPage<TransactionRow, readonly [commit: number, transactionId: string]>(
    tokens,
    request,
    {
      name: 'status',
      query: [],
      find: (after, limit) =>
        storage.read(shardOf(organisation), (tx) =>
          tx.find(transactions, {
            where: equal({ organisation, clientId, parentId: null }),
            orderBy: [
              { column: 'commit', isDescending: true },
              { column: 'transactionId', isDescending: true },
            ],
            ...(after === undefined ? {} : { after }),
            limit,
          }),
        ),
      placeOf: ({ commit, transactionId }) => [commit, transactionId],
    },
  );
  return pagedEnvelope(rows.map(transactionRecord), paging);
}
