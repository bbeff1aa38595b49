// Kills `windrow serve` again and again while clients write, and compares what is stored with what was acknowledged.
//
// Each life of the service proves, before clients write again, for all that they ever wrote into its store:
// - every series has exactly the samples of the ledger, bit for bit: none lost, none from elsewhere; those that
//   retention may delete are there or not;
// - a request without an answer is stored whole or not at all: by series, if these are in several shards; up to the end
//   of a part, if its body had several; and that of a queue, sent again, is answered as repeated if it was stored;
// - items, events and tokens are those of the ledger;
// - every result, those of a pattern's members included, equals a batch over the samples, bit for bit, once the service
//   has caught up: also over those that retention has deleted since, if the item was registered before.
//
// Meanwhile an older SQLite, `windrow check`, `backup` and `client list` open the embedded store, and are killed too.
//
//   npm run torture:crash -- --cycles 2000 --seed 1
//   npm run torture:crash -- --cycles 500 --postgres        starts a PostgreSQL server and kills it too
//   npm run torture:crash -- --cycles 500 --store postgres://localhost/windrow
//   npm run torture:crash -- --seconds 600                ends after this time even if cycles are left
//   npm run torture:crash -- --dist FOLDER                another build than that in dist

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PostgresServer } from '../scripts/cluster/postgres-server.mjs';
import { readOptions } from '../scripts/options.mjs';
import { createApi, demandToken } from './crash/api.mjs';
import { loadBatch } from './crash/items.mjs';
import { Lane } from './crash/lane.mjs';
import { startServer, storeWords, UNANSWERED_MAX, wasUnanswered, windrow } from './crash/server.mjs';
import { verify } from './crash/verify.mjs';
import { openToVisitors } from './crash/visitors.mjs';
import { createRandom } from './random.mjs';

const { options } = readOptions(import.meta.url, {
  cycles: { type: 'number', default: 20 },
  seed: { type: 'number', default: Math.floor(Math.random() * 2 ** 31) },
  store: { type: 'string' },
  postgres: { type: 'boolean' },
  dist: { type: 'string', default: 'dist' },
  seconds: { type: 'number', default: Number.POSITIVE_INFINITY },
});

/** The number of kills per store; then clients start again, in new organisations. */
const CYCLES_OF_STORE = 20;
const CHECK_EVERY = 5;
const LANES_OF_ORGANISATION = 3;
const WORK_MS_MAX = 900;

const { seed, cycles } = options;
const command = join(options.dist, 'cli/main.js');
const folder = options.store ?? mkdtempSync(join(tmpdir(), 'windrow-torture-'));
const database = options.postgres ? await startDatabase(folder) : undefined;
const address =
  (await database?.createDatabase('windrow')) ?? (options.store?.includes('://') ? options.store : undefined);
const random = createRandom(seed);
const batch = await loadBatch(pathToFileURL(resolve(options.dist, 'index.js')).href);
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

const counts = {
  cycles: 0,
  kills: {},
  acknowledged: {},
  samples: 0,
  refused: 0,
  unanswered: 0,
  settled: { done: 0, 'not done': 0 },
  compared: { series: 0, samples: 0, expired: 0, results: 0, members: 0, events: 0, tokens: 0 },
  checks: 0,
  visits: {},
  startMsMax: 0,
  startsUnanswered: 0,
};

/** With fsync and synchronous commits, PostgreSQL's defaults, as for a database that must lose nothing. */
async function startDatabase(folder) {
  chmodSync(folder, 0o711); // the server runs as another user
  const server = new PostgresServer(join(folder, 'postgres'), { max_connections: 200 });
  await server.create();
  await server.start();
  return server;
}

/** A client of an organisation, and a collection of events that it may use. */
function addAccess(words, organisation, groups) {
  const scope = 'core_read core_write core_admin';
  const added = windrow(command, [
    'client',
    'add',
    'torture',
    '--org',
    organisation,
    '--scope',
    scope,
    '--json',
    '--groups',
    String(groups),
    ...words,
  ]);
  const { clientId, clientSecret } = JSON.parse(added);
  const collection = `${organisation}-events`;
  windrow(command, ['collection', 'add', collection, '--org', organisation, '--allow', clientId, ...words]);
  return { clientId, clientSecret, collection, isSpread: groups > 1 };
}

function openLanes(store, round) {
  // One organisation in one shard, and one that is spread, with items that read several shards.
  return ['x', 'y'].flatMap((letter, index) => {
    const access = addAccess(storeWords(store), `torture-${seed}-${round}-${letter}`, [1, 8][index]);
    return Array.from({ length: LANES_OF_ORGANISATION }, (_, i) => {
      return new Lane({ name: `${letter}${i}`, access, random: random.fork(), counts });
    });
  });
}

