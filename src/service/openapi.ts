import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema } from 'fastify';
import packageJson from '../../package.json' with { type: 'json' };
import { errorComponents, nameErrorAnswers } from './error-answers.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How a caller of the route authenticates, as OpenAPI says it. */
    readonly security?: FastifySchema['security'];
  }
}

/** `/openapi.json` (OpenAPI 3.1), read from the schemas of the routes that are registered after it, and `/docs`. */
export async function addOpenApi(app: FastifyInstance): Promise<void> {
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
      nameErrorAnswers(given.openapiObject, app.prefix);
      return given.openapiObject;
    },
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'windrow',
        description: 'Time-series computation: samples in, operations registered, results as series; events beside.',
        version: packageJson.version,
        license: { name: packageJson.license, identifier: packageJson.license },
      },
      components: {
        ...errorComponents,
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
