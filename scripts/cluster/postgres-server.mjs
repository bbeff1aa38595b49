// A PostgreSQL server in a folder, for tests and `npm run cluster`. It runs as an unprivileged user, as PostgreSQL
// refuses root, and listens on a socket in the folder and, if a port is given, on loopback.

import { execFile, spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const DEBIAN_VERSIONS = '/usr/lib/postgresql';
/** Who owns the databases, as `docs/scale.md` has it: no superuser, so that nothing needs one unnoticed. */
const USER = 'windrow';
const SUPERUSER = 'postgres';

// psql and pg_basebackup are not among them, as the packages of `npm run test:postgres` have only these.
const PROGRAMS = ['initdb', 'pg_ctl', 'postgres'];

/**
 * The folder of PostgreSQL's programs: WINDROW_POSTGRES_BIN, or one of PATH, or Debian's newest; undefined if there is
 * none.
 *
 * @throws Error if WINDROW_POSTGRES_BIN lacks a program: to take another version in silence would test the wrong one.
 */
export function findPostgres() {
  const named = process.env.WINDROW_POSTGRES_BIN;
  if (named !== undefined) {
    const missing = PROGRAMS.filter((program) => !existsSync(join(named, program)));
    if (missing.length === 0) return named;
    throw new Error(`WINDROW_POSTGRES_BIN is ${named}, which lacks ${missing.join(', ')}`);
  }
  const ofDebian = existsSync(DEBIAN_VERSIONS)
    ? readdirSync(DEBIAN_VERSIONS)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(DEBIAN_VERSIONS, version, 'bin'))
    : [];
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...ofDebian];
  const found = folders.find(
    (folder) => folder !== '' && PROGRAMS.every((program) => existsSync(join(folder, program))),
  );
  // Where links to these lead, there are the others too, such as pg_controldata, which pg_autoctl looks for.
  return found === undefined ? undefined : dirname(realpathSync(join(found, 'pg_ctl')));
}

/** The owner of the server's files and processes: this user or, for root, Debian's `postgres` or nobody. */
export function owner() {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const found = lines.find((line) => line.startsWith('postgres:')) ?? lines.find((line) => line.startsWith('nobody:'));
  const [, , uid, gid] = (found ?? '').split(':').map(Number);
  return { uid, gid };
}

const AS_TEXT = { getTypeParser: () => String };

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
    await this.#run(
      'initdb',
      '--no-sync',
      '-E',
      'UTF8',
      '--locale=C',
      '-A',
      'trust',
      '-U',
      SUPERUSER,
      '-D',
      this.#data,
    );
  }

  /**
   * Creates the files of a standby that follows another server, on the same machine: a copy taken while that one runs,
   * as pg_basebackup takes it (https://www.postgresql.org/docs/current/continuous-archiving.html).
   */
  async createStandbyOf(primary, name) {
    const client = await primary.connect();
    try {
      // Since PostgreSQL 15 the functions have other names, and no backup that stays when its session ends.
      const version = Number((await client.query('SHOW server_version_num')).rows[0][0]);
      const [start, stop] =
        version < 150_000
          ? [`pg_start_backup('${name}', true, false)`, 'pg_stop_backup(false)']
          : [`pg_backup_start('${name}', true)`, 'pg_backup_stop()'];
      await client.query(`SELECT ${start}`);
      await this.#copy(primary.#data, this.#data);
      const { rows } = await client.query(`SELECT labelfile FROM ${stop}`);
      // What the copy needs to be consistent is in the log up to here.
      await this.#copy(join(primary.#data, 'pg_wal'), join(this.#data, 'pg_wal'));
      rmSync(join(this.#data, 'postmaster.pid'), { force: true });
      this.#write('backup_label', rows[0][0]);
    } finally {
      await client.end();
    }
    this.#write('standby.signal', '');
    this.#write(
      'postgresql.auto.conf',
      `primary_conninfo = '${primary.address('postgres', SUPERUSER)}&application_name=${name}'\n`,
    );
  }

  /** Copies a folder in which files come and go. */
  async #copy(from, to) {
    // `cp` as the user of the server, so that the files are its own.
    const env = { ...process.env, LC_ALL: 'C' };
    const running = promisify(execFile)('cp', ['-a', `${from}/.`, to], { ...this.#owner, env, maxBuffer: 1 << 26 });
    await running.catch((error) => {
      const others = error.stderr
        ?.split('\n')
        .filter((line) => line !== '' && !line.endsWith(': No such file or directory'));
      if (others?.length !== 0) throw error;
    });
  }

  /** Adds text to a file among the server's own. */
  #write(name, text) {
    const path = join(this.#data, name);
    writeFileSync(path, text, { flag: 'a' });
    if (this.#owner.uid !== undefined) chownSync(path, this.#owner.uid, this.#owner.gid);
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

  /** Its processes, the first of them first. */
  get pids() {
    return this.#child === undefined ? [] : [this.#child.pid, ...childrenOf(this.#child.pid)];
  }

  #signalAll(signal) {
    for (const pid of this.pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended by itself.
      }
    }
  }

  /** Deletes its files, so that it can be created again. */
  clear() {
    rmSync(this.#data, { recursive: true, force: true });
  }

  /** A new, empty database, with further options of CREATE DATABASE; returns its address. */
  async createDatabase(name, options = '') {
    const client = await this.connect();
    try {
      // Several processes may do so at once.
      await client.query(`DO $$ BEGIN CREATE ROLE ${USER} LOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`);
      await client.query(`CREATE DATABASE ${name} OWNER ${USER} ${options}`);
    } finally {
      await client.end();
    }
    return this.address(name);
  }

  async promote() {
    await this.query('SELECT pg_promote(true, 30)');
  }

  /** Sets options permanently, except those given at the start. */
  async configure(lines) {
    this.#write('postgresql.auto.conf', `${lines.join('\n')}\n`);
    await this.query('SELECT pg_reload_conf()');
  }

  /** Runs statements as the superuser and returns all rows as lines of text with | between columns, as `psql -At`. */
  async query(sql, database = 'postgres') {
    const client = await this.connect(database);
    try {
      const results = [await client.query(sql)].flat();
      return results.flatMap(({ rows }) => rows.map((row) => row.map((value) => value ?? '').join('|'))).join('\n');
    } finally {
      await client.end();
    }
  }

  /** A client of `pg`, connected as the superuser; rows are lists of texts. */
  async connect(database = 'postgres') {
    // Who only asks whether there is a PostgreSQL, as the configuration of the tests, needs no package.
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: this.address(database, SUPERUSER), types: AS_TEXT });
    // The server may go while nothing runs; a statement that runs fails by itself.
    client.on('error', () => {});
    await client.connect();
    const query = (text) => client.query({ text, rowMode: 'array' });
    return { query, end: () => client.end() };
  }

  /** The address of one of its databases, by its socket. */
  address(database, user = USER) {
    return `postgres://${user}@/${database}?host=${encodeURIComponent(this.#folder)}${this.#port}`;
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
