// A good client of torture/attack.mjs, in its own thread: it writes and reads, alternating between kept and new
// connections, and reports how long its requests took.
import http from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { url, authorization, seriesId } = workerData;
const kept = new http.Agent({ keepAlive: true, maxSockets: 4 });
let times = [];
let failed = 0;

function ask(method, path, body, agent) {
  const startMs = performance.now();
  return new Promise((resolve) => {
    const fail = () => {
      failed++;
      resolve();
    };
    const headers = { authorization, 'content-type': 'application/json' };
    const request = http.request(url + path, { method, headers, agent }, (answer) => {
      answer.resume();
      answer.on('end', () => {
        if (answer.statusCode === 200) times.push(performance.now() - startMs);
        else failed++;
        resolve();
      });
      answer.on('error', fail);
    });
    request.on('error', fail);
    request.end(body);
  });
}

parentPort.on('message', () => {
  const sorted = Float64Array.from(times).sort();
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
  parentPort.postMessage({ p50: at(0.5), p99: at(0.99), max: at(1), count: sorted.length, failed });
  times = [];
  failed = 0;
});

for (let i = 0; ; i++) {
  const agent = i % 5 === 0 ? new http.Agent({ keepAlive: false }) : kept;
  const body = JSON.stringify([{ timeseriesId: seriesId, timestamp: i * 1000, val: i }]);
  if (i % 2 === 0) await ask('POST', '/core/samples', body, agent);
  else await ask('GET', '/health/live', undefined, agent);
  await new Promise((resolve) => setTimeout(resolve, 5));
}