/** Starts a service; sometimes it is killed before it listens, and started again. */
async function startUp(store) {
  for (let unansweredCount = 0; ; ) {
    const server = startServer({ command, store, isWrapped: random.chance(0.3) });
    if (random.chance(0.15)) {
      await wait(random.below(700));
      await kill(server, 'while it starts');
      continue;
    }
    try {
      return { server, ...(await server.listening) };
    } catch (error) {
      if (!wasUnanswered(server.said) || ++unansweredCount > UNANSWERED_MAX) throw error;
      counts.startsUnanswered++;
    }
  }
}

async function kill(server, how) {
  server.signal('SIGKILL');
  await server.ended;
  counts.kills[how] = (counts.kills[how] ?? 0) + 1;
}

async function killWhileRunning(server) {
  await wait(random.below(WORK_MS_MAX));
  if (database !== undefined && random.chance(0.5)) {
    await database.kill();
    counts.kills['of the database'] = (counts.kills['of the database'] ?? 0) + 1;
    // The service may die while there is no database, or reconnect and go on.
    const isKilledToo = random.chance(0.3);
    await wait(random.below(1500));
    if (isKilledToo) await kill(server, 'while there is no database');
    await database.start();
    if (isKilledToo) return;
    await wait(random.below(2 * WORK_MS_MAX));
  }
  if (!random.chance(0.15)) return kill(server, 'while it works');
  server.signal('SIGTERM');
  await wait(random.below(150));
  return kill(server, 'while it stops');
}

async function openApis(url, lanes) {
  const byAccess = new Map();
  for (const { access } of lanes) {
    if (!byAccess.has(access)) byAccess.set(access, createApi(url, `Bearer ${await demandToken(url, access)}`));
  }
  return new Map(lanes.map((lane) => [lane, byAccess.get(lane.access)]));
}

/** One life of the service: what the last one left is compared, then clients work until it is killed. */
async function runCycle(store, lanes) {
  const { server, url, startMs } = await startUp(store);
  counts.startMsMax = Math.max(counts.startMsMax, Math.round(startMs));
  try {
    const apis = await openApis(url, lanes);
    await verify({ url, lanes, apis, batch, counts });
    let isOver = false;
    const work = Promise.all(lanes.map((lane) => lane.run(url, apis.get(lane), () => isOver)));
    // A wrong answer ends the cycle.
    const killing = killWhileRunning(server);
    await Promise.race([killing, work.then(() => server.ended)]);
    isOver = true;
    await Promise.all([work, killing]);
  } catch (error) {
    server.signal('SIGKILL');
    error.message += server.said === '' ? '' : `\nthe service said:\n${server.said.slice(-4000)}`;
    throw error;
  }
}

async function run() {
  const untilMs = performance.now() + 1000 * options.seconds;
  let store;
  let lanes;
  for (let cycle = 0; cycle < cycles && performance.now() < untilMs && !isInterrupted; cycle++) {
    const round = Math.floor(cycle / CYCLES_OF_STORE);
    if (cycle % CYCLES_OF_STORE === 0) {
      await endVisits();
      if (address === undefined && store !== undefined) rmSync(store, { recursive: true, force: true });
      store = address ?? join(folder, `store-${round}`);
      lanes = openLanes(store, round);
      if (address === undefined) visitors = openToVisitors({ command, store, random: random.fork(), counts });
    }
    await runCycle(store, lanes);
    counts.cycles++;
    if (address === undefined && cycle % CHECK_EVERY === 0) {
      windrow(command, ['check', store]);
      counts.checks++;
    }
    if (counts.cycles % 50 === 0) console.error(`${counts.cycles} cycles, ${counts.samples} samples acknowledged`);
  }
  await endVisits();
}

let visitors;
async function endVisits() {
  const { end } = visitors ?? {};
  visitors = undefined;
  await end?.();
}

let isInterrupted = false;
const interrupt = () => {
  isInterrupted = true;
};
// Stops after the running cycle, with the counts so far.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, interrupt);

const startMs = performance.now();
try {
  await run();
  if (counts.cycles === 0) throw new Error('there was no time for a cycle');
  await database?.stop('SIGQUIT');
  if (options.store === undefined) rmSync(folder, { recursive: true, force: true });
} catch (error) {
  console.error(error);
  await endVisits().catch((failure) => console.error(failure));
  await database?.stop('SIGQUIT');
  console.error(`FAILED in cycle ${counts.cycles} of seed ${seed}; the store is in ${folder}`);
  process.exitCode = 1;
}
console.log(
  JSON.stringify({ seed, seconds: Math.round((performance.now() - startMs) / 1000), ...counts }, undefined, 2),
);
