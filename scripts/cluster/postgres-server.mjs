// A PostgreSQL server in a folder, for tests and `npm run cluster`. It runs as an unprivileged user, as PostgreSQL
// refuses root, and listens on a socket in the folder and, if a port is given, on loopback.

import { execFile, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const DEBIAN_VERSIONS = '/usr/lib/postgresql';
const USER = 'windrow';

const PROGRAMS = ['initdb', 'pg_basebackup', 'pg_ctl', 'postgres', 'psql'];

/** The folder of PostgreSQL's programs: from PATH, or Debian's newest; undefined if there is none. */
export function findPostgres() {
  const ofDebian = existsSync(DEBIAN_VERSIONS)
    ? readdirSync(DEBIAN_VERSIONS)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(DEBIAN_VERSIONS, version, 'bin'))
    : [];
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...ofDebian];
  return folders.find((folder) => folder !== '' && PROGRAMS.every((program) => existsSync(join(folder, program))));
}

/** The owner of the server's files and processes: this user or, for root, Debian's `postgres` or nobody. */
export function owner() {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const found = lines.find((line) => line.startsWith('postgres:')) ?? lines.find((line) => line.startsWith('nobody:'));
  const [, , uid, gid] = (found ?? '').split(':').map(Number);
  return { uid, gid };
}

export class PostgresServer {
  #folder;
  #bin;
  #owner = owner();
  #options;
  #child;
  #ended;

  /**
   * @param {string} folder its own; made where it is not there
   * @param {Readonly<Record<string, string | number>>} options of postgresql.conf
   */
  constructor(folder, options = {}) {
    const bin = findPostgres();
    if (bin === undefined) throw new Error('no PostgreSQL is installed: apt-get install postgresql');
    this.#bin = bin;
    this.#folder = folder;
    this.#options = { listen_addresses: '', ...options };
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (this.#owner.uid !== undefined) chownSync(folder, this.#owner.uid, this.#owner.gid);
  }

  /** Creates the files of a new, empty server. */
  async create() {
    await this.#run('initdb', '--no-sync', '-E', 'UTF8', '--locale=C', '-A', 'trust', '-U', USER, '-D', this.#data);
  }

  /** Creates the files of a standby that follows another server. */
  async createStandbyOf(primary, name) {
    const source = `${primary.address('postgres')}&application_name=${name}`;
    await this.#run(
      'pg_basebackup',
      '-D',
      this.#data,
      '-d',
      source,
      '--checkpoint=fast',
      '--no-sync',
      '-R',
      '-X',
      'stream',
    );
  }

  /** Starts the server; resolves when it accepts connections. */
  async start() {
    const logPath = join(this.#folder, 'log');
    const settings = Object.entries(this.#options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.#child = spawn(join(this.#bin, 'postgres'), ['-D', this.#data, '-k', this.#folder, ...settings], {
      ...this.#owner,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', openSync(logPath, 'a')],
    });
    let hasEnded = false;
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve)).then(() => {
      hasEnded = true;
    });
    for (let tries = 0; ; tries++) {
      try {
        await this.query('SELECT 1');
        return;
      } catch (error) {
        if (hasEnded || tries > 600)
          throw new Error(`PostgreSQL did not start: ${readFileSync(logPath, 'utf8')}`, { cause: error });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** `SIGINT` stops it gracefully, `SIGQUIT` at once, `SIGKILL` crashes its first process. */
  async stop(signal = 'SIGINT') {
    this.#child?.kill(signal);
    await this.#ended;
  }

  /** Lets this process end while the server keeps running. */
  detach() {
    this.#child?.unref();
  }

  /** Stops a server that another process has started. */
  async end() {
    await this.#run('pg_ctl', '-D', this.#data, '-m', 'immediate', '-w', 'stop');
  }

  /** Kills all its processes at once, as a power failure of its machine does; its files stay. */
  async kill() {
    this.#signalAll('SIGKILL');
    await this.#ended;
    rmSync(join(this.#data, 'postmaster.pid'), { force: true });
  }

  /** Stops all its processes where they are, as a machine that hangs, until `thaw`. */
  freeze() {
    this.#signalAll('SIGSTOP');
  }

  thaw() {
    this.#signalAll('SIGCONT');
  }

  #signalAll(signal) {
    const pids = this.#child === undefined ? [] : childrenOf(this.#child.pid);
    for (const pid of [this.#child?.pid, ...pids]) {
      try {
        if (pid !== undefined) process.kill(pid, signal);
      } catch {
        // It has ended by itself.
      }
    }
  }

  /** Deletes its files, so that it can be created again. */
  clear() {
    rmSync(this.#data, { recursive: true, force: true });
  }

  async promote() {
    await this.query('SELECT pg_promote(true, 30)');
  }

  /** Sets options permanently, except those given at the start. */
  async configure(lines) {
    writeFileSync(join(this.#data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`, { flag: 'a' });
    await this.query('SELECT pg_reload_conf()');
  }

  /** Runs a statement with psql and returns its output. */
  async query(sql, database = 'postgres') {
    const { stdout } = await this.#run(
      'psql',
      '-X',
      '-q',
      '-A',
      '-t',
      '-v',
      'ON_ERROR_STOP=1',
      '-d',
      this.address(database),
      '-c',
      sql,
    );
    return stdout.trim();
  }

  /** The address of one of its databases, by its socket. */
  address(database) {
    return `postgres://${USER}@/${database}?host=${encodeURIComponent(this.#folder)}${this.#port}`;
  }

  get #port() {
    return this.#options.port === undefined ? '' : `&port=${this.#options.port}`;
  }

  get folder() {
    return this.#folder;
  }

  get #data() {
    return join(this.#folder, 'data');
  }

  #run(program, ...words) {
    const options = { ...this.#owner, cwd: this.#folder, maxBuffer: 1 << 26 };
    return promisify(execFile)(join(this.#bin, program), words, options);
  }
}

function childrenOf(parent) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return new RegExp(`^PPid:\\s*${parent}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      } catch {
        return false;
      }
    })
    .map(Number);
}
