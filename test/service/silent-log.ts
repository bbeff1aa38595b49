import { fastify } from 'fastify';

/** A log that writes nothing. */
export const silentLog = fastify({ logger: false }).log;
