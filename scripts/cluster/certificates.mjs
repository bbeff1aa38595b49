// An authority of our own, and certificates for machines.

import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export class Authority {
  #key;
  /** Its certificate. */
  path;

  /** @param {string} folder */
  constructor(folder) {
    this.#key = join(folder, 'ca.key');
    this.path = join(folder, 'ca.crt');
  }

  async start() {
    const words = ['-x509', ...KEY, '-days', '30', '-subj', '/CN=windrow cluster', '-keyout', this.#key];
    await run('openssl', ['req', ...words, '-out', this.path]);
  }

  /**
   * Puts `server.key`, `server.crt` and `ca.crt` into the folder of a machine. The certificate is for the addresses of
   * all machines: a standby copies the settings of its primary, with the path of that one's certificate, which would be
   * the same path on a machine of its own.
   */
  async certify(machine, hosts) {
    const at = (name) => join(machine.folder, name);
    const names = hosts.map((host) => `IP:${host}`);
    const subject = ['-subj', '/CN=windrow cluster node', '-addext', `subjectAltName=${names}`];
    await machine.run('openssl', 'req', ...KEY, ...subject, '-keyout', 'server.key', '-out', 'server.csr');
    const signed = ['-CA', this.path, '-CAkey', this.#key, '-days', '30', '-copy_extensions', 'copy'];
    await run('openssl', ['x509', '-req', '-in', at('server.csr'), ...signed, '-out', at('server.crt')]);
    copyFileSync(this.path, at('ca.crt'));
  }
}
