// `windrow serve` as the pages show it, on a free port. Stops it once it listens (and a demo has its data); it must
// exit cleanly. Three pages start a demo of their own with the same words, which is done once: `served` remembers it.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [served = '', ...given] = process.argv.slice(2);
const line = `${JSON.stringify(given)}\n`;
const isFresh = !given.includes('--data-dir');
if (isFresh && existsSync(served) && readFileSync(served, 'utf8').includes(line)) process.exit();
const words = given.map((word, index, all) => (all[index - 1] === '--port' ? '0' : word));
if (!words.includes('--port')) words.push('--port', '0');
const folder = mkdtempSync(join(tmpdir(), 'windrow-briefly-'));
if (isFresh) words.push('--data-dir', folder);
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const child = spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
let text = '';
let hasListened = false;
child.stderr.on('data', (piece) => {
  text += piece;
  const awaited = words.includes('--demo') ? /core\/events"\n/ : /listens at http/;
  if (hasListened || !awaited.test(text)) return;
  hasListened = true;
  child.kill();
});
child.on('exit', (code) => {
  rmSync(folder, { recursive: true, force: true });
  if (!hasListened) console.error(text);
  process.exitCode = hasListened ? (code ?? 1) : 1;
  if (process.exitCode === 0) appendFileSync(served, line);
});
