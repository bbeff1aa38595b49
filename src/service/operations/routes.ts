import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { shardOf } from '../../storage/shard.js';
import type { Reader } from '../../storage/storage.js';
import { type ItemRow, items } from '../../storage/tables/operations.js';
import { envelope, pagedEnvelope, pageHeaders } from '../http/envelope.js';
import { badRequest, notFound, ServiceError } from '../http/errors.js';
import { readPage } from '../http/paging.js';
import { type RouteParts, security, validatorCompiler } from '../http/route.js';
import { principalOf } from '../identity/principal.js';
import { transactionRecord } from '../status/record.js';
import { statusAnswer } from '../status/schemas.js';
import { equal } from '../store.js';
import { dryRun } from './dry-run.js';
import { itemRecords } from './records.js';
import { deleteItem, deletePattern, registerItems } from './register.js';
import { isPattern, readOperations } from './request.js';
import * as schemas from './schemas.js';

const shared = { tags: ['Operations'], security };

/** `POST /operations` (interface 2.5, 4.3), and the list, reading and deletion of the items that it registers. */
export function registerOperations(app: FastifyInstance, parts: RouteParts): void {
  const { context, authorize, wake } = parts;
  const { storage, settings } = context;
  const postOptions = {
    onRequest: authorize('core_write'),
    validatorCompiler,
    bodyLimit: settings.bodyBytesMax,
    schema: {
      ...shared,
      summary: 'Register operations',
      description:
        'Each item of the request computes one result series, first over what is stored, then as samples arrive ' +
        '(stream), at the boundaries of its frequency (Batch), or once (Batch without one). An item of a result ' +
        'that there is replaces the one before. Answered with the transaction of the request, whose ' +
        'transactionIDList names one for each item, in their order.',
      body: schemas.operationsBody,
      querystring: schemas.operationsQuery,
      response: { 200: schemas.dryRunAnswer, 202: statusAnswer },
    },
  };
  for (const path of ['/operations', '/core/operations']) {
    app.post(path, postOptions, async (request, reply) => {
      const receivedMs = context.clock.nowMs();
      const principal = principalOf(request);
      const { organisation } = principal;
      const shard = shardOf(organisation);
      const isDryRun = flagOf(request, 'dryRun');
      const { plan, definitions } = await readOperations(request.body, settings.requestRangesMax);
      if (isDryRun) {
        return envelope(
          await storage.read(shard, (tx) => dryRun(tx, context.samples, organisation, plan, definitions)),
        );
      }
      const { correlationId } = request;
      const parent = await storage.transaction(shard, async (tx) => {
        const row = await registerItems(context, tx, { principal, correlationId, receivedMs }, definitions);
        wake(shard);
        return row;
      });
      reply.code(202);
      return envelope(transactionRecord(parent), 202);
    });
  }
  registerReading(app, parts);
  registerDeletion(app, parts);
}

function registerDeletion(app: FastifyInstance, { context, authorize, wake }: RouteParts): void {
  app.delete<{ Params: { itemId: string } }>(
    '/core/operations/:itemId',
    {
      onRequest: authorize('core_admin'),
      validatorCompiler,
      schema: {
        ...shared,
        summary: 'Delete an item, and its results with it',
        params: schemas.itemParams,
        querystring: schemas.deleteItemQuery,
        response: { 200: schemas.itemAnswer },
      },
    },
    async (request) => {
      const { organisation } = principalOf(request);
      const shard = shardOf(organisation);
      const areResultsKept = flagOf(request, 'keepResults');
      return context.storage.transaction(shard, async (tx) => {
        const row = await readItem(tx, organisation, request.params.itemId);
        const [record] = await itemRecords(tx, organisation, [row]);
        if (record?.pattern != null) {
          const mend = `delete that item, or register one of its own for ${row.timeseriesId}/${row.metric}`;
          throw new ServiceError(409, `the item is a member of the pattern of item ${record.pattern}; ${mend}`);
        }
        const end = isPattern(row) ? deletePattern : deleteItem;
        await end(context, tx, row, areResultsKept);
        wake(shard);
        return envelope(record);
      });
    },
  );
}

function registerReading(app: FastifyInstance, parts: RouteParts): void {
  const { context, authorize } = parts;
  const onRequest = authorize('core_read');
  const summary = 'The registered items';
  app.get(
    '/core/operations',
    {
      onRequest,
      validatorCompiler,
      schema: { ...shared, summary, headers: Type.Object(pageHeaders), response: { 200: schemas.itemsAnswer } },
    },
    (request) => listItems(parts, request),
  );
  app.get<{ Params: { itemId: string } }>(
    '/core/operations/:itemId',
    {
      onRequest,
      validatorCompiler,
      schema: { ...shared, summary: 'An item', params: schemas.itemParams, response: { 200: schemas.itemAnswer } },
    },
    async (request) => {
      const { organisation } = principalOf(request);
      return context.storage.read(shardOf(organisation), async (tx) => {
        const row = await readItem(tx, organisation, request.params.itemId);
        return envelope((await itemRecords(tx, organisation, [row]))[0]);
      });
    },
  );
}

async function readItem(tx: Reader, organisation: string, itemId: string): Promise<ItemRow> {
  const row = await tx.get(items, { organisation, itemId });
  if (row !== undefined) return row;
  throw notFound(`there is no item ${JSON.stringify(itemId)}; GET /core/operations lists those there are`);
}

// In the order of their ids, which is that of their registration.
async function listItems({ context: { storage }, tokens }: RouteParts, request: FastifyRequest) {
  const { organisation } = principalOf(request);
  const shard = shardOf(organisation);
  const { rows, paging } = await readPage<ItemRow, string>(tokens, request, {
    name: 'operations',
    query: [],
    find: (after = '', limit) =>
      storage.read(shard, (tx) =>
        tx.find(items, { where: [...equal({ organisation }), ['itemId', '>', after] as const], limit }),
      ),
    placeOf: ({ itemId }) => itemId,
  });
  const records = await storage.read(shard, (tx) => itemRecords(tx, organisation, rows));
  return pagedEnvelope(records, paging);
}

// `?name=true`, or false; without a value it is true.
function flagOf({ query }: FastifyRequest, name: string): boolean {
  // Fastify gives an object of texts, or of lists of them.
  const value = (query as Record<string, unknown>)[name];
  if (value === undefined || value === 'false') return false;
  if (value === 'true' || value === '') return true;
  throw badRequest(`query ${name}: expected true or false, received ${JSON.stringify(value)}`, {
    issues: [{ query: name, expected: 'true or false', received: value }],
  });
}
