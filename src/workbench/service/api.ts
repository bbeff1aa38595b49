import { RequestError, type Series, type SeriesReference } from '../../index.js';
import { isObject } from '../request/draft.js';
import { readFrames } from './frames.js';

/** A series that the service stores. */
export interface StoredSeries extends SeriesReference {
  readonly sampleCount: number;
  readonly firstTimestamp: string | null;
  readonly lastTimestamp: string | null;
}

export interface Transaction {
  readonly id: string;
  readonly state: string;
  readonly message: string | null;
  readonly transactionIDList: readonly string[];
  readonly receivedTimestamp: string;
  readonly payload: { readonly TimeseriesId?: string | null; readonly TimeseriesType?: string | null };
}

export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly next: string | null;
  readonly totalCount: number | undefined;
}

export interface SignIn {
  readonly clientId: string;
  readonly clientSecret: string;
  /** For a user who signs in through the client. */
  readonly username: string;
  readonly password: string;
}

/** An answer of the service that is an error. */
export class ServiceProblem extends Error {
  readonly statusCode: number;
  /** The code of an error of the token endpoint. */
  readonly code: string | undefined;

  /** @param message has a line for each problem of a request, after the first. */
  constructor(statusCode: number, message: string, code?: string) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return this.statusCode === NO_ANSWER || this.statusCode === 429 || this.statusCode > 500;
  }
}

/** Instead of a status code, if the service could not be reached. */
const NO_ANSWER = 0;

/** The service that the page came from; the token is kept only here. */
export class ServiceClient {
  readonly #token: string;
  /** Whether the token lets it store samples and run pipelines. */
  readonly mayWrite: boolean;
  /** Whether it was signed out: what is under way then asks for nothing more. */
  isEnded = false;

  private constructor(token: string, mayWrite: boolean) {
    this.#token = token;
    this.mayWrite = mayWrite;
  }

  /** Asks for a token that may read and write or, if the client may not write, for one that may read. */
  static async signIn(how: SignIn): Promise<ServiceClient> {
    try {
      return await ServiceClient.#signInFor('core_read core_write', how);
    } catch (problem) {
      if (!(problem instanceof ServiceProblem && problem.code === 'invalid_scope')) throw problem;
      return ServiceClient.#signInFor('core_read', how);
    }
  }

