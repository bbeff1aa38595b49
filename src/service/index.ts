export type { Clock, Random, Scheduler, ServiceContext } from './context.js';
export type { ServiceOptions } from './open.js';
export { windrowService } from './plugin.js';
export { type Server, type ServerOptions, startServer } from './server.js';
export type { ServiceSettings } from './settings.js';
