import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { describeValue } from '../../core/errors.js';
import type { Transaction } from '../../storage/storage.js';
import { type ItemRow, items } from '../../storage/tables/operations.js';
import type { ServiceContext } from '../context.js';
import { envelope, pagedEnvelope, pageHeaders } from '../http/envelope.js';
import { badRequest, notFound, ServiceError } from '../http/errors.js';
import { readPage } from '../http/paging.js';
import { type RouteParts, security, validatorCompiler } from '../http/route.js';
import { principalOf } from '../identity/principal.js';
import { transactionRecord } from '../status/record.js';
import { statusAnswer } from '../status/schemas.js';
import { type DryRunScope, dryRun } from './dry-run.js';
import { deleteItem, endPattern, MEMBERS_PER_TRANSACTION } from './end.js';
import { readRecords } from './read-records.js';
import { type ItemRecord, itemRecords, joinRecords } from './records.js';
import { changeItems, registerItems } from './register.js';
import { isPattern, readOperations } from './request.js';
import * as schemas from './schemas.js';

const shared = { tags: ['Operations'], security };

/** `POST /operations` (interface 2.5, 4.3), and the list, reading and deletion of the items that it registers. */
export function registerOperations(app: FastifyInstance, parts: RouteParts): void {
  const { context, authorize, wake } = parts;
  const { settings } = context;
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
      querystring: schemas.operationsQuery,
      // Many generators of clients take the least of these for the answer of each request.
      response: { 200: Type.Union([statusAnswer, schemas.dryRunAnswer], DRY_RUN), 202: statusAnswer },
    },
  };
  for (const path of ['/operations', '/core/operations']) {
    app.post(path, postOptions, async (request, reply) => {
      const receivedMs = context.clock.nowMs();
      const principal = principalOf(request);
      const { organisation } = principal;
      const isDryRun = flagOf(request, 'dryRun');
      const { plan, definitions } = await readOperations(request.body, settings.requestRangesMax);
      if (isDryRun) {
        const told = await dryRun(await dryRunScope(context, organisation), plan, definitions);
        // Serialising a plan of thousands of steps by its schema takes ten times as long.
        return reply.type('application/json; charset=utf-8').send(JSON.stringify(envelope(told)));
      }
      const { windrowCorrelationId: correlationId } = request;
      const parent = await changeItems(context, organisation, async (over) => {
        const row = await registerItems(context, over, { principal, correlationId, receivedMs }, definitions);
        for (const { shard } of over.txs) wake(shard, true);
        return row;
      });
      reply.code(202);
      return envelope(transactionRecord(parent), 202);
    });
  }
  registerReading(app, parts);
  registerDeletion(app, parts);
}

const DRY_RUN = { description: 'With dryRun=true: the second form; without, the answer is 202' };

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
      const areResultsKept = flagOf(request, 'keepResults');
      return changeItems(context, organisation, async ({ txs }) => {
        const found = await findItem(txs, organisation, request.params.itemId);
        const [{ tx, row }] = found;
        const record = joinRecords((await Promise.all(found.map(recordOf))).flat())[0];
        if (record?.pattern != null) {
          const mend = `delete that item, or register one of its own for ${row.timeseriesId}/${row.metric}`;
          throw new ServiceError(409, `the item is a member of the pattern of item ${record.pattern}; ${mend}`);
        }
        if (!isPattern(row)) await deleteItem(context, tx, row, areResultsKept);
        else {
          const memberRoom = Math.floor(MEMBERS_PER_TRANSACTION / found.length);
          for (const part of found) await endPattern(context, part.tx, part.row, { areResultsKept, memberRoom });
        }
        for (const part of found) wake(part.tx.shard, true);
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
      const { itemId } = request.params;
      const [record] = (await readRecords(context, organisation, [['itemId', '=', itemId]], 1)).rows;
      if (record === undefined) throw noItem(itemId);
      return envelope(record);
    },
  );
}

async function dryRunScope({ storage, samples, placements }: ServiceContext, organisation: string) {
  const placement = await placements.of(organisation);
  for (const shard of placement.shards) await samples.log.load(storage, shard);
  const scope: DryRunScope = {
    organisation,
    samples,
    isSpread: placement.shards.length > 1,
    shardOf: (timeseriesId) => placement.shardOf(timeseriesId),
    readIn: (shard, work) => storage.read(shard, work),
    readTogether: (work) => {
      if (placement.shards.length > 1) return work(scope);
      // Not nested: the inner read would wait for a writer that waits for the outer one.
      return storage.read(placement.home, (tx) =>
        work({ ...scope, readIn: (_, read) => read(tx), readEach: (read) => read(tx) }),
      );
    },
    readEach: async (work) => {
      for (const shard of placement.shards) await storage.read(shard, work);
    },
  };
  return scope;
}

interface FoundItem {
  readonly tx: Transaction;
  readonly row: ItemRow;
}

/** An item, and where it has a pattern its part in each shard. @throws ServiceError 404 */
async function findItem(
  txs: readonly Transaction[],
  organisation: string,
  itemId: string,
): Promise<[FoundItem, ...FoundItem[]]> {
  const parts: FoundItem[] = [];
  for (const tx of txs) {
    const row = await tx.get(items, { organisation, itemId });
    if (row !== undefined) parts.push({ tx, row });
  }
  const [first, ...others] = parts;
  if (first === undefined) throw noItem(itemId);
  return [first, ...others];
}

function recordOf({ tx, row }: FoundItem) {
  return itemRecords(tx, row.organisation, [row]);
}

function noItem(itemId: string): ServiceError {
  return notFound(`there is no item ${describeValue(itemId)}; GET /core/operations lists those there are`);
}

async function listItems({ context, tokens }: RouteParts, request: FastifyRequest) {
  const { organisation } = principalOf(request);
  const { rows, paging } = await readPage<ItemRecord, string>(tokens, request, {
    name: 'operations',
    query: [],
    find: (after = '', limit) => readRecords(context, organisation, [['itemId', '>', after]], limit),
    placeOf: ({ itemId }) => itemId,
  });
  return pagedEnvelope(rows, paging);
}

// `?name=true` or `?name=false`.
function flagOf({ query }: FastifyRequest, name: string): boolean {
  // Fastify parses a query into texts, or lists of texts.
  const value = (query as Record<string, unknown>)[name];
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw badRequest(`query ${name}: expected true or false, received ${JSON.stringify(value)}`, {
    issues: [{ place: 'query', pointer: `/${name}`, expected: 'true or false', received: value }],
  });
}
