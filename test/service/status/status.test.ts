import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { item, minutes, openPosting, type Posting } from '../operations/posted.js';

let posting: Posting;
beforeAll(async () => {
  posting = await openPosting();
  await posting.write([minutes('room', 60, (i) => i)]);
});
afterAll(() => posting.close());

const twice = (output: string) => [item('Mul', { scalar: 2 }, ['room'], output)];

const FIELDS = [
  'id',
  'enqueuedTimestamp',
  'receivedTimestamp',
  'messageType',
  'requestAction',
  'state',
  'requestObject',
  'transactionIDList',
  'payload',
  'retryCount',
  'message',
  'sender',
  'recipient',
  'correlationId',
  'timeout',
  'topic',
];

describe('2.3, 4.2: a transaction', () => {
  it('has all sixteen fields, in order and with their types, for a request and for an item', async () => {
    const headers = { 'x-correlation-id': 'trace-1' };
    const { body } = await posting.call('POST', '/operations', twice('fields'), headers);
    await posting.service.service.worker.onIdle();
    const { id, transactionIDList } = body.data as { id: string; transactionIDList: string[] };
    for (const one of [id, ...transactionIDList]) {
      const { statusCode, body: answer } = await posting.call('GET', `/core/status/${one}`);
      expect(statusCode).toBe(200);
      expect(answer.status).toEqual({ message: '', code: '200' });
      expect(Object.keys(answer)).toEqual(['status', 'data']);
      expect(Object.keys(answer.data)).toEqual(FIELDS);
      expect(answer.data).toEqual({
        id: one,
        enqueuedTimestamp: '2026-01-01T00:00:00.000+00:00',
        receivedTimestamp: '2026-01-01T00:00:00.000+00:00',
        messageType: expect.any(String),
        requestAction: 'Create',
        state: 'Active',
        requestObject: expect.any(String),
        transactionIDList: one === id ? transactionIDList : [id],
        payload: {
          Id: expect.any(String),
          TimeseriesId: 'fields',
          OrgId: 'acme',
          TimeseriesType: 'Result',
          status: 'Active',
        },
        retryCount: 0,
        message: null,
        sender: expect.stringMatching(/^client-/),
        recipient: 'windrow',
        correlationId: 'trace-1',
        timeout: 0,
        topic: null,
      });
    }
  });

  it('3: is Created before anything is done', async () => {
    const { body } = await posting.call('POST', '/operations', twice('new'));
    expect(body.data).toMatchObject({ state: 'Created', payload: { status: 'Created' } });
  });

  it.each(['core_read', 'core_write', 'core_admin'])('is visible with the scope %s', async (scope) => {
    const { id } = await posting.run(twice(`for ${scope}`));
    const client = await posting.service.addClient({ organisation: 'acme' });
    const headers = await posting.service.bearer(client, scope);
    expect((await posting.call('GET', `/core/status/${id}`, undefined, headers)).statusCode).toBe(200);
  });

  it('7.2: is 403 without any of these scopes, and names them', async () => {
    const client = await posting.service.addClient({ organisation: 'acme' });
    const headers = await posting.service.bearer(client, 'read');
    const answer = await posting.call('GET', '/core/status/any', undefined, headers);
    expect([answer.statusCode, answer.body.status.code]).toEqual([403, '403']);
    expect(answer.headers['www-authenticate']).toContain('insufficient_scope');
  });

  it('7.2: is 404 if unknown or of another organisation', async () => {
    const { id } = await posting.run(twice('private'));
    const other = await posting.service.addClient({ organisation: 'other' });
    const headers = await posting.service.bearer(other);
    for (const answer of [
      await posting.call('GET', '/core/status/unknown'),
      await posting.call('GET', `/core/status/${id}`, undefined, headers),
    ]) {
      expect([answer.statusCode, answer.body.status.code]).toEqual([404, '404']);
    }
  });

  it('is 401 without a token', async () => {
    const answer = await posting.service.app.inject({ url: '/core/status/x' });
    expect(answer.statusCode).toBe(401);
  });
});

describe('4.2 without an id: the latest transactions of the caller', () => {
  it.each(['/core/status', '/core/status/'])('%s lists requests, newest first, in pages', async (url) => {
    const client = await posting.service.addClient({ organisation: 'acme' });
    const headers = await posting.service.bearer(client);
    const ids: string[] = [];
    for (let k = 0; k < 5; k++) {
      const { body } = await posting.call('POST', '/operations', twice(`${url} ${k}`), headers);
      ids.unshift((body.data as { id: string }).id);
    }
    const found: string[] = [];
    let continuationtoken: string | null = null;
    do {
      const more = { ...headers, pagesize: '2', ...(continuationtoken === null ? {} : { continuationtoken }) };
      const { statusCode, body } = await posting.call('GET', url, undefined, more);
      expect(statusCode).toBe(200);
      const page = body.data as { id: string }[];
      expect(Object.keys(page[0]!)).toEqual(FIELDS);
      found.push(...page.map(({ id }) => id));
      continuationtoken = body.paging.continuationToken;
    } while (continuationtoken !== null);
    expect(found).toEqual(ids);
  });

  it('a continuation token of another caller is 400', async () => {
    const [one, two] = await Promise.all(
      ['acme', 'acme'].map(async (organisation) =>
        posting.service.bearer(await posting.service.addClient({ organisation })),
      ),
    );
    for (let k = 0; k < 2; k++) await posting.call('POST', '/operations', twice(`mine ${k}`), one);
    const { body } = await posting.call('GET', '/core/status', undefined, { ...one, pagesize: '1' });
    const continuationtoken = body.paging.continuationToken;
    const stolen = await posting.call('GET', '/core/status', undefined, { ...two, continuationtoken });
    expect(stolen.statusCode).toBe(400);
  });

  it.each(['0', '1001', 'many'])('PageSize %s is 400', async (pagesize) => {
    expect((await posting.call('GET', '/core/status', undefined, { pagesize })).statusCode).toBe(400);
  });
});
