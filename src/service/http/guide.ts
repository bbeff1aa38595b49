import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/**
 * Serves the pages of docs/ as HTML at `/guide/`, from a folder that `npm run site` made: only text, styles and
 * pictures.
 */
export async function registerGuide(app: FastifyInstance, folder: string): Promise<void> {
  await app.register(async (guide) => {
    guide.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, hide: true };
    });
    // The router takes no notice of a slash at the end, so the plugin's route does not match the folder itself.
    guide.get('/guide', async ({ url }, reply) =>
      reply.redirect(/^[^?]*\/(?:\?|$)/.test(url) ? 'index.html' : 'guide/index.html'),
    );
    await guide.register(fastifyStatic, {
      root: folder,
      prefix: '/guide/',
      decorateReply: false,
      setHeaders: (reply) => {
        // Charts contain inline styles.
        const policy = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'";
        reply.header('content-security-policy', policy);
        reply.header('x-content-type-options', 'nosniff');
        reply.header('referrer-policy', 'no-referrer');
      },
    });
  });
}
