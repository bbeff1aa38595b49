// A client of a server in this process. It runs in a thread, so that its own work is no stall of the server's event loop.

import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/**
 * @param server a running server.
 * @param client its `clientId` and `clientSecret`, for the scope core_write.
 * @returns `post`, which resolves to the milliseconds until the answer and rejects if that is an error; and `end`.
 */
export async function openClient({ url }, { clientId, clientSecret }) {
  const thread = new Worker(new URL(import.meta.url), { workerData: { url, clientId, clientSecret } });
  await once(thread, 'message');
  return {
    async post(path, type, body) {
      thread.postMessage({ path, type, body });
      const [{ ms, fault }] = await once(thread, 'message');
      if (fault !== undefined) throw new Error(fault);
      return ms;
    },
    end: () => thread.terminate(),
  };
}

if (!isMainThread) {
  const headers = { authorization: `Bearer ${await tokenOf(workerData)}` };
  parentPort.on('message', async ({ path, type, body }) => {
    const beginMs = performance.now();
    try {
      const answer = await fetch(workerData.url + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body,
      });
      const text = await answer.text();
      const fault = answer.ok ? undefined : `${answer.status} ${text}`;
      parentPort.postMessage({ ms: performance.now() - beginMs, fault });
    } catch (error) {
      parentPort.postMessage({ fault: String(error) });
    }
  });
  parentPort.postMessage('ready');
}

async function tokenOf({ url, clientId, clientSecret }) {
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const answer = await fetch(`${url}/idm/ims/connect/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'core_write' }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()).access_token;
}
