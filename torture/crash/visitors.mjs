// Other programs that open the files of a running service, as people do: Debian's older `sqlite3`, and commands of
// windrow. Some are killed. What they leave behind must cost nothing that was acknowledged.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** So that clients still have most of the machine. */
const PAUSE_MS_MAX = 600;
/** What it takes to start a command of windrow, and some time to work. */
const KILLED_AFTER_MS_MAX = 800;
const TIMES_OUT_MS = 120_000;

const SQLITE = '/usr/bin/sqlite3';
/** Its snapshot stays open between the two counts. */
const READ = 'BEGIN; SELECT count(*) FROM sample_log; SELECT count(*) FROM segments; COMMIT;';

/**
 * Lets them come one after the other, until told to end.
 *
 * @param {{ command: string, store: string, random: object, counts: object }} of `store` is a folder.
 * @returns an `end` that waits for the last one, and throws if one of them failed.
 */
export function openToVisitors({ command, store, random, counts }) {
  let isOver = false;
  const come = async () => {
    const programs = PROGRAMS.filter(({ name }) => name !== 'sqlite3' || existsSync(SQLITE));
    for (;;) {
      await new Promise((done) => setTimeout(done, random.below(PAUSE_MS_MAX)));
      if (isOver) return;
      const { name, words } = random.pick(programs);
      const killAfterMs = random.chance(0.3) ? random.below(KILLED_AFTER_MS_MAX) : undefined;
      const wasKilled = await visit(words({ command: resolve(command), store }), killAfterMs);
      const kind = wasKilled ? `${name}, killed` : name;
      counts.visits[kind] = (counts.visits[kind] ?? 0) + 1;
    }
  };
  const visits = come();
  // Told by `end`.
  visits.catch(() => {});
  return {
    end: () => {
      isOver = true;
      return visits;
    },
  };
}

const sqlite = {
  name: 'sqlite3',
  words: ({ store }) => [SQLITE, '-cmd', '.timeout 30000', join(store, 'windrow.db'), READ],
};
const PROGRAMS = [
  // The oldest of them comes most often.
  sqlite,
  sqlite,
  { name: 'list', words: ({ command, store }) => windrow(command, 'client', 'list', '--data-dir', store) },
  { name: 'check', words: ({ command, store }) => windrow(command, 'check', store) },
  {
    name: 'backup',
    words: ({ command, store }) => windrow(command, 'backup', store, '--to', join(store, '../visited.db'), '--force'),
  },
];

function windrow(command, ...words) {
  return [process.execPath, command, ...words];
}

/** @returns whether it was killed; it must not fail by itself. */
async function visit([program, ...words], killAfterMs) {
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs ?? TIMES_OUT_MS);
  const [code, signal] = await new Promise((done) => child.once('close', (...end) => done(end)));
  clearTimeout(timer);
  if (signal === 'SIGKILL' && killAfterMs !== undefined) return true;
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${signal ?? code}: ${said}`);
  return false;
}
