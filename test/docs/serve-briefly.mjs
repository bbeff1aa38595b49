// `windrow serve` as the pages show it, on a free port. Stops it once it listens (and a demo has its data); it must
// exit cleanly.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const words = process.argv.slice(2).map((word, index, all) => (all[index - 1] === '--port' ? '0' : word));
if (!words.includes('--port')) words.push('--port', '0');
const folder = mkdtempSync(join(tmpdir(), 'windrow-briefly-'));
if (!words.includes('--data-dir')) words.push('--data-dir', folder);
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
});
