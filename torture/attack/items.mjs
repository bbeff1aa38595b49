import { check } from './report.mjs';
import { pause, post, probe, show, start, stop, workedMs } from './server.mjs';
import { countStatements } from './store.mjs';

/** Generous: a machine may be busy. */
const TIME_MS_MAX = 900_000;

/** 2: many items changed by one body, and many items that read one series. */
export async function items({ isShort, isPostgres }) {
  if (isShort) return fewItems(isPostgres);
  for (const isOneSeries of [false, true]) {
    const times = {};
    for (const count of isOneSeries ? [2500, 5000] : [5000, 10_000]) {
      const server = await start();
      const read = await registerAll(server, count, isOneSeries);
      const good = await probe(server, 'aside');
      const startMs = performance.now();
      const { status, ms } = await read.write();
      times[count] = (await read.isDone()) ? performance.now() - startMs : Number.POSITIVE_INFINITY;
      const beside = await good.take();
      const what = isOneSeries ? `one sample that ${count} items read` : `a body that ${count} items read`;
      console.log(
        `  ${what}: ${status} in ${ms.toFixed(0)} ms, results ${times[count].toFixed(0)} ms; ${show(beside)}`,
      );
      await good.end();
      await stop(server);
    }
    const [[few, fewMs], [many, manyMs]] = Object.entries(times);
    const what = isOneSeries ? 'items of one series' : 'items of one body';
    check(
      `${what}: linear`,
      manyMs < 3 * fewMs + 200,
      `${few}: ${fewMs.toFixed(0)} ms, ${many}: ${manyMs.toFixed(0)} ms`,
    );
    if (!isOneSeries) check('10,000 items of one body within 2 s', manyMs < 2000, `${manyMs.toFixed(0)} ms`);
  }
}

/** In the short form, by how much the number of items grows, and what counts. */
const GROWTH = 4;
const FEW = { embedded: 500, postgres: 50 };

/**
 * The work for many items grows with their number, not with its square. Over PostgreSQL, statements are counted; the
 * embedded store has none that can be seen from outside, so the processor time of the service is taken.
 */
async function fewItems(isPostgres) {
  const few = isPostgres ? FEW.postgres : FEW.embedded;
  const measure = isPostgres ? countStatements : takeTime;
  const unit = isPostgres ? 'statements' : 'ms of processor time';
  for (const isOneSeries of [false, true]) {
    const work = [];
    for (const count of [few, GROWTH * few]) {
      const server = await start();
      const read = await registerAll(server, count, isOneSeries);
      const rounds = [];
      for (let round = 0; round < 3; round++) {
        let isDone = false;
        const done = await measure(server, async () => {
          await read.write();
          isDone = await read.isDone();
        });
        rounds.push(isDone ? done : Number.POSITIVE_INFINITY);
      }
      // The least: others come with compaction, or with the collection of garbage.
      work.push(Math.min(...rounds));
      await stop(server);
    }
    const [fewWork, manyWork] = work;
    check(
      isOneSeries ? 'items of one series: linear' : 'items of one body: linear',
      // A quarter more statements than linear; the time has a part that does not grow, which is room enough.
      manyWork < (isPostgres ? 1.25 * GROWTH * fewWork + 20 : GROWTH * fewWork + 50),
      `${few}: ${fewWork.toFixed(0)} ${unit}, ${GROWTH * few}: ${manyWork.toFixed(0)}`,
    );
  }
}

async function takeTime(server, work) {
  const before = workedMs(server);
  await work();
  return workedMs(server) - before;
}

/** Registers items with hourly averages, and waits until all have a result. */
async function registerAll(server, count, isOneSeries) {
  const from = (i) => (isOneSeries ? 'one' : `s${i}`);
  for (let at = 0; at < count; at += 500) {
    const length = Math.min(500, count - at);
    const request = Array.from({ length }, (_, i) => hourly(from(at + i), `Hourly${at + i}`));
    const answer = await post(server, '/operations', 'application/json', JSON.stringify(request));
    if (answer.status !== 202) throw new Error(answer.text);
  }
  let hour = -1;
  const write = () => {
    hour++;
    const sample = (i) => ({ timeseriesId: from(i), timestamp: Date.UTC(2026, 0, 1, hour), val: i });
    const body = JSON.stringify(Array.from({ length: isOneSeries ? 1 : count }, (_, i) => sample(i)));
    return post(server, '/core/samples', 'application/json', body);
  };
  /** Whether the last item has, after a while, a final result for each hour but the last. */
  const isDone = async () => {
    const path = `/core/timeseries/${from(count - 1)}/samples?metric=Hourly${count - 1}&finalOnly=true&limit=1000`;
    const startMs = performance.now();
    for (let found = -1; performance.now() - startMs < TIME_MS_MAX; await pause(50)) {
      const answer = await fetch(server.url + path, { headers: { authorization: server.authorization } });
      const text = await answer.text();
      if (answer.status === 200) found = JSON.parse(text).data.length;
      if (found === hour) return true;
    }
    return false;
  };
  // History is computed for each item when it has been registered, which takes longer than a later sample.
  await write();
  await write();
  if (!(await isDone())) throw new Error(`${count} items have no results`);
  await pause(1000);
  return { write, isDone };
}

function hourly(from, metric) {
  return {
    metric,
    processingType: 'stream',
    operations: [
      {
        operation: 'Aggregate',
        input: [{ timeseriesId: from, metric: 'Raw' }],
        output: [{ timeseriesId: from, metric }],
        parameters: { function: 'Average', interval: 'Hourly' },
      },
    ],
  };
}
