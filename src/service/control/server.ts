import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import packageJson from '../../../package.json' with { type: 'json' };
import { WindrowError } from '../../core/errors.js';
import type { Random } from '../context.js';
import type { Administration } from '../identity/administration.js';
import { createSecret, equalHashes, hashSecret } from '../identity/secrets.js';
import { type ControlFile, removeControlFile, writeControlFile } from './control-file.js';
import { type ControlAnswer, controlCommands } from './messages.js';

export interface ControlOptions {
  /** The data directory, where the command looks for `control.json`. */
  readonly directory: string;
  readonly administration: Administration;
  readonly random: Random;
  readonly log: FastifyBaseLogger;
}

export interface Control {
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 64 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Takes commands of `windrow client`, `user` and `collection` while this process holds the store. It listens on this
 * machine alone, at any free port; port and key lie in a file that only the owner of the process can read. A port
 * and not a socket file, for that works on every platform and at any length of the path.
 */
export async function startControl({ directory, administration, random, log }: ControlOptions): Promise<Control> {
  const key = createSecret(random);
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    void answer(request, response, { administration, keyHash: hashSecret(key), log });
  });
  const control: ControlFile = { port: await listen(server), key, processId: process.pid };
  try {
    writeControlFile(directory, control);
  } catch (error) {
    server.close();
    throw error;
  }
  return {
    close: async () => {
      removeControlFile(directory, control);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await closed;
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('assertion failed: listens at no port'));
      else resolve(address.port);
    });
  });
}

interface Holder {
  readonly administration: Administration;
  readonly keyHash: string;
  readonly log: FastifyBaseLogger;
}

async function answer(request: IncomingMessage, response: ServerResponse, holder: Holder): Promise<void> {
  response.setHeader('connection', 'close');
  const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (request.method !== 'POST' || !equalHashes(hashSecret(key), holder.keyHash)) {
    response.writeHead(403).end();
    request.resume();
    return;
  }
  try {
    const body = await readBody(request);
    const answered = JSON.stringify(body === undefined ? tooLarge() : await act(body, holder));
    response.writeHead(200, { 'content-type': 'application/json' }).end(answered);
  } catch (err) {
    holder.log.error({ err }, 'a command failed');
    response.writeHead(500).end();
  }
}

async function act(body: string, { administration, log }: Holder): Promise<ControlAnswer> {
  // Whoever knows the key is this very command, perhaps of another version: a wrong name is the one mistake to expect.
  const { command: wanted, parameters } = JSON.parse(body) as { command: unknown; parameters: unknown };
  const command = controlCommands.find((name) => name === wanted);
  if (command === undefined) {
    const message = `the service runs windrow ${packageJson.version}, which does not know ${String(wanted)}; update it`;
    return { error: { code: 'arguments', message } };
  }
  try {
    // Each function checks its argument.
    const work = administration[command] as (parameters: unknown) => Promise<unknown>;
    const result = await work(parameters);
    log.info({ command }, 'command');
    return { result: result ?? null };
  } catch (error) {
    if (error instanceof WindrowError) return { error: { code: error.code, message: error.message } };
    throw error;
  }
}

function tooLarge(): ControlAnswer {
  return { error: { code: 'arguments', message: 'these are too many arguments at once; give them in parts' } };
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let byteCount = 0;
  for await (const part of request) {
    byteCount += part.length;
    if (byteCount > BODY_BYTES_MAX) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
