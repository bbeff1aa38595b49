import type { FastifyRequest } from 'fastify';

/** All values of a header. Node keeps the first of several Authorization headers, and drops the others. */
export function headerValues({ raw }: FastifyRequest, name: string): readonly string[] {
  const { rawHeaders } = raw;
  return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}
