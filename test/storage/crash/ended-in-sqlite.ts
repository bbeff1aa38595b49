import { existsSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createStoreThreads } from '../../../src/service/store-thread/store-thread.js';
import { systemScheduler } from '../../../src/service/system.js';
import { loadSqlite } from '../../../src/storage/sqlite/database.js';

// Ends a thread that is in SQLite: it waits there for a file that this thread has locked. Ended by its time limit or by
// a stop, and prints what came of its job and of the next one.

const [directory = '', store = '', way = ''] = process.argv.slice(2);
const marker = join(directory, 'has-begun');
const script = join(directory, 'thread.mjs');
const lines = [
  "import { writeFileSync } from 'node:fs';",
  `import { closeStore, loadSomeLog as load, prepareMove } from ${JSON.stringify(store)};`,
  'export { closeStore, prepareMove };',
  `export const loadSomeLog = (message) => (writeFileSync(${JSON.stringify(marker)}, ''), load(message));`,
];
writeFileSync(script, lines.join('\n'));

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
// Timers that only this program lets elapse.
const timers: (() => void)[] = [];
const held = {
  after: (_: number, work: () => void) => {
    timers.push(work);
    return () => {};
  },
};
const scheduler = way === 'limit' ? held : systemScheduler;
const threads = createStoreThreads(pathToFileURL(script), directory, scheduler);
const lock = (await loadSqlite())(join(directory, 'windrow.db'));
lock.exec('BEGIN EXCLUSIVE');

const outcome = threads.prepareMove(0, 1).then(
  () => 'done',
  (error: Error) => error.message,
);
while (!existsSync(marker)) await wait(10);
// Opening the file waits for five seconds.
await wait(1000);
if (way === 'limit') for (const work of timers.splice(0)) work();
else await threads.close();
const said = await outcome;
// Until the statement has failed: one that succeeds has nothing to throw.
await wait(6000);
lock.exec('ROLLBACK');
lock.close();
const next = way === 'limit' ? await threads.prepareMove(0, 1).then(() => 'done', String) : 'closed';
timers.splice(0);
if (way === 'limit') await threads.close();
writeSync(1, JSON.stringify({ said, next }));
