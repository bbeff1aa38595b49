/** What answers are wrapped in outside the token endpoint (interface 2.2). */
export interface Envelope<Data> {
  /** `message` is empty on success; `code` is the HTTP status as three digits. */
  readonly status: { readonly message: string; readonly code: string };
  readonly data: Data;
}

/** An answer that is a page of a list. */
export interface PagedEnvelope<Data> extends Envelope<Data> {
  readonly paging: Paging;
}

export interface Paging {
  /** How many there are on all pages together, where that is counted. */
  readonly totalCount?: number;
  /** For the header `continuationToken` of the next request; null on the last page. */
  readonly continuationToken: string | null;
}

export function envelope<Data>(data: Data, statusCode = 200): Envelope<Data> {
  return { status: { message: '', code: String(statusCode) }, data };
}

export function pagedEnvelope<Data>(data: Data, paging: Paging): PagedEnvelope<Data> {
  return { ...envelope(data), paging };
}

export function errorEnvelope(statusCode: number, message: string, details: unknown): Envelope<unknown> {
  return { status: { message, code: String(statusCode) }, data: details };
}
