// Requests over keep-alive connections, each with one request at a time, and how long they took.

import { Agent, request } from 'node:http';

/**
 * Sends what `next` gives until it gives undefined.
 *
 * @param {{ url: string, connections: number, next: () => { method: string, path: string, headers: object,
 *   body?: Buffer, onBytes?: (bytes: Buffer) => void } | undefined }} load
 * @returns {Promise<{ seconds: number, latencies: Float64Array }>} latencies in ms, rising.
 */
export async function send({ url, connections, next }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies = [];
  const startMs = performance.now();
  const lane = async () => {
    for (let job = next(); job !== undefined; job = next()) {
      const sentMs = performance.now();
      await sendOne(agent, url, job);
      latencies.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  const seconds = (performance.now() - startMs) / 1000;
  agent.destroy();
  return { seconds, latencies: Float64Array.from(latencies).sort() };
}

function sendOne(agent, url, { method, path, headers, body, onBytes = () => {} }) {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': body.length };
    const sent = request(url + path, { agent, method, headers: { ...headers, ...length } }, (answer) => {
      const isGood = answer.statusCode >= 200 && answer.statusCode < 300;
      let text = '';
      answer.on('data', isGood ? onBytes : (bytes) => (text += bytes));
      answer.on('end', () =>
        isGood ? resolve() : reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`)),
      );
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export function quantile(rising, q) {
  return rising[Math.min(rising.length - 1, Math.floor(q * rising.length))];
}
