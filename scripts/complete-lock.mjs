// Adds the native packages of all platforms to package-lock.json, including those that the registry npm used does not
// have: without them `npm ci` refuses the lock, and other platforms would lack their binaries. `npm run lock` runs it
// after a change of dependencies; test/house.test.ts fails if it is due.
//
//   node scripts/complete-lock.mjs

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const cpus = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'wasm32'];
const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];

/** The lock with an entry for every optional dependency that a package names and the lock lacks. */
export function completeLock(lock) {
  const packages = { ...lock.packages };
  for (const owner of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
      packages[`node_modules/${name}`] ??= platformPackage(name, version, owner.dev === true);
    }
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lock, packages: Object.fromEntries(sorted) };
}

function platformPackage(name, version, dev) {
  const words = name.split(/[/-]/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = cpus.filter((known) => words.includes(known));
  if (os.length === 0 && cpu.length === 0) {
    throw new Error(`package-lock.json lacks ${name} ${version}, and its name tells of no platform: add it by hand`);
  }
  const libc = os.includes('linux') ? [name.includes('musl') ? 'musl' : 'glibc'] : undefined;
  return { version, cpu, ...(dev && { dev }), ...(libc && { libc }), optional: true, os };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lockUrl = new URL('../package-lock.json', import.meta.url);
  const lock = JSON.parse(readFileSync(lockUrl, 'utf8'));
  const completed = completeLock(lock);
  writeFileSync(lockUrl, `${JSON.stringify(completed, null, 2)}\n`);
  const added = Object.keys(completed.packages).filter((path) => !(path in lock.packages));
  console.error(`package-lock.json: ${added.length} packages of other platforms added`);
}
