// Sends requests over keep-alive connections, one at a time on each, and measures how long they take.

import { Agent, request } from 'node:http';
import { connect } from 'node:net';

/**
 * Sends the requests that `next` returns until it returns undefined.
 *
 * @param {{ url: string, connections: number, next: () => { method: string, path: string, headers: object, body?:
 * Buffer, onBytes?: (bytes: Buffer) => void } | undefined }} load
 * @returns {Promise<{ seconds: number, latencies: Float64Array }>} latencies in ms, ascending.
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

/**
 * Sends complete requests, as bytes, for a given time; those of the first `warmSeconds` do not count.
 *
 * @param {{ url: string, nexts: (() => Buffer)[], warmSeconds: number, seconds: number }} load a source of requests for
 * each connection.
 * @returns {Promise<{ seconds: number, latencies: Float64Array }>} latencies in ms, ascending.
 */
export async function pour({ url, nexts, warmSeconds, seconds }) {
  const lanes = await openLanes(url, nexts);
  await lanes.run(warmSeconds);
  const measured = await lanes.run(seconds);
  lanes.close();
  return { ...measured, latencies: Float64Array.from(measured.latencies).sort() };
}

/**
 * Connections that send when told to. They are plain sockets: a client that parses no more of an answer than it must
 * leaves most of the machine to the server.
 *
 * @param {(() => Buffer)[]} nexts a source of requests for each connection.
 */
export async function openLanes(url, nexts) {
  const { hostname, port } = new URL(url);
  const sockets = await Promise.all(
    nexts.map(
      () =>
        new Promise((resolve, reject) => {
          const socket = connect({ host: hostname, port: Number(port), noDelay: true }, () => resolve(socket));
          socket.on('error', reject);
        }),
    ),
  );
  const runLane = (socket, next, endMs, latencies) =>
    new Promise((resolve, reject) => {
      let sentMs = 0;
      let text = '';
      const sendNext = () => {
        sentMs = performance.now();
        if (sentMs > endMs) {
          socket.removeAllListeners();
          resolve();
        } else socket.write(next());
      };
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('the server closed the connection')));
      socket.on('data', (bytes) => {
        text += bytes.latin1Slice();
        if (!isWhole(text)) return;
        if (!text.startsWith('HTTP/1.1 2')) reject(new Error(text));
        text = '';
        latencies.push(performance.now() - sentMs);
        sendNext();
      });
      sendNext();
    });
  return {
    /** Sends for some seconds, and until the last answers. */
    run: async (seconds) => {
      const latencies = [];
      const startMs = performance.now();
      const endMs = startMs + 1000 * seconds;
      await Promise.all(sockets.map((socket, lane) => runLane(socket, nexts[lane], endMs, latencies)));
      return { seconds: (performance.now() - startMs) / 1000, latencies };
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Whether a text is a complete answer; one without a length has no body (204). */
function isWhole(text) {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? '0';
  return text.length >= headEnd + 4 + Number(length);
}

export function quantile(rising, q) {
  return rising[Math.min(rising.length - 1, Math.floor(q * rising.length))];
}
