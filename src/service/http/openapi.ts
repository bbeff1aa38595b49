import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema } from 'fastify';
import packageJson from '../../../package.json' with { type: 'json' };
import { CORRELATION_ID } from './correlation.js';
import { errorAnswersOf, errorComponents, namedOperations, streamedForms } from './openapi-answers.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How a caller of the route authenticates, as OpenAPI says it. */
    readonly security?: FastifySchema['security'];
  }
}

/** `/openapi.json` (OpenAPI 3.1), read from the schemas of the routes that are registered after it, and `/docs`. */
export async function addOpenApi(app: FastifyInstance, publicUrl: string): Promise<void> {
  // A host that writes an OpenAPI of its own sees our routes, but not the schemes that their security names.
  app.addHook('onRoute', (route) => {
    const { security, ...schema } = route.schema ?? {};
    if (security !== undefined) Object.assign(route, { schema, config: { ...route.config, security } });
  });
  await app.register(swagger, {
    transform: ({ schema, url, route }) => {
      const security = route.config?.security;
      return { schema: security === undefined ? schema : { ...schema, security }, url };
    },
    transformObject: (given) => {
      if (!('openapiObject' in given)) return given.swaggerObject;
      completeOperations(given.openapiObject, app.prefix);
      Object.assign(given.openapiObject, { servers: [{ url: serverUrl(publicUrl, app.prefix) }] });
      return given.openapiObject;
    },
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'windrow',
        description: 'Time-series computation: samples in, operations registered, results as series; events beside.',
        version: packageJson.version,
        contact: { name: packageJson.author },
        license: { name: packageJson.license, identifier: packageJson.license },
      },
      components: {
        ...errorComponents,
        parameters: { CorrelationId: correlationId },
        securitySchemes: {
          client: { type: 'http', scheme: 'basic', description: 'Client id and secret, for the token endpoint.' },
          token: { type: 'http', scheme: 'bearer', description: 'An access token of /idm/ims/connect/token.' },
        },
      },
      tags: [
        { name: 'Token', description: 'Access tokens (RFC 6749, 7009, 7662, 8414).' },
        { name: 'Time series', description: 'Samples: written, read, followed, deleted.' },
        { name: 'Operations', description: 'Computations that are registered and kept up to date.' },
        { name: 'Status', description: 'What became of asynchronous requests.' },
        { name: 'Events', description: 'Events of collections.' },
        { name: 'Health', description: 'For those who run the service.' },
      ],
    },
  });
  await app.register(swaggerUi, { routePrefix: '/docs' });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

const correlationId = {
  name: 'x-correlation-id',
  in: 'header',
  description: 'Echoed, and in every log line of the request; made when left out',
  schema: { type: 'string' as const, pattern: CORRELATION_ID.source },
};

// What the paths stand below, which have the prefix of a plugin in them already; relative where nobody said.
function serverUrl(publicUrl: string, prefix: string): string {
  const url = publicUrl.replace(/\/+$/, '');
  return (prefix !== '' && url.endsWith(prefix) ? url.slice(0, -prefix.length) : url) || '/';
}

interface Operation {
  operationId?: string;
  description?: string;
  parameters?: readonly object[];
  requestBody?: object;
  readonly security?: readonly object[];
  responses: Readonly<Record<string, object>>;
}

/** Adds what does not stand in the schemas of the routes: errors, bodies that are streams, and the correlation id. */
function completeOperations({ paths = {} }: { readonly paths?: object }, prefix: string): void {
  // By path, and there by method: of a path of ours there is nothing else.
  for (const [path, methods] of Object.entries<Record<string, Operation>>({ ...paths })) {
    for (const [method, operation] of Object.entries(methods)) {
      const route = `${method} ${path.slice(prefix.length)}`;
      const { parameters = [], requestBody, content } = streamedForms[route] ?? {};
      const { parameters: own = [], security = [], responses } = operation;
      const named = namedOperations[route];
      // test/service/openapi.test.ts holds that there is none without a name.
      if (named !== undefined)
        Object.assign(operation, { description: named.description, ...operation, operationId: named.id });
      operation.parameters = [...own, ...parameters, { $ref: '#/components/parameters/CorrelationId' }];
      if (requestBody !== undefined) operation.requestBody = requestBody;
      const done = content === undefined ? {} : { 200: { description: 'Done', content } };
      operation.responses = { ...responses, ...done, ...errorAnswersOf(route, security) };
    }
  }
}
