import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { describeValue } from '../../core/errors.js';
import { groupBy } from '../../core/group.js';
import { equal } from '../../storage/storage.js';
import { type RequestTransactionRow, requestTransactions } from '../../storage/tables/operations.js';
import type { ServiceContext } from '../context.js';
import { envelope, pagedEnvelope, pageHeaders } from '../http/envelope.js';
import { notFound } from '../http/errors.js';
import { JSON_TYPE } from '../http/media-types.js';
import { readPage } from '../http/paging.js';
import { type RouteParts, security } from '../http/route.js';
import { type Principal, principalOf } from '../identity/principal.js';
import { transactionRecord } from './record.js';
import { joinParts } from './request-states.js';
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
        summary: 'State of a transaction',
        description:
          'States: Created, Running (its history is being computed), Active (its results follow each arrival, ' +
          'or each boundary of its frequency), Completed, Failed. A request is a transaction too: its ' +
          'transactionIDList names those of its items, and its state follows theirs.',
        params: Type.Object({ transactionId: Type.String() }),
        response: { 200: statusAnswer },
      },
    },
    async (request, reply) => {
      const { transactionId } = request.params;
      if (transactionId !== '') {
        return envelope(transactionRecord(await readTransaction(parts.context, principalOf(request), transactionId)));
      }
      // `/core/status/` is answered as `/core/status`, whose form this route's serializer does not know.
      reply.type(`${JSON_TYPE}; charset=utf-8`).serializer((answer) => JSON.stringify(answer));
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
  context: ServiceContext,
  { organisation }: Principal,
  transactionId: string,
): Promise<RequestTransactionRow> {
  const [row] = await readParts(context, organisation, [transactionId]);
  if (row !== undefined) return row;
  throw notFound(`there is no transaction ${describeValue(transactionId)}; GET /core/status lists the latest`);
}

async function listLatest({ context, tokens }: RouteParts, request: FastifyRequest) {
  const { organisation, clientId } = principalOf(request);
  const { home } = await context.placements.of(organisation);
  const { rows, paging } = await readPage<RequestTransactionRow, readonly [commit: number, transactionId: string]>(
    tokens,
    request,
    {
      name: 'status',
      query: [],
      find: async (after, limit) => ({
        rows: await context.storage.read(home, (tx) =>
          tx.find(requestTransactions, {
            where: equal({ organisation, clientId, parentId: null }),
            orderBy: [
              { column: 'commit', isDescending: true },
              { column: 'transactionId', isDescending: true },
            ],
            ...(after === undefined ? {} : { after }),
            limit,
          }),
        ),
      }),
      placeOf: ({ commit, transactionId }) => [commit, transactionId],
    },
  );
  const ids = rows.map(({ transactionId }) => transactionId);
  return pagedEnvelope((await readParts(context, organisation, ids)).map(transactionRecord), paging);
}

/** Transactions in the order of the ids, each joined from its parts in the organisation's shards. */
async function readParts(
  { storage, placements }: ServiceContext,
  organisation: string,
  transactionIds: readonly string[],
): Promise<readonly RequestTransactionRow[]> {
  if (transactionIds.length === 0) return [];
  const { shards } = await placements.of(organisation);
  const where = [['organisation', '=', organisation] as const, ['transactionId', 'in', transactionIds] as const];
  const found = await Promise.all(
    shards.map((shard) => storage.read(shard, (tx) => tx.find(requestTransactions, { where }))),
  );
  const parts = groupBy(found.flat(), ({ transactionId }) => transactionId);
  return transactionIds.flatMap((id) => (parts.has(id) ? [joinParts(parts.get(id)!)] : []));
}
