import { it } from 'vitest';
import { describeStorage } from './conformance.js';
import { adapters, openTemporary } from './open-temporary.js';

for (const { name, open } of adapters) {
  if (open === undefined) {
    it.skip(`SQLite by ${name}: Node ${process.versions.node} has none, 22.13 is the first that does`);
  } else {
    describeStorage(`SQLite by ${name}`, (tables) => openTemporary({ openDatabase: open, tables }));
    describeStorage(`SQLite by ${name}, without a log`, (tables) =>
      openTemporary({ openDatabase: open, tables, isLogging: false }),
    );
  }
}
