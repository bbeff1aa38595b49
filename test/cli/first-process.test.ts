// The first process of a container, which Linux lets ignore signals that end any other.
import { spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { endAsOtherProcesses } from '../../src/cli/terminal/first-process.js';

class Hearing extends EventEmitter {
  readonly exits: number[] = [];
  constructor(readonly pid: number) {
    super();
    endAsOtherProcesses(this);
  }
  exit(code: number): void {
    this.exits.push(code);
  }
}

describe('a first process', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('ends by %s, unless something else listens', (signal, code) => {
    const first = new Hearing(1);
    const stop = () => first.off(signal, stop);
    first.on(signal, stop);
    first.emit(signal);
    expect(first.exits).toEqual([]);
    first.emit(signal);
    expect(first.exits).toEqual([code]);
  });

  it('is left alone where it is not the first', () => {
    const other = new Hearing(2);
    expect(other.eventNames()).toEqual([]);
  });
});

const namespaced = ['--pid', '--fork', '--kill-child'];
const isPermitted = spawnSync('unshare', [...namespaced, 'true']).status === 0;

describe.skipIf(!isPermitted)('in a namespace of processes of its own', () => {
  const commandPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

  it('a stop while the command starts ends it', async () => {
    // Waits for input that does not come.
    const words = ['run', '-', '--input', commandPath];
    const namespace = spawn('unshare', [...namespaced, process.execPath, commandPath, ...words], { stdio: 'pipe' });
    const ended = once(namespace, 'exit');
    const { pid = 0 } = namespace;
    const childOf = () => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
    await expect.poll(childOf).toBeGreaterThan(0);
    // The last that is listened to; Node itself catches the other two from its start on, and lets them go.
    await expect.poll(() => isCaught(childOf(), constants.signals.SIGHUP)).toBe(true);
    process.kill(childOf(), 'SIGTERM');
    expect((await ended)[0]).toBe(143);
  });
});

function isCaught(pid: number, signal: number): boolean {
  const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
