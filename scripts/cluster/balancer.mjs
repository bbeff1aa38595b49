// A small load balancer: each request goes to the next process that accepts connections. A request is retried only if
// nothing of it was sent, so that it is never done twice.

import { createServer, request as send } from 'node:http';

export class Balancer {
  #processes;
  #server;
  #turn = 0;
  #url = '';

  /** @param {readonly { readonly url?: string }[]} processes those without a url are skipped */
  constructor(processes) {
    this.#processes = processes;
    this.#server = createServer((request, answer) => void this.#pass(request, answer));
  }

  get url() {
    return this.#url;
  }

  async start() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#url = `http://127.0.0.1:${this.#server.address().port}`;
  }

  stop() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #pass(request, answer) {
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      for (let tries = 0; tries < this.#processes.length; tries++) {
        const { url } = this.#processes[this.#turn++ % this.#processes.length];
        if (url === undefined) continue;
        if (await passTo(new URL(request.url, url), request, body, answer)) return;
      }
      answer.writeHead(503).end();
    } catch {
      answer.destroy();
    }
  }
}

/** @returns false if the process accepts no connections. */
function passTo(url, { method, headers }, body, answer) {
  return new Promise((resolve) => {
    const passed = send(url, { method, headers, agent: false }, (from) => {
      answer.writeHead(from.statusCode, from.headers);
      from.pipe(answer);
      from.once('error', () => answer.destroy());
      from.once('close', () => resolve(true));
    });
    passed.once('error', (error) => {
      if (error.code === 'ECONNREFUSED') return resolve(false);
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502).end();
      resolve(true);
    });
    passed.end(body);
  });
}
