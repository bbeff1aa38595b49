import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceContext } from '../context.js';
import { badRequest, noteFailure, notFound } from '../http/errors.js';
import { headerValues } from '../identity/authorize.js';
import type { Sender } from './authentication.js';
import { errorBody, OAuthError, oauthErrorFrom } from './errors.js';
import { checkFormHeaders, type Form, parseForm } from './form.js';
import type { Issuer } from './issue.js';
import { introspect, revoke } from './management.js';
import { baseUrlOf, CONNECT_PATH, describeServer, WELL_KNOWN_PATH } from './metadata.js';
import { introspectSchema, metadataSchema, revokeSchema, tokenSchema } from './schemas.js';
import type { Authenticator } from './tokens.js';

const BODY_BYTES_MAX = 64 * 1024;

export interface TokenServices {
  readonly issuer: Issuer;
  readonly authenticator: Authenticator;
}

/** The token endpoint (interface 4.1, 5, 7.1), revocation, introspection, and the metadata that names them. */
export function registerToken(app: FastifyInstance, context: ServiceContext, services: TokenServices): void {
  app.get(WELL_KNOWN_PATH, { schema: metadataSchema }, async (request, reply) =>
    answerMetadata(app, context, request, reply),
  );
  // The path of an issuer that has one stands behind (RFC 8414, section 3.1).
  app.get(`${WELL_KNOWN_PATH}/*`, { schema: { ...metadataSchema, hide: true } }, async (request, reply) =>
    answerMetadata(app, context, request, reply),
  );
  // A scope of its own: here bodies are forms, and errors are those of RFC 6749 (interface 2.1, 7.1).
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
    { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX },
    async ({ headers }: FastifyRequest, body: string | Buffer) => {
      checkFormHeaders(headers['content-type'], headers['content-encoding']);
      return parseForm(Buffer.from(body));
    },
  );
  // The schemas are for the documentation: the forms are checked by hand, with the errors of RFC 6749.
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
    // RFC 7009 has clients ignore the body; some want JSON all the same.
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
    // Undefined is a request without a body, which is a form without parameters.
    const form = request.body instanceof Map ? request.body : new Map();
    return answer(senderOf(request), form);
  });
  scope.route({
    method: scope.supportedMethods.filter((method) => method !== 'POST'),
    url,
    exposeHeadRoute: false,
    schema: { hide: true },
    handler: async () => {
      throw new OAuthError('invalid_request', `${url} is asked with POST`, 405, { allow: 'POST' });
    },
  });
}

function senderOf(request: FastifyRequest): Sender {
  return { authorization: headerValues(request, 'authorization'), address: request.ip };
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = oauthErrorFrom(error);
  if (answer.statusCode >= 500) noteFailure(error, answer.statusCode, request);
  else request.log.info({ error: answer.error, address: request.ip }, 'no token');
  // A hook of the app may have ended the request before the one of this scope.
  forbidStoring(reply);
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
  if (baseUrl === undefined) throw badRequest('header Host: expected the name of a host, and a port where needed');
  // Typed by the route's wildcard alone.
  const path = (request.params as { '*'?: string })['*'] ?? '';
  const issuer = issuerAt(baseUrl, path.replace(/\/+$/, ''));
  if (issuer === undefined) throw notFound(`there is no issuer of this path; it is ${baseUrl}`);
  // It names the host that the caller named, and is for that caller alone.
  if (settings.publicUrl === '') reply.header('cache-control', 'no-store');
  return describeServer(issuer, baseUrl);
}

// The issuer is the service; those who know the folder of the token endpoint alone find it by that.
function issuerAt(baseUrl: string, path: string): string | undefined {
  const ownPath = new URL(baseUrl).pathname.replace(/^\/|\/$/g, '');
  if (path === '' || path === ownPath) return baseUrl;
  const connectUrl = `${baseUrl}${CONNECT_PATH}`;
  return path === new URL(connectUrl).pathname.slice(1) ? connectUrl : undefined;
}
