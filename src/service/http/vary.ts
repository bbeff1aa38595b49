import type { FastifyReply } from 'fastify';

/** Adds a header of the request on which the answer depends to `Vary`, where CORS may have put `Origin`. */
export function addVary(reply: FastifyReply, name: string): void {
  const known = reply.getHeader('vary');
  reply.header('vary', known === undefined ? name : `${String(known)}, ${name}`);
}
