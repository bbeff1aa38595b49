import { createAdministration } from '../../../src/service/identity/administration.js';
import { openTestService, type TestService, type TestServiceOptions } from '../app.js';
import type { PostedEvent } from './posted.js';

/** A response of the service. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload: string;
  readonly body: AnswerBody;
}

/** The fields of bodies; a response without a body has none of them. */
interface AnswerBody {
  readonly status: { readonly message: string; readonly code: string };
  readonly data: readonly PostedEvent[];
  readonly paging: { readonly totalCount?: number; readonly continuationToken: string | null };
}

/** A client of an organisation; its requests carry its token. */
export interface Caller {
  readonly clientId: string;
  readonly organisation: string;
  list(collection: string, query?: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  post(collection: string, events: unknown): Promise<Answer>;
  send(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    headers?: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Answer>;
}

export interface OpenedEvents {
  readonly service: TestService;
  addCaller(organisation?: string, scope?: string): Promise<Caller>;
  /** Creates the collection and gives the callers access. */
  addCollection(collection: string, ...callers: readonly Caller[]): Promise<void>;
  removeAccess(collection: string, caller: Caller): Promise<void>;
}

/** The service with callers for events. */
export async function openEvents(options?: TestServiceOptions): Promise<OpenedEvents> {
  const service = await openTestService(options);
  return {
    service,
    addCaller: async (organisation = 'acme', scope) => {
      const client = await service.addClient({ organisation });
      return createCaller(service, organisation, client.clientId, await service.bearer(client, scope));
    },
    addCollection: async (collectionId, ...callers) => {
      const organisation = callers[0]?.organisation ?? 'acme';
      const clientIds = callers.map(({ clientId }) => clientId);
      await createAdministration(service.service.context).addCollection({ organisation, collectionId, clientIds });
    },
    removeAccess: async (collectionId, { organisation, clientId }) => {
      const administration = createAdministration(service.service.context);
      await administration.removeCollection({ organisation, collectionId, clientIds: [clientId] });
    },
  };
}

function createCaller(
  service: TestService,
  organisation: string,
  clientId: string,
  bearer: Readonly<Record<string, string>>,
): Caller {
  const send: Caller['send'] = async (method, url, headers = {}, body) => {
    const sent = { method, url, headers: { ...bearer, ...headers } };
    const response = await service.app.inject(body === undefined ? sent : { ...sent, payload: body });
    const { statusCode, payload } = response;
    return {
      statusCode,
      headers: response.headers,
      payload,
      body: (payload === '' ? {} : response.json()) as AnswerBody, // `as`: tests check the actual shape
    };
  };
  return {
    clientId,
    organisation,
    send,
    list: (collection, query = '', headers = {}) =>
      send('GET', `/core/events${query === '' ? '' : `?${query}`}`, { ercollectionid: collection, ...headers }),
    post: (collection, events) =>
      send(
        'POST',
        '/core/events',
        { ercollectionid: collection, 'content-type': 'application/json' },
        JSON.stringify(events),
      ),
  };
}

/** All pages of a query, requested with `pageSize`; `between` runs before each page except the first. */
export async function listAll(
  caller: Caller,
  collection: string,
  query: string,
  pageSize: () => number,
  between: () => Promise<void> = async () => {},
): Promise<Answer[]> {
  const pages: Answer[] = [];
  let token: string | null = null;
  do {
    const headers: Record<string, string> = { pagesize: String(pageSize()) };
    if (token !== null) {
      await between();
      headers.continuationtoken = token;
    }
    const page = await caller.list(collection, query, headers);
    pages.push(page);
    token = page.statusCode === 200 ? page.body.paging.continuationToken : null;
  } while (token !== null);
  return pages;
}
