import type { FastifyBaseLogger } from 'fastify';
import { createOpeningService, type OwnService, type ServiceOptions } from '../../src/service/open.js';

/** A service whose store is open. */
export async function openService(options: ServiceOptions, log: FastifyBaseLogger): Promise<OwnService> {
  const service = createOpeningService(options, log);
  try {
    await service.opened;
    return service;
  } catch (error) {
    await service.close();
    throw error;
  }
}
