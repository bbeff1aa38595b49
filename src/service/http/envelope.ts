import { Type } from 'typebox';

export interface Paging {
  /** The total over all pages, if it is counted. */
  readonly totalCount?: number;
  /** For the header `continuationToken` of the next request; null on the last page. */
  readonly continuationToken: string | null;
}

/** Wraps answers outside the token endpoint (interface 2.2); `message` is empty on success. */
export function envelope<Data>(data: Data, statusCode = 200) {
  return { status: { message: '', code: String(statusCode) }, data };
}

export function pagedEnvelope<Data>(data: Data, paging: Paging) {
  return { ...envelope(data), paging };
}

export function errorEnvelope(statusCode: number, message: string, details: unknown) {
  return { status: { message, code: String(statusCode) }, data: details };
}

/** The text around the records of a page that are written as text. */
export function aroundRecords(paging: Paging): readonly [head: string, tail: string] {
  const { status } = envelope([]);
  return [`{"status":${JSON.stringify(status)},"data":[`, `],"paging":${JSON.stringify(paging)}}`];
}

/** One of some names, in the form that client generators handle best. */
export function oneOf<Name extends string = string>(names: readonly NoInfer<Name>[], description?: string) {
  const options = description === undefined ? {} : { description };
  return Type.Unsafe<Name>({ type: 'string', enum: [...names], ...options });
}

/**
 * A value of one type, or null, for documents and answers. It is no choice of two schemas, whose null converters to
 * OpenAPI 3.0 lose.
 */
export function orNull<Schema extends Type.TSchema & { readonly type: string }>(schema: Schema) {
  return Type.Unsafe<Type.Static<Schema> | null>({ ...schema, type: [schema.type, 'null'] });
}

export const textOrNull = (description?: string) =>
  orNull(Type.String(description === undefined ? {} : { description }));

export const statusSchema = Type.Object(
  {
    message: Type.String({ description: 'Empty' }),
    code: Type.String({ description: 'The HTTP status as three digits' }),
  },
  { title: 'Status' },
);

export function envelopeSchema<Data extends Type.TSchema>(data: Data) {
  return Type.Object({ status: statusSchema, data });
}

/** @param more what `paging` has besides the token. */
export function pageSchema<Entry extends Type.TSchema>(entry: Entry, more: Type.TProperties = {}) {
  return Type.Object({
    status: statusSchema,
    data: Type.Array(entry),
    paging: Type.Object({
      ...more,
      continuationToken: textOrNull('For the header of the next request; null on the last page'),
    }),
  });
}

/** Documentation only: `pageSizeOf` and `continuationTokenOf` read them, under Node's lower-case names. */
export const pageHeaders = {
  continuationToken: Type.Optional(Type.String({ description: 'paging.continuationToken of the page before' })),
  PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
};
