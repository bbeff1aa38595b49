import type { FastifyRequest } from 'fastify';

/** The types of bodies, as Content-Type and Accept name them. */
export const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';
export const CSV_TYPE = 'text/csv';
export const COLUMNS_TYPE = 'application/vnd.windrow.columns';

export const BODY_TYPES = [JSON_TYPE, NDJSON_TYPE, CSV_TYPE, COLUMNS_TYPE] as const;

/** The type of a request's body, without parameters and in lower case; '' if it says none. */
export function contentTypeOf({ headers }: Pick<FastifyRequest, 'headers'>): string {
  return (headers['content-type'] ?? '').replace(/;.*$/s, '').trim().toLowerCase();
}
