import { describe } from 'vitest';
import { describeStorage } from '../conformance.js';
import { hasPostgres, openTemporaryPostgres } from './open.js';

describe.runIf(hasPostgres)('with a server', () => {
  describeStorage('PostgreSQL', (tables) => openTemporaryPostgres({ tables }));
});
