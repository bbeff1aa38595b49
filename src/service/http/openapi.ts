import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema } from 'fastify';
import packageJson from '../../../package.json' with { type: 'json' };
import { operationComponents } from '../operations/openapi.js';
import { CORRELATION_ID } from './correlation.js';
import { nameEnums } from './enum-names.js';
import { nameSchemas } from './name-schemas.js';
import { errorAnswersOf, errorComponents, errorHeadersOf, namedOperations, streamedForms } from './openapi-answers.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How a caller of the route authenticates, in OpenAPI's terms. */
    readonly security?: FastifySchema['security'];
    /** One of these its token must have. */
    readonly scopes?: readonly string[] | undefined;
  }
}

/**
 * Serves `/openapi.json` (OpenAPI 3.1), built from the schemas of the routes that are registered after it, and
 * `/docs`.
 */
export async function addOpenApi(app: FastifyInstance, publicUrl: string): Promise<void> {
  // A host with its own OpenAPI document sees our routes, but not our security schemes.
  app.addHook('onRoute', (route) => {
    const { security, ...schema } = route.schema ?? {};
    if (security === undefined) return;
    const { anyOf } = Object(route.onRequest) as { readonly anyOf?: readonly string[] };
    Object.assign(route, { schema, config: { ...route.config, security, scopes: anyOf } });
  });
  await app.register(swagger, {
    transform: ({ schema, url, route }) => {
      const { security, scopes } = route.config ?? {};
      if (security === undefined) return { schema, url };
      return { schema: { ...schema, security, ...(scopes && { [SCOPES]: scopes }) }, url };
    },
    transformObject: (given) => {
      if (!('openapiObject' in given)) return given.swaggerObject;
      completeOperations(given.openapiObject, app.prefix);
      const { openapiObject: document } = given;
      const schemas = { ...errorComponents.schemas, ...operationComponents, ...document.components?.schemas };
      const paths = nameSchemas(document.paths, schemas);
      const servers = [{ url: serverUrl(publicUrl, app.prefix) }];
      Object.assign(document, { servers, paths, components: { ...document.components, schemas } });
      nameEnums(document);
      return document;
    },
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'windrow',
        description: 'Time-series computation: write samples, register operations, read results as series. Events.',
        version: packageJson.version,
        contact: { name: packageJson.author },
        license: { name: packageJson.license, identifier: packageJson.license },
      },
      components: {
        ...errorComponents,
        // Ours are added at the end: the plugin would walk them all for each of them, for half a second.
        schemas: {},
        parameters: { CorrelationId: correlationId },
        securitySchemes: {
          client: { type: 'http', scheme: 'basic', description: 'Client id and secret, for the token endpoint.' },
          token: { type: 'http', scheme: 'bearer', description: 'An access token from /idm/ims/connect/token.' },
        },
      },
      tags: [
        { name: 'Token', description: 'Access tokens (RFC 6749, 7009, 7662, 8414).' },
        { name: 'Time series', description: 'Write, read, follow and delete samples.' },
        { name: 'Operations', description: 'Computations that are registered and kept up to date.' },
        { name: 'Status', description: 'The state of asynchronous requests.' },
        { name: 'Events', description: 'Events in collections.' },
        { name: 'Health', description: 'For those who run the service.' },
      ],
    },
  });
  const { pathname } = new URL(serverUrl(publicUrl, app.prefix), 'http://localhost');
  // Where browsers find the page: its links begin with this.
  const indexPrefix = `${pathname.replace(/\/+$/, '')}${app.prefix}`;
  await app.register(swaggerUi, { routePrefix: '/docs', indexPrefix });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

const correlationId = {
  name: 'x-correlation-id',
  in: 'header',
  description: 'Echoed, and in every log line of the request; generated if left out',
  schema: { type: 'string' as const, pattern: CORRELATION_ID.source },
};

// The base of the paths, which already contain a plugin's prefix; relative if no public URL is set.
function serverUrl(publicUrl: string, prefix: string): string {
  const url = publicUrl.replace(/\/+$/, '');
  return (prefix !== '' && url.endsWith(prefix) ? url.slice(0, -prefix.length) : url) || '/';
}

/** Where the scopes of an operation are until its description names them: in `security`, only OAuth schemes may. */
const SCOPES = 'x-scopes';

interface Operation {
  [SCOPES]?: readonly string[];
  operationId?: string;
  description?: string;
  parameters?: readonly object[];
  requestBody?: object;
  readonly security?: readonly object[];
  responses: Readonly<Record<string, Answer>>;
}

interface Answer {
  readonly description?: string;
}

/** Adds what the routes' schemas lack: errors, streamed bodies, and the correlation id. */
function completeOperations({ paths = {} }: { readonly paths?: object }, prefix: string): void {
  // By path, then by method: our paths have no other fields.
  for (const [path, methods] of Object.entries<Record<string, Operation>>({ ...paths })) {
    for (const [method, operation] of Object.entries(methods)) {
      const route = `${method} ${path.slice(prefix.length)}`;
      const { parameters = [], requestBody, content } = streamedForms[route] ?? {};
      const { parameters: own = [], security = [], responses } = operation;
      const named = namedOperations[route];
      // test/service/openapi.test.ts checks that each has a name.
      if (named !== undefined)
        Object.assign(operation, { description: named.description, ...operation, operationId: named.id });
      if (operation[SCOPES] !== undefined) {
        operation.description = `${operation.description} Needs the scope ${operation[SCOPES].join(' or ')}.`;
        delete operation[SCOPES];
      }
      operation.parameters = [...own, ...parameters, { $ref: '#/components/parameters/CorrelationId' }];
      if (requestBody !== undefined) operation.requestBody = requestBody;
      const done = content === undefined ? {} : { 200: { description: 'Done', content } };
      operation.responses = { ...described(responses), ...done, ...errorAnswersOf(route, security) };
    }
  }
}

/** Answers that the routes' schemas have, with their headers. */
function described(responses: Readonly<Record<string, Answer>>): Readonly<Record<string, Answer>> {
  const entries = Object.entries(responses).map(([status, answer]) => {
    const description = answer.description === 'Default Response' ? 'Done' : answer.description;
    return [status, { ...answer, description, ...errorHeadersOf(status) }];
  });
  return Object.fromEntries(entries);
}
