import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointHeads } from '../../src/service/operations/worker/checkpoints.js';
import { parseAddress } from '../../src/storage/postgres/address.js';
import { postgres } from '../../src/storage/postgres/dialect.js';
import { loadPackage, Servers } from '../../src/storage/postgres/servers.js';
import { find, remove, type Statement } from '../../src/storage/sql/statements.js';
import { sqlite } from '../../src/storage/sqlite/dialect.js';
import { FILE_NAME } from '../../src/storage/sqlite/open.js';
import type { Query, Storage } from '../../src/storage/storage.js';
import type { Column, Table, Value } from '../../src/storage/table.js';
import { events, NEVER } from '../../src/storage/tables/events.js';
import {
  itemCheckpoints,
  itemSources,
  items,
  itemWork,
  replicas,
  requestTransactions,
} from '../../src/storage/tables/operations.js';
import { provisionalSamples, segments, series } from '../../src/storage/tables/samples.js';
import { openDatabase } from './faults.js';
import { openTemporary } from './open-temporary.js';
import { hasPostgres, openTemporaryPostgres } from './postgres/open.js';

// Look-ups by lists of ids, as the service makes them, in a shard with enough rows for an index to matter.

const SHARD = 3;
const ROWS = 6000;
const LISTED = 60;

const numbered = (i: number) => String(i).padStart(5, '0');
const ofAcme = ['organisation', '=', 'acme'] as const;
const listed = <Item>(itemOf: (i: number) => Item) => Array.from({ length: LISTED }, (_, i) => itemOf(i * 97));

/** A row with a value in each column; fields that are not given are plain or null. */
function rowOf<Row>(table: Table<Row>, fields: Partial<Row>): Row {
  const plain: Readonly<Record<Column['type'], Value>> = {
    text: 'x',
    integer: 1,
    real: 0,
    boolean: true,
    bytes: new Uint8Array(40),
  };
  const entries = Object.entries<Column>(table.columns).map(([name, { type, isNullable }]) => {
    return [name, isNullable ? null : plain[type]];
  });
  return { ...(Object.fromEntries(entries) as Row), ...fields }; // `as`: each column has a value
}

interface LookUp {
  readonly what: string;
  readonly table: Table<never>;
  readonly rows: readonly unknown[];
  readonly query: Query<never>;
  readonly column: string;
}

function lookUp<Row>(
  what: string,
  table: Table<Row>,
  column: keyof Row & string,
  fieldsOf: (i: number) => Partial<Row>,
  query: Query<Row>,
): LookUp {
  const rows = Array.from({ length: ROWS }, (_, i) =>
    rowOf<Row>(stored(table as never) as unknown as Table<Row>, fieldsOf(i)),
  );
  // `as`: a list of look-ups in tables of different rows.
  return { what, table, rows, query, column } as unknown as LookUp;
}

const organisation = 'acme';
const ofSeries = (i: number) => ({
  organisation,
  timeseriesId: numbered(i),
  metric: 'Raw',
  seriesKey: i,
  itemId: `${i}`,
});
/** Some of one id, some of one metric, and others. */
const named = (i: number) => ({
  timeseriesId: i % 3 === 0 ? 'shared' : numbered(i),
  metric: i % 3 === 1 ? 'shared' : numbered(i),
});
const ids = listed(numbered);
const keys = listed((i) => i);

const lookUps: readonly LookUp[] = [
  lookUp('series by ids', series, 'timeseriesId', ofSeries, {
    where: [ofAcme, ['metric', '=', 'Raw'], ['timeseriesId', 'in', ids]],
  }),
  lookUp(
    'series by metrics',
    series,
    'metric',
    (i) => ({ ...ofSeries(i), timeseriesId: 'many', metric: numbered(i), seriesKey: ROWS + i }),
    { where: [ofAcme, ['timeseriesId', '=', 'many'], ['metric', 'in', ids]] },
  ),
  lookUp('series by names', series, 'metric', (i) => ({ ...ofSeries(i), ...named(i), seriesKey: 3 * ROWS + i }), {
    where: [ofAcme],
    anyOf: listed(named),
  }),
  lookUp('replicas by names', replicas, 'metric', (i) => ({ organisation, ...named(i) }), {
    where: [ofAcme],
    anyOf: listed(named),
  }),
  lookUp('series by keys', series, 'seriesKey', (i) => ({ ...ofSeries(i), metric: 'Other', seriesKey: 2 * ROWS + i }), {
    where: [['seriesKey', 'in', keys]],
    orderBy: [{ column: 'seriesKey' }],
  }),
  lookUp('provisional results', provisionalSamples, 'seriesKey', (i) => ({ seriesKey: i }), {
    where: [['seriesKey', 'in', keys]],
  }),
  lookUp('items', items, 'itemId', (i) => ({ organisation, itemId: numbered(i), timeseriesId: numbered(i) }), {
    where: [ofAcme, ['itemId', 'in', ids]],
  }),
  lookUp('work of items', itemWork, 'itemId', (i) => ({ organisation, itemId: numbered(i) }), {
    where: [ofAcme, ['itemId', 'in', ids]],
  }),
  lookUp(
    'checkpoints of items',
    checkpointHeads,
    'itemId',
    (i) => ({ organisation, itemId: numbered(i >> 3), ordinal: i % 8 }),
    {
      where: [ofAcme, ['itemId', 'in', listed((i) => numbered(i >> 3))]],
    },
  ),
  lookUp(
    'items that read series',
    itemSources,
    'timeseriesId',
    (i) => ({ organisation, timeseriesId: numbered(i), itemId: `i${i}` }),
    {
      where: [ofAcme, ['timeseriesId', 'in', ids]],
    },
  ),
  lookUp(
    'what items read',
    itemSources,
    'itemId',
    (i) => ({ organisation, timeseriesId: `of ${i}`, itemId: numbered(i) }),
    {
      where: [ofAcme, ['itemId', 'in', ids]],
      orderBy: [{ column: 'itemId' }, { column: 'timeseriesId' }, { column: 'metric' }],
    },
  ),
  lookUp('transactions', requestTransactions, 'transactionId', (i) => ({ organisation, transactionId: numbered(i) }), {
    where: [ofAcme, ['transactionId', 'in', ids]],
  }),
  lookUp(
    'events',
    events,
    'id',
    (i) => ({ organisation, ercollectionid: 'doors', id: numbered(i), endCommit: NEVER }),
    {
      where: [ofAcme, ['ercollectionid', '=', 'doors'], ['endCommit', '=', NEVER], ['id', 'in', ids]],
    },
  ),
  lookUp('segments of a series', segments, 'endMs', (i) => ({ seriesKey: i % 10, endMs: i }), {
    where: [
      ['seriesKey', '=', 7],
      ['endMs', '>=', ROWS / 2],
    ],
    orderBy: [{ column: 'endMs' }],
    limit: 16,
  }),
];

