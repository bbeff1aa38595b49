import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareDataDirectory } from '../../src/storage/data-directory.js';
import { openService } from './open-service.js';
import { silentLog } from './silent-log.js';

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'windrow-directory-')));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('the data directory', () => {
  it.skipIf(process.platform === 'win32')('is created with its parent folders, accessible to its owner only', () => {
    const path = join(folder, 'a', 'b', 'c');
    prepareDataDirectory(path);
    expect([modeOf(path), modeOf(join(folder, 'a'))]).toEqual([0o700, 0o700]);
    expect(readdirSync(path)).toEqual([]);
  });

  it('is left as it is if it exists, even behind a link', () => {
    mkdirSync(join(folder, 'there'), { mode: 0o755 });
    writeFileSync(join(folder, 'there', 'windrow.db'), 'x');
    symlinkSync(join(folder, 'there'), join(folder, 'link'));
    prepareDataDirectory(join(folder, 'link'));
    expect(readdirSync(join(folder, 'there'))).toEqual(['windrow.db']);
  });

  it('is refused if the path is a file or a dangling link', () => {
    writeFileSync(join(folder, 'file'), 'x');
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
    const file = join(folder, 'file');
    const refusal = (path: string, place: string, why: string) =>
      `the data directory ${path}: cannot create files in ${place} ${why}; use another path`;
    expect(() => prepareDataDirectory(file)).toThrow(refusal(file, file, '(ENOTDIR): it is not a folder'));
    const below = join(file, 'in', 'it');
    expect(() => prepareDataDirectory(below)).toThrow(refusal(below, file, '(ENOTDIR): it is not a folder'));
    const link = join(folder, 'link');
    const problem = '(EEXIST): a file or a broken link has this name';
    expect(() => prepareDataDirectory(link)).toThrow(refusal(link, folder, problem));
  });

  it.runIf(process.platform === 'linux').each([
    ['/proc', '/proc'],
    ['/proc/windrow', '/proc'],
    ['/proc/windrow/data/here', '/proc'],
    ['/proc/self/windrow', '/proc/self'],
  ])('%s, where nothing can be created, is refused at once', async (path, place) => {
    const refusal = `the data directory ${path}: cannot create files in ${place} (ENOENT): it does not accept files; `;
    expect(() => prepareDataDirectory(path)).toThrow(refusal);
    await expect(openService({ dataDirectory: path }, silentLog)).rejects.toThrow(refusal);
  });

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('is refused if it is not writable', () => {
    mkdirSync(join(folder, 'closed'), { mode: 0o500 });
    for (const path of [join(folder, 'closed'), join(folder, 'closed', 'in')]) {
      expect(() => prepareDataDirectory(path)).toThrow('check its permissions and the user that windrow runs as');
    }
  });
});
