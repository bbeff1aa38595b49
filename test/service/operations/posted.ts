import { runBatch, type Series, type SeriesReference } from '../../../src/index.js';
import { readOperations } from '../../../src/service/operations/request.js';
import type { SampleChange } from '../../../src/storage/samples/samples.js';
import { openTestService, type TestService, type TestServiceOptions } from '../app.js';

/** A service with one client, and the calls that tests of operations make. */
export interface Posting {
  readonly service: TestService;
  readonly headers: { authorization: string };
  /** A request of the client; the body of the response is JSON. */
  call(method: 'GET' | 'POST' | 'DELETE', url: string, body?: unknown, headers?: object): Promise<Answer>;
  write(series: readonly Series[]): Promise<void>;
  /** Posts a request and waits until its work is done; returns the transaction. */
  run(request: unknown): Promise<Record<string, unknown>>;
  stored(reference: SeriesReference): Promise<Series>;
  /** The expected results of a request: one batch over the stored samples. */
  expected(request: unknown): Promise<readonly Series[]>;
  close(): Promise<void>;
}

export interface Answer {
  readonly statusCode: number;
  readonly body: {
    status: { code: string; message: string };
    data: never;
    paging: { continuationToken: string | null };
  };
  readonly headers: Readonly<Record<string, unknown>>;
}

export async function openPosting(
  options: TestServiceOptions = {},
  organisation = 'acme',
  groups?: number,
): Promise<Posting> {
  const service = await openTestService(options);
  const client = await service.addClient({ organisation, ...(groups === undefined ? {} : { groups }) });
  const headers = await service.bearer(client);
  const call: Posting['call'] = async (method, url, body, more = {}) => {
    const answer = await service.app.inject({
      method,
      url,
      headers: { ...headers, ...more },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    return {
      statusCode: answer.statusCode,
      body: answer.json(),
      headers: answer.headers,
    };
  };
  const stored = async (reference: SeriesReference): Promise<Series> => {
    const { storage, samples, placements } = service.service.context;
    const shard = (await placements.of(organisation)).shardOf(reference.timeseriesId);
    const columns = await storage.read(shard, (tx) => samples.read(tx, organisation, reference));
    return { ...reference, ...columns };
  };
  return {
    service,
    headers,
    call,
    stored,
    write: async (series) => {
      for (const { timeseriesId, metric, timeMs, value } of series) {
        const body = Array.from(timeMs, (t, i) => ({
          timeseriesId,
          metric,
          timestamp: new Date(t).toISOString(),
          val: value[i]!,
        }));
        const { statusCode } = await call('POST', '/core/samples', body);
        if (statusCode !== 200) throw new Error(`the samples were not taken: ${statusCode}`);
      }
    },
    run: async (request) => {
      const { statusCode, body } = await call('POST', '/operations', request);
      if (statusCode !== 202) throw new Error(JSON.stringify(body));
      await service.service.worker.onIdle();
      const { id } = body.data as { id: string };
      return (await call('GET', `/core/status/${id}`)).body.data;
    },
    expected: async (request) => {
      const { plan } = await readOperations(request);
      return runBatch(plan, await Promise.all(plan.sources.map(stored))).series;
    },
    close: () => service.close(),
  };
}

/** A series with a sample a minute and distinct values. */
export function minutes(timeseriesId: string, count: number, of: (i: number) => number, startMs = START_MS): Series {
  const timeMs = Float64Array.from({ length: count }, (_, i) => startMs + i * 60_000);
  return { timeseriesId, metric: 'Raw', timeMs, value: timeMs.map((_, i) => of(i)) };
}

/** Where the samples of tests start: a day before the clock of the test service. */
export const START_MS = Date.UTC(2025, 11, 31);

export function change(series: Series, from: number, to: number): SampleChange {
  return { ...series, timeMs: series.timeMs.slice(from, to), value: series.value.slice(from, to) };
}

/** An item of one step. */
export function item(
  operation: string,
  parameters: object,
  inputs: readonly string[],
  output: string,
  more: object = { processingType: 'stream' },
) {
  const input = inputs.map((timeseriesId) => ({ timeseriesId, metric: 'Raw' }));
  return {
    metric: 'Result',
    ...more,
    operations: [{ operation, input, output: [{ timeseriesId: output, metric: 'Result' }], parameters }],
  };
}
