import { describeStorage } from './conformance.js';
import { openTemporary } from './open-temporary.js';

describeStorage('SQLite', (tables) => openTemporary({ tables }));