  static async #signInFor(
    scope: string,
    { clientId, clientSecret, username, password }: SignIn,
  ): Promise<ServiceClient> {
    const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+');
    const grant =
      username === '' ? { grant_type: 'client_credentials' } : { grant_type: 'password', username, password };
    const answer = await reach('idm/ims/connect/token', {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${encoded(clientId)}:${encoded(clientSecret)}`)}` },
      body: new URLSearchParams({ ...grant, scope }),
    });
    const text = await answer.text();
    const { access_token: token, error, error_description: why } = fieldsOf(text);
    if (answer.ok && typeof token === 'string') return new ServiceClient(token, scope.includes('core_write'));
    throw error === undefined
      ? problemOf(answer.status, text)
      : new ServiceProblem(answer.status, `${String(error)}: ${String(why)}`, String(error));
  }

  async listSeries(after: string | null): Promise<Page<StoredSeries>> {
    type Group = { readonly timeseriesId: string; readonly metrics: readonly Omit<StoredSeries, 'timeseriesId'>[] };
    const page = await this.#page<Group>('core/timeseries', after, 50);
    const entries = page.entries.flatMap(({ timeseriesId, metrics }) =>
      metrics.map((one) => ({ ...one, timeseriesId })),
    );
    return { ...page, entries };
  }

  /** All samples of a range; a bound of '' does not limit it. */
  async samples({ timeseriesId, metric }: SeriesReference, startTime: string, endTime: string): Promise<Series> {
    const query = new URLSearchParams({ metric });
    if (startTime !== '') query.set('startTime', startTime);
    if (endTime !== '') query.set('endTime', endTime);
    const path = `core/timeseries/${encodeURIComponent(timeseriesId)}/samples?${query}`;
    const answer = await this.#send(path, { headers: { accept: 'application/vnd.windrow.columns' } });
    return readFrames({ timeseriesId, metric }, await whole(answer.arrayBuffer()));
  }

  /** The bytes of server-sent events of a series. */
  async follow({ timeseriesId, metric }: SeriesReference, lastEventId: string, signal: AbortSignal): Promise<Response> {
    const path = `core/timeseries/${encodeURIComponent(timeseriesId)}/live?${new URLSearchParams({ metric })}`;
    const headers = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    return this.#send(path, { headers, signal });
  }

  async dryRun(
    request: readonly object[],
  ): Promise<{ readonly explain: string; readonly items: readonly DryRunItem[] }> {
    return this.#data('operations?dryRun=true', { method: 'POST', body: JSON.stringify(request) });
  }

  /** Stores a frame of samples. */
  async write(
    frame: Uint8Array<ArrayBuffer>,
    signal: AbortSignal,
  ): Promise<{ readonly missing: number; readonly duplicate: number }> {
    const type = 'application/vnd.windrow.columns';
    return this.#data('core/samples', { method: 'POST', body: frame, signal }, type);
  }

  async submit(request: readonly object[]): Promise<Transaction> {
    return this.#data('operations', { method: 'POST', body: JSON.stringify(request) });
  }

  async transaction(id: string): Promise<Transaction> {
    return this.#data(`core/status/${encodeURIComponent(id)}`);
  }

  listTransactions(after: string | null): Promise<Page<Transaction>> {
    return this.#page('core/status', after, 10);
  }

  /** Events of a collection; `clauses` are OData clauses. */
  events(
    collection: string,
    clauses: Readonly<Record<string, string>>,
    after: string | null,
    pageSize: number,
  ): Promise<Page<Readonly<Record<string, unknown>>>> {
    const given = Object.entries(clauses).filter(([, text]) => text !== '');
    const query = new URLSearchParams(given).toString();
    return this.#page(`core/events${query === '' ? '' : `?${query}`}`, after, pageSize, { ercollectionid: collection });
  }

  async #page<Entry>(path: string, after: string | null, pageSize: number, more: object = {}): Promise<Page<Entry>> {
    const headers = { PageSize: String(pageSize), ...(after === null ? {} : { continuationToken: after }), ...more };
    const answer = await this.#send(path, { headers });
    if (answer.status === 204) return { entries: [], next: null, totalCount: 0 };
    // The form of the service's own answers (docs/service.md).
    const { data, paging } = (await whole(answer.json())) as {
      data: readonly Entry[];
      paging: { continuationToken: string | null; totalCount?: number };
    };
    return { entries: data, next: paging.continuationToken, totalCount: paging.totalCount };
  }

  async #data<Data>(path: string, init: RequestInit = {}, type = 'application/json'): Promise<Data> {
    const headers = init.body === undefined ? {} : { 'content-type': type };
    const answer = await this.#send(path, { ...init, headers });
    // The form of the service's own answers (docs/service.md).
    return ((await whole(answer.json())) as { data: Data }).data;
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    if (this.isEnded) throw new Error('signed out');
    const headers = { ...init.headers, authorization: `Bearer ${this.#token}` };
    const answer = await reach(path, { ...init, headers });
    // A page is what a proxy answers, such as one that asks for a sign-in of its own.
    if (answer.ok && !answer.headers.get('content-type')?.includes('html')) return answer;
    throw problemOf(answer.status, await answer.text());
  }
}

export interface DryRunItem extends SeriesReference {
  readonly replaces: string | null;
  /** For a pattern: how many series match it now. */
  readonly members: number | null;
  readonly costs: {
    readonly sources: readonly StoredSeries[];
    readonly samplesRead: number;
    readonly samplesExpected: number;
  };
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: 'omit', cache: 'no-store' });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ServiceProblem(NO_ANSWER, 'The service does not answer. Is it running, and are you online?');
  }
}

/** The body of an answer, which may break off. */
async function whole<Body>(body: Promise<Body>): Promise<Body> {
  try {
    return await body;
  } catch {
    throw new ServiceProblem(NO_ANSWER, 'The answer broke off: try again.');
  }
}

function problemOf(statusCode: number, text: string): ServiceProblem {
  const { status, data } = fieldsOf(text);
  const message = isObject(status) ? String(status.message) : `the service answered ${statusCode}`;
  // The message has only the first of many problems of a request; the page shows all of them.
  const { issues } = Object(data);
  const isOfRequest = issues?.[0]?.code !== undefined;
  return new ServiceProblem(statusCode, isOfRequest ? new RequestError(issues).message : message);
}

/** The fields of an answer; none if a proxy answered instead of the service. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
