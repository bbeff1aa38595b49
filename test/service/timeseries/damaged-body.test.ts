import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceContext } from '../../../src/service/context.js';
import { ServiceError } from '../../../src/service/http/errors.js';
import { defaultSettings } from '../../../src/service/settings.js';
import { addStreamedBodies, partsOf, type StreamedBody } from '../../../src/service/timeseries/write/bodies.js';
import { readWhole } from '../../../src/service/timeseries/write/read-whole.js';

/** Reads a body only after waiting for something else, like a handler that asks the store first. */
async function readLate(body: StreamedBody, isWhole: boolean): Promise<number> {
  while (body.stream.errored === null) await new Promise((resolve) => setImmediate(resolve));
  if (isWhole) return (await readWhole(body, 1000)).byteCount;
  let length = 0;
  for await (const part of partsOf(body)) length += part.length;
  return length;
}

describe('a compressed body that fails before anybody reads it', () => {
  let app: FastifyInstance;
  beforeAll(async () => {
    app = fastify();
    // `as`: all of the context that bodies use
    addStreamedBodies(app, { settings: defaultSettings, clock: { monotonicMs: () => 0 } } as unknown as ServiceContext);
    app.post<{ Params: { form: string } }>('/:form', async ({ body, params }, reply) => {
      try {
        return await readLate(body as StreamedBody, params.form === 'whole');
      } catch (error) {
        return reply.code(error instanceof ServiceError ? error.statusCode : 500).send(String(error));
      }
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => app.close());

  it.each(['whole', 'parts'])('is reported as damaged, and does no other harm: %s', async (form) => {
    const answer = await fetch(`${app.listeningOrigin}/${form}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', 'content-encoding': 'gzip' },
      body: 'no gzip',
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('the body is not whole gzip')]);
  });
});
