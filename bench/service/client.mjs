// A client of a server in this process. It runs in a thread, so that its own work is no stall of the server's event loop.

import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/**
 * @param server a running server.
 * @param client its `clientId` and `clientSecret`, which has the scope.
 * @returns `post`, and `get`, which sends `count` requests at once; they resolve to the milliseconds until the last
 * answer, and reject if one is an error. And `end`.
 */
export async function openClient({ url }, { clientId, clientSecret }, scope = 'core_write') {
  const thread = new Worker(new URL(import.meta.url), { workerData: { url, clientId, clientSecret, scope } });
  await once(thread, 'message');
  const ask = async (message) => {
    thread.postMessage(message);
    const [{ ms, fault }] = await once(thread, 'message');
    if (fault !== undefined) throw new Error(fault);
    return ms;
  };
  return {
    post: (path, type, body) => ask({ path, count: 1, method: 'POST', headers: { 'content-type': type }, body }),
    get: (path, accept, count) => ask({ path, count, method: 'GET', headers: { accept } }),
    end: () => thread.terminate(),
  };
}

if (!isMainThread) {
  const authorization = `Bearer ${await tokenOf(workerData)}`;
  const askOnce = async ({ path, method, headers, body }) => {
    const answer = await fetch(workerData.url + path, { method, headers: { authorization, ...headers }, body });
    const bytes = await answer.arrayBuffer();
    return answer.ok ? undefined : `${answer.status} ${Buffer.from(bytes)}`;
  };
  parentPort.on('message', async (message) => {
    const beginMs = performance.now();
    try {
      const faults = await Promise.all(Array.from({ length: message.count }, () => askOnce(message)));
      parentPort.postMessage({ ms: performance.now() - beginMs, fault: faults.find((fault) => fault !== undefined) });
    } catch (error) {
      parentPort.postMessage({ fault: String(error) });
    }
  });
  parentPort.postMessage('ready');
}

async function tokenOf({ url, clientId, clientSecret, scope }) {
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const answer = await fetch(`${url}/idm/ims/connect/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()).access_token;
}
