import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compiledFolder, loadFile } from '../../src/cli/compiled-code.js';
import { createWorld, minutesCsv, requestText, type World } from './world.js';

const commandPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const require = createRequire(import.meta.url);
const isRoot = process.geteuid?.() === 0;
const STRANGER = 12_345;

/** A run of the built command that keeps its code in the folder `caches`; gives its results. */
function run(world: World, environment: Record<string, string> = {}, nodeOptions: readonly string[] = []): string {
  const { NODE_DISABLE_COMPILE_CACHE, ...usual } = process.env;
  const words = ['run', world.path('request.json'), '--input', world.path('office.csv'), '--quiet'];
  const env = { ...usual, XDG_CACHE_HOME: world.path('caches'), ...environment };
  const { stdout, stderr, status } = spawnSync(process.execPath, [...nodeOptions, commandPath, ...words], {
    env,
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout;
}

function worldOfRuns(): World {
  const world = createWorld();
  world.write('request.json', requestText('Mul', { scalar: 2 }));
  world.write('office.csv', minutesCsv([1, 2, 3]));
  mkdirSync(world.path('caches'));
  return world;
}

/** What is kept, as paths. */
function keptIn(world: World): string[] {
  const folder = world.path('caches/windrow');
  return readdirSync(folder).map((name) => join(folder, name));
}

function keptOnce(world: World): string {
  const [path = '', ...more] = keptIn(world);
  expect(more).toEqual([]);
  return path;
}

describe.skipIf(process.platform === 'win32')('compiled code', () => {
  it('is kept by a first run for its user alone, and taken by the next', () => {
    const world = worldOfRuns();
    const first = run(world);
    const path = keptOnce(world);
    expect([statSync(world.path('caches/windrow')).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
    const { ino } = statSync(path);
    expect(run(world)).toBe(first);
    expect(statSync(keptOnce(world)).ino).toBe(ino);
  });

  it('is made anew where it is of another V8', () => {
    const world = worldOfRuns();
    const first = run(world);
    const { ino } = statSync(keptOnce(world));
    expect(run(world, {}, ['--no-opt'])).toBe(first);
    expect(statSync(keptOnce(world)).ino).not.toBe(ino);
  });

  it('is made anew where it is damaged', () => {
    const world = worldOfRuns();
    const first = run(world);
    const path = keptOnce(world);
    const whole = readFileSync(path);
    const damaged: Buffer[] = [
      Buffer.alloc(0),
      Buffer.alloc(whole.length),
      whole.subarray(0, -4),
      whole.subarray(0, 1000),
    ];
    for (const place of [0.5, 0.9]) damaged.push(flipped(whole, Math.floor(place * whole.length)));
    for (const bytes of damaged) {
      writeFileSync(path, bytes);
      const { ino } = statSync(path);
      expect(run(world)).toBe(first);
      expect(statSync(keptOnce(world)).ino).not.toBe(ino);
    }
  });

  it('is not trusted with any byte changed', () => {
    const { path, folder, load, kept } = smallFile();
    load().keep();
    const whole = readFileSync(kept());
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        writeFileSync(kept(), flipped(whole, at, change));
        const { ino } = statSync(kept());
        load().keep();
        expect(statSync(kept()).ino).not.toBe(ino);
      }),
    );
    expect(readdirSync(folder).length).toBe(1);
    writeFileSync(path, readFileSync(path, 'utf8').replace('41', '42'));
    expect(load().exports).toEqual({ answer: 43, name: path });
  });

  it('is neither read nor written where others may write', () => {
    const { folder, load, kept } = smallFile();
    load().keep();
    chmodSync(folder, 0o770);
    const { ino } = statSync(kept());
    load().keep();
    expect(statSync(kept()).ino).toBe(ino);
    chmodSync(folder, 0o700);
    chmodSync(kept(), 0o620);
    load().keep();
    expect([statSync(kept()).mode & 0o777, statSync(kept()).ino === ino]).toEqual([0o600, false]);
  });

  it.skipIf(!isRoot)('is neither read nor written where it is not our own', () => {
    const world = worldOfRuns();
    const first = run(world);
    const path = keptOnce(world);
    const { ino } = statSync(path);
    writeFileSync(path, 'of a stranger');
    for (const owned of [world.path('caches/windrow'), world.path('caches')]) {
      chownSync(owned, STRANGER, STRANGER);
      expect(run(world)).toBe(first);
      expect([statSync(path).ino, readFileSync(path, 'utf8')]).toEqual([ino, 'of a stranger']);
      chownSync(owned, 0, 0);
    }
    chownSync(path, STRANGER, STRANGER);
    expect(run(world)).toBe(first);
    expect(statSync(path).uid).toBe(0);
  });

  it('stays away where nothing can be written', () => {
    const world = worldOfRuns();
    world.write('caches/windrow', '');
    const first = run(world);
    expect(world.read('caches/windrow')).toBe('');
    expect(run(world, { XDG_CACHE_HOME: world.path('not-there') })).toBe(first);
    expect(world.files()).not.toContain('not-there');
  });

  it('is neither read nor written where its folder is a link', () => {
    const world = worldOfRuns();
    mkdirSync(world.path('elsewhere'), { mode: 0o700 });
    symlinkSync(world.path('elsewhere'), world.path('caches/windrow'));
    run(world);
    expect(readdirSync(world.path('elsewhere'))).toEqual([]);
  });

  it('is not kept where the environment says so, nor by what is no run', () => {
    const world = worldOfRuns();
    run(world, { NODE_DISABLE_COMPILE_CACHE: '1' });
    const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '', XDG_CACHE_HOME: world.path('caches') };
    spawnSync(process.execPath, [commandPath, 'validate', world.path('request.json')], { env });
    expect(readdirSync(world.path('caches'))).toEqual([]);
  });

  it('lies where files of its kind do', () => {
    const { folder } = createWorld();
    expect(compiledFolder({ HOME: folder }, 'linux')).toBe(join(folder, '.cache/windrow'));
    expect(compiledFolder({ HOME: folder }, 'darwin')).toBe(join(folder, 'Library/Caches/windrow'));
    expect(compiledFolder({ HOME: '/', XDG_CACHE_HOME: folder })).toBe(join(folder, 'windrow'));
    expect(compiledFolder({ HOME: folder, XDG_CACHE_HOME: 'relative' }, 'linux')).toBe(join(folder, '.cache/windrow'));
    expect(compiledFolder({ HOME: folder, NODE_DISABLE_COMPILE_CACHE: '1' })).toBe(undefined);
    expect(compiledFolder({ HOME: join(folder, 'not-there') })).toBe(undefined);
    expect(compiledFolder({})).toBe(undefined);
  });
});

/** A file to load, and a folder for what is compiled of it. */
function smallFile() {
  const world = createWorld();
  const path = world.write(
    'small.js',
    'const answer = () => 41 + 1;\nmodule.exports = { answer: answer(), name: __filename };',
  );
  const folder = world.path('kept');
  const load = () => {
    const loaded = loadFile(path, require, folder);
    expect(loaded.exports).toHaveProperty('name', path);
    return loaded;
  };
  return { path, folder, load, kept: () => join(folder, readdirSync(folder)[0] ?? '') };
}

function flipped(bytes: Buffer, at: number, change = 0x55): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ change;
  return copy;
}
