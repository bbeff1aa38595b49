import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { formatDuration, parseDuration } from '../../core/duration.js';
import { describeValue } from '../../core/errors.js';
import type { RetentionRow } from '../../storage/tables/samples.js';
import { envelope, envelopeSchema } from '../http/envelope.js';
import { badRequest, notFound, type ServiceError } from '../http/errors.js';
import { type RouteParts, security } from '../http/route.js';
import { isKeep, KEEP } from '../identity/keep.js';
import { principalOf } from '../identity/principal.js';
import {
  listRetention,
  type RetentionScope,
  removeRetention,
  scopeNameProblem,
  setRetention,
} from '../identity/retention.js';

const name = (of: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: `Only this ${of}; all if left out` }));
const scope = {
  kind: Type.Optional(
    Type.Union([Type.Literal('samples'), Type.Literal('results')], {
      description: 'samples (default): what clients write; results: what items compute',
    }),
  ),
  timeseriesId: name('series'),
  metric: name('metric'),
};
const scopeQuery = Type.Object(scope, { additionalProperties: false });
const rule = Type.Object(
  { ...scope, keep: Type.String({ description: 'How long: an ISO 8601 duration such as P90D' }) },
  { title: 'RetentionRule', additionalProperties: false },
);
const noQuery = Type.Object({}, { additionalProperties: false });
const tags = ['Time series'];

/** The retention rules of the caller's organisation. */
export function registerRetention(app: FastifyInstance, { context, authorize }: RouteParts): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>();
  const answer = { response: { 200: envelopeSchema(rule) }, tags, security };
  routes.get(
    '/core/retention',
    {
      onRequest: authorize('core_read', 'core_admin'),
      schema: {
        summary: 'How long samples and results are kept',
        description: 'The most specific rule that fits a series applies; without a rule, samples are kept for ever.',
        tags,
        security,
        querystring: noQuery,
        response: { 200: envelopeSchema(Type.Array(rule)) },
      },
    },
    async (request) => {
      const { organisation } = principalOf(request);
      return envelope((await listRetention(context, { organisation })).map(recordOf));
    },
  );
  routes.post(
    '/core/retention',
    {
      onRequest: authorize('core_admin'),
      schema: {
        ...answer,
        querystring: noQuery,
        summary: 'Set how long samples or results are kept',
        description:
          'Replaces the rule with the same scope. Older samples are deleted in rounds: at the latest in the first ' +
          'round after they are an eighth older than that. Results of deleted samples stay until a rule for results ' +
          'deletes them.',
        body: rule,
      },
    },
    async (request) => {
      const { keep } = request.body;
      const keepMs = parseDuration(keep);
      if (keepMs === undefined || !isKeep(keepMs)) throw refusal('keep', KEEP, keep);
      const of = scopeOf(principalOf(request).organisation, request.body);
      for (const field of ['timeseriesId', 'metric'] as const) {
        const problem = scopeNameProblem(of[field]);
        if (problem !== undefined) throw refusal(field, problem, of[field]);
      }
      const set = { ...of, keepMs };
      await setRetention(context, set);
      return envelope(recordOf(set));
    },
  );
  routes.delete(
    '/core/retention',
    {
      onRequest: authorize('core_admin'),
      schema: {
        ...answer,
        summary: 'Remove a retention rule',
        description: 'Returns the removed rule.',
        querystring: scopeQuery,
      },
    },
    async (request) => {
      const of = scopeOf(principalOf(request).organisation, request.query);
      const removed = await removeRetention(context, of);
      if (removed === undefined) throw notFound('there is no such rule; GET /core/retention lists the rules');
      return envelope(recordOf(removed));
    },
  );
}

function refusal(field: keyof Static<typeof rule>, expected: string, given: string): ServiceError {
  const issue = { place: 'body', pointer: `/${field}`, expected, received: describeValue(given) };
  return badRequest(`body ${field}: expected ${expected}, received ${issue.received}`, { issues: [issue] });
}

function scopeOf(organisation: string, given: Static<typeof scopeQuery>): RetentionScope {
  const { kind = 'samples', timeseriesId = '', metric = '' } = given;
  return { organisation, kind, timeseriesId, metric };
}

function recordOf({ kind, timeseriesId, metric, keepMs }: Pick<RetentionRow, keyof RetentionScope | 'keepMs'>) {
  return {
    // Only these two are ever stored.
    kind: kind === 'results' ? ('results' as const) : ('samples' as const),
    ...(timeseriesId === '' ? {} : { timeseriesId }),
    ...(metric === '' ? {} : { metric }),
    keep: formatDuration(keepMs),
  };
}