/** Checkpoints are looked up without their states. */
function stored(table: Table<never>): Table<never> {
  // `as`: a table like the others.
  return table.name === itemCheckpoints.name ? (itemCheckpoints as unknown as Table<never>) : table;
}

async function fill(storage: Storage): Promise<void> {
  for (const { table, rows } of lookUps) {
    // `as`: each list of rows belongs to its table.
    await storage.transaction(SHARD, (tx) => tx.insertAll(stored(table), rows as never[]));
  }
}

describe('SQLite', () => {
  let store: Awaited<ReturnType<typeof openTemporary>>;
  beforeAll(async () => {
    store = await openTemporary();
    await fill(store.storage);
  });
  afterAll(() => store.dispose());

  it.each(lookUps)('looks up $what in an index', ({ table, query, column }) => {
    const { sql, values } = find({ dialect: sqlite, table, shard: SHARD }, query);
    const database = openDatabase(`${store.directory}/${FILE_NAME}`);
    const plan = database.all(`EXPLAIN QUERY PLAN ${sql}`, values).map(({ detail }) => String(detail));
    database.close();
    const searched = plan.filter((step) => step.includes(`SEARCH ${table.name} USING`));
    expect(plan.filter((step) => step.includes(table.name))).toEqual(searched);
    expect(searched.join()).toMatch(new RegExp(`\\(shard=\\? .*\\b${column}[=>]`));
  });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

describe.runIf(hasPostgres)('PostgreSQL', () => {
  let store: Awaited<ReturnType<typeof openTemporaryPostgres>>;
  let connection: Awaited<ReturnType<Servers['connect']>>;
  beforeAll(async () => {
    store = await openTemporaryPostgres();
    await fill(store.storage);
    connection = await new Servers(await loadPackage(), parseAddress(store.database.address)).connect();
  });
  afterAll(async () => {
    connection.close();
    await store.dispose();
  });

  // A new table has no statistics yet, and a statement run several times is planned without its values.
  describe.each(['of new tables', 'of known tables'])('%s', (age) => {
    beforeAll(() => connection.exec(age === 'of known tables' ? 'ANALYZE' : 'SELECT 1'));
    const planned = (some: readonly LookUp[]) =>
      some.flatMap((one) => ['force_custom_plan', 'force_generic_plan'].map((mode) => ({ ...one, mode })));

    /** Runs a statement, undoes it, and returns its plan with the rows that each step read. */
    const planOf = async ({ sql, values }: Statement, mode: string): Promise<PlanNode> => {
      const literals = values.map((value) => (typeof value === 'number' ? value : `'${String(value)}'`));
      let count = 0;
      await connection.exec(
        `SET plan_cache_mode = ${mode}; PREPARE looked AS ${sql.replaceAll('?', () => `$${++count}`)}`,
      );
      const [, [row] = []] = await connection.exec(
        `BEGIN; EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE looked (${literals.join(', ')}); ROLLBACK`,
      );
      await connection.exec('DEALLOCATE looked');
      // `as`: PostgreSQL's JSON form of plans.
      const [{ Plan }] = JSON.parse(String(row!['QUERY PLAN'])) as [{ Plan: PlanNode }];
      return Plan;
    };

    const expectFew = (plan: PlanNode): void => {
      const nodes = nodesOf(plan);
      const readCount = (node: PlanNode) =>
        (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
      expect([nodes.map((node) => node['Node Type']), Math.max(...nodes.map(readCount))]).toEqual([
        expect.not.arrayContaining(['Seq Scan']),
        expect.toSatisfy((read: number) => read > 0 && read <= 8 * LISTED),
      ]);
    };

    it.each(planned(lookUps))('reads little more than it finds of $what ($mode)', async ({ table, query, mode }) => {
      const plan = await planOf(find({ dialect: postgres, table, shard: SHARD }, query), mode);
      expect(plan['Actual Rows']).toBeGreaterThan(0);
      expectFew(plan);
    });

    const changes = lookUps.filter(({ query: { where = [] } }) => where.some(([, operator]) => operator === 'in'));
    it.each(planned(changes))('reads little more than it deletes of $what ($mode)', async ({ table, query, mode }) => {
      expectFew(await planOf(remove({ dialect: postgres, table, shard: SHARD }, query.where!), mode));
    });
  });
});

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
