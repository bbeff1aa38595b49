import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceContext } from '../context.js';
import { badRequest, keepConnection, logFailure, notFound } from '../http/errors.js';
import { headerValues } from '../identity/authorize.js';
import type { Sender } from './authentication.js';
import { errorBody, FORM_BYTES_MAX, OAuthError, oauthErrorFrom } from './errors.js';
import { checkFormHeaders, type Form, parseForm } from './form.js';
import type { Issuer } from './issue.js';
import { introspect, revoke } from './management.js';
import { baseUrlOf, CONNECT_PATH, describeServer, WELL_KNOWN_PATH } from './metadata.js';
import { introspectSchema, metadataSchema, revokeSchema, tokenSchema } from './schemas.js';
import type { Authenticator } from './tokens.js';

export interface TokenServices {
  readonly issuer: Issuer;
  readonly authenticator: Authenticator;
}

/** The token endpoint (interface 4.1, 5, 7.1), revocation, introspection, and the metadata that names them. */
export function registerToken(app: FastifyInstance, context: ServiceContext, services: TokenServices): void {
  app.get(WELL_KNOWN_PATH, { schema: metadataSchema }, async (request, reply) =>
    answerMetadata(app, context, request, reply),
  );
  // RFC 8414, section 3.1: the path of the issuer's URL follows the well-known one.
  app.get(`${WELL_KNOWN_PATH}/*`, { schema: { ...metadataSchema, hide: true } }, async (request, reply) =>
    answerMetadata(app, context, request, reply),
  );
  // A separate Fastify scope: here bodies are forms, and errors are those of RFC 6749 (interface 2.1, 7.1).
  void app.register(async (scope) => addConnect(scope, context, services));
}

async function addConnect(
  scope: FastifyInstance,
  context: ServiceContext,
  { issuer, authenticator }: TokenServices,
): Promise<void> {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer', bodyLimit: FORM_BYTES_MAX },
    async ({ headers }: FastifyRequest, body: string | Buffer) => {
      checkFormHeaders(headers['content-type'], headers['content-encoding']);
      return parseForm(Buffer.from(body));
    },
  );
  // The schemas are documentation only: our own checks answer with the errors of RFC 6749.
  scope.setValidatorCompiler(() => () => true);
  scope.setErrorHandler((error: FastifyError, request, reply) => answerError(error, request, reply));
  scope.addHook('onRequest', async (_request, reply) => {
    forbidStoring(reply);
  });

  addEndpoint(scope, 'token', tokenSchema, async (sender, form) => {
    const response = await issuer.issue(sender, form);
    context.metrics.tokensIssued.inc();
    return response;
  });
  addEndpoint(scope, 'revoke', revokeSchema, async (sender, form) => {
    await revoke(context, sender, form);
    // Clients ignore the body (RFC 7009, 2.2), but some insist on JSON.
    return {};
  });
  addEndpoint(scope, 'introspect', introspectSchema, (sender, form) =>
    introspect(context, authenticator, sender, form),
  );
}

function addEndpoint(
  scope: FastifyInstance,
  name: string,
  schema: object,
  answer: (sender: Sender, form: Form) => Promise<object>,
): void {
  const url = `${CONNECT_PATH}/${name}`;
  scope.post(url, { schema }, async (request) => {
    // Without a body it is undefined: a form without parameters.
    const form = request.body instanceof Map ? request.body : new Map();
    return answer(senderOf(request), form);
  });
  scope.route({
    method: scope.supportedMethods.filter((method) => method !== 'POST'),
    url,
    exposeHeadRoute: false,
    schema: { hide: true },
    handler: async () => {
      throw new OAuthError('invalid_request', `${url} accepts only POST`, 405, { allow: 'POST' });
    },
  });
}

function senderOf(request: FastifyRequest): Sender {
  return { authorization: headerValues(request, 'authorization'), address: request.ip };
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = oauthErrorFrom(error, request.headers['content-type']);
  if (answer.statusCode >= 500) logFailure(error, answer.statusCode, request);
  else request.log.info({ error: answer.error, address: request.ip }, 'token request refused');
  // A hook of the app may have ended the request before this scope's hook ran.
  forbidStoring(reply);
  keepConnection(reply);
  return reply
    .code(answer.statusCode)
    .headers(answer.headers)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(answer));
}

function forbidStoring(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
}

async function answerMetadata(
  app: FastifyInstance,
  { settings }: ServiceContext,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const baseUrl = baseUrlOf(settings.publicUrl, request.protocol, request.host, app.prefix);
  if (baseUrl === undefined) throw badRequest('header Host: expected a host name, with a port if needed');
  // Typed by the route's wildcard alone.
  const path = (request.params as { '*'?: string })['*'] ?? '';
  const issuer = issuerAt(baseUrl, path.replace(/\/+$/, ''));
  if (issuer === undefined) throw notFound(`no issuer has this path; the issuer is ${baseUrl}`);
  // The answer repeats the caller's Host header, so shared caches must not store it.
  if (settings.publicUrl === '') reply.header('cache-control', 'no-store');
  return describeServer(issuer, baseUrl);
}

// The issuer is the service. Clients that know only the folder of the token endpoint may use that as well.
function issuerAt(baseUrl: string, path: string): string | undefined {
  const ownPath = new URL(baseUrl).pathname.replace(/^\/|\/$/g, '');
  if (path === '' || path === ownPath) return baseUrl;
  const connectUrl = `${baseUrl}${CONNECT_PATH}`;
  return path === new URL(connectUrl).pathname.slice(1) ? connectUrl : undefined;
}
