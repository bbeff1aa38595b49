import { check } from './report.mjs';
import { pause, post, probe, show, start, stop } from './server.mjs';

/** 2: many items changed by one body, and many items that read one series. */
export async function items() {
  const hourly = (from, metric) => ({
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
  });
  for (const isOneSeries of [false, true]) {
    const times = {};
    for (const count of isOneSeries ? [2500, 5000] : [5000, 10_000]) {
      const server = await start();
      const from = (i) => (isOneSeries ? 'one' : `s${i}`);
      for (let at = 0; at < count; at += 500) {
        const request = Array.from({ length: 500 }, (_, i) => hourly(from(at + i), `Hourly${at + i}`));
        const answer = await post(server, '/operations', 'application/json', JSON.stringify(request));
        if (answer.status !== 202) throw new Error(answer.text);
      }
      const sample = (i, hour) => ({ timeseriesId: from(i), timestamp: Date.UTC(2026, 0, 1, hour), val: i });
      const body = (hour) => JSON.stringify(Array.from({ length: isOneSeries ? 1 : count }, (_, i) => sample(i, hour)));
      await post(server, '/core/samples', 'application/json', body(0));
      await pause(10_000);
      const good = await probe(server, 'aside');
      const { status, ms } = await post(server, '/core/samples', 'application/json', body(1));
      const isDone = async () => {
        const last = `/core/timeseries/${from(count - 1)}/samples?metric=Hourly${count - 1}&finalOnly=true`;
        const answer = await fetch(server.url + last, { headers: { authorization: server.authorization } });
        return answer.status === 200 && (await answer.json()).data.length > 0;
      };
      const startMs = performance.now();
      while (!(await isDone()) && performance.now() - startMs < 60_000) await pause(20);
      times[count] = ms + performance.now() - startMs;
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
