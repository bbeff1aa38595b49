// Machines of their own, as far as one machine allows: each has a folder, an address, and processes that are killed and
// stopped together. Where this process may make network namespaces (root on Linux), each has a network of its own, too,
// which can be cut.

import { execFile, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, openSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findPostgres, owner } from './postgres-server.mjs';

const run = promisify(execFile);
const LOOPBACK = '127.0.0.1';
const MACHINES_MAX = 8;
/** Nobody has it: what is sent there is lost, and nobody is told. */
const NOWHERE = '02:00:00:00:00:01';

export function hasProgram(name) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));
}

/** A bridge that joins the machines, which also the processes outside of them reach. */
export class Network {
  #name = `wr${process.pid}`;
  #prefix = `10.213.${process.pid % 256}`;
  #machines = [];
  /** Whether machines have networks of their own. */
  isReal = false;

  async start() {
    if (process.getuid?.() !== 0) return;
    try {
      await run('ip', ['link', 'add', this.#name, 'type', 'bridge']);
    } catch {
      return;
    }
    this.isReal = true;
    await run('ip', ['addr', 'add', `${this.#prefix}.1/24`, 'dev', this.#name]);
    await run('ip', ['link', 'set', this.#name, 'up']);
  }

  /** The address of what is outside of the machines, as they see it. */
  get outside() {
    return this.isReal ? `${this.#prefix}.1` : LOOPBACK;
  }

  /** The addresses of all machines. */
  get all() {
    return this.isReal ? `${this.#prefix}.0/24` : `${LOOPBACK}/32`;
  }

  /** Those that machines get, one after the other. */
  get hosts() {
    return this.isReal ? Array.from({ length: MACHINES_MAX }, (_, i) => `${this.#prefix}.${i + 2}`) : [LOOPBACK];
  }

  /** Makes a machine with a folder of this name. */
  async add(parent, name) {
    const space = `${this.#name}-${this.#machines.length}`;
    const host = this.isReal ? this.hosts[this.#machines.length] : LOOPBACK;
    if (this.isReal) {
      const inside = (...words) => run('ip', ['-n', space, ...words]);
      await run('ip', ['netns', 'add', space]);
      await run('ip', ['link', 'add', space, 'master', this.#name, 'type', 'veth', 'peer', 'eth0', 'netns', space]);
      await run('ip', ['link', 'set', space, 'up']);
      await inside('addr', 'add', `${host}/24`, 'dev', 'eth0');
      for (const link of ['eth0', 'lo']) await inside('link', 'set', link, 'up');
    }
    const machine = new Machine(join(parent, name), name, host, this.isReal ? space : undefined);
    this.#machines.push(machine);
    return machine;
  }

  /** From now on, what this machine and the others send to each other is lost. */
  async cut(machine) {
    for (const other of this.#machines) {
      if (other === machine) continue;
      await machine.ip('neigh', 'replace', other.host, 'lladdr', NOWHERE, 'dev', 'eth0', 'nud', 'permanent');
      await other.ip('neigh', 'replace', machine.host, 'lladdr', NOWHERE, 'dev', 'eth0', 'nud', 'permanent');
    }
  }

  /** And what it and the processes outside send to each other. */
  async cutAll(machine) {
    await this.cut(machine);
    await machine.ip('neigh', 'replace', this.outside, 'lladdr', NOWHERE, 'dev', 'eth0', 'nud', 'permanent');
  }

  async mend(machine) {
    for (const other of this.#machines) {
      if (other === machine) continue;
      await machine.ip('neigh', 'del', other.host, 'dev', 'eth0');
      await other.ip('neigh', 'del', machine.host, 'dev', 'eth0');
    }
    await machine.ip('neigh', 'flush', 'dev', 'eth0', 'nud', 'permanent');
  }

  async stop() {
    for (const machine of this.#machines) await machine.kill();
    if (!this.isReal) return;
    for (const { space } of this.#machines) await run('ip', ['netns', 'del', space]);
    await run('ip', ['link', 'del', this.#name]);
  }
}

class Machine {
  #owner = owner();
  folder;
  name;
  host;
  space;

  constructor(folder, name, host, space) {
    this.folder = folder;
    this.name = name;
    this.host = host;
    this.space = space;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (this.#owner.uid !== undefined) chownSync(folder, this.#owner.uid, this.#owner.gid);
  }

  /** Writes a file that only its processes can read. */
  write(name, text) {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (this.#owner.uid !== undefined) chownSync(path, this.#owner.uid, this.#owner.gid);
  }

  /** Runs a program to its end; returns what it prints. */
  async run(program, ...words) {
    const [first, ...rest] = this.#words(program, words);
    const { stdout } = await run(first, rest, { ...this.#options, maxBuffer: 1 << 26 });
    return stdout.trim();
  }

  /** Starts a program that stays. */
  start(program, ...words) {
    const [first, ...rest] = this.#words(program, words);
    const log = openSync(join(this.folder, 'log'), 'a');
    spawn(first, rest, { ...this.#options, stdio: ['ignore', log, log] });
  }

  /** Kills its processes, or those whose folder is this one within its own: all of them, as a power failure does. */
  async kill(folder = '') {
    for (let pids = this.#pids(folder); pids.length > 0; pids = this.#pids(folder)) {
      for (const pid of pids) signal(pid, 'SIGKILL');
      await wait(10);
    }
  }

  /** Kills those of its processes that are not of this folder. */
  async killOthers(folder) {
    const kept = new Set(this.#pids(folder));
    const others = () => this.#pids('').filter((pid) => !kept.has(pid));
    for (let pids = others(); pids.length > 0; pids = others()) {
      for (const pid of pids) signal(pid, 'SIGKILL');
      await wait(10);
    }
  }

  /** Stops all its processes where they are, as a machine that hangs, until `thaw`. */
  async freeze() {
    // Again, as they may have started others meanwhile.
    for (let i = 0; i < 3; i++) {
      for (const pid of this.#pids('')) signal(pid, 'SIGSTOP');
      await wait(5);
    }
  }

  thaw() {
    for (const pid of this.#pids('')) signal(pid, 'SIGCONT');
  }

  ip(...words) {
    return run('ip', ['-n', this.space, ...words]);
  }

  // As this user's parent may have been killed, processes are found by the folder in which they run.
  #pids(folder) {
    const own = join(this.folder, folder);
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          const path = readlinkSync(`/proc/${pid}/cwd`);
          return path === own || path.startsWith(`${own}/`);
        } catch {
          return false;
        }
      })
      .map(Number);
  }

  #words(program, words) {
    const { uid, gid } = this.#owner;
    const asOwner = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'];
    const within = this.space === undefined ? [] : ['nsenter', `--net=/run/netns/${this.space}`, '--'];
    return [...within, ...asOwner, program, ...words];
  }

  get #options() {
    const env = {
      PATH: `${findPostgres()}:${process.env.PATH}`,
      HOME: this.folder,
      XDG_RUNTIME_DIR: this.folder,
      LC_ALL: 'C.UTF-8',
    };
    return { cwd: this.folder, env };
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}
