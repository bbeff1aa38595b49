// Compressed input files.
import { spawnSync } from 'node:child_process';
import * as nodeFs from 'node:fs';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type InputFile, openInputs } from '../../src/cli/files/inputs.js';
import { TempFiles } from '../../src/cli/files/temp-files.js';
import { threadsFor } from '../../src/cli/run/thread-count.js';
import type { Io } from '../../src/cli/terminal/io.js';
import { createWorld, minutesCsv, requestText } from './world.js';

const CSV = minutesCsv([1, 2, 3]);
const GZIP = gzipSync(CSV);
const ZSTD = nodeFs.readFileSync(new URL('../formats/files/two-frames.csv.zst', import.meta.url));

function open(files: Readonly<Record<string, string | Uint8Array>>): readonly InputFile[] {
  const world = createWorld();
  const paths = Object.entries(files).map(([name, content]) => world.write(name, content));
  // `as`: all that opening regular files uses.
  const io = { fs: nodeFs, tempFolder: world.folder, clock: () => 0 } as unknown as Io;
  return openInputs(paths, false, io, new TempFiles(io));
}

async function bytesOf({ blocks }: InputFile): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const block of blocks(() => {})) parts.push(block.slice());
  return Buffer.concat(parts);
}

it.each([
  ['csv.gzip', 'a.csv.gz', GZIP],
  ['csv.zstd', 'a.csv.zst', ZSTD],
])('a damaged file has the error code of its compression: %s', async (code, name, packed) => {
  for (const damaged of [packed.subarray(0, packed.length - 9), Buffer.from(CSV)]) {
    const [input] = open({ [name]: damaged });
    await expect(bytesOf(input!)).rejects.toMatchObject({ name: 'WindrowError', code });
  }
});

it.each([1, 100, 3_000_000])('zeros behind a gzip file are its end, however slowly it is read: %d', async (count) => {
  const [input] = open({ 'a.csv.gz': Buffer.concat([GZIP, Buffer.alloc(count)]) });
  for (let delayMs = 0; delayMs < 5; delayMs++) {
    const parts: Uint8Array[] = [];
    for await (const block of input!.blocks(() => {})) {
      parts.push(block.slice());
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
    expect(Buffer.concat(parts).toString()).toBe(CSV);
  }
});

it('no threads are started for files that are compressed', () => {
  const count = (files: Readonly<Record<string, string | Uint8Array>>) => threadsFor(open(files), 99, 1, nodeFs);
  expect(count({ 'a.csv': CSV })).toBeGreaterThan(1);
  expect(count({ 'a.csv.gz': GZIP, 'b.csv.GZ': GZIP, 'c.csv.zst': ZSTD, 'd.csv.ZST': ZSTD })).toBe(0);
});

describe('what cannot be read is told by its name', () => {
  const failing = (code: string): Readable =>
    new Readable({
      read(): void {
        this.destroy(Object.assign(new Error(`${code}: read`), { code }));
      },
    });

  it.each([
    ['a request', ['validate', '-'], 'standard input'],
    ['series', ['run', '~/request.json', '--input', '-'], 'stdin'],
    [
      'a password',
      ['user', 'add', 'zoe', '--org', 'acme', '--password-stdin', '--data-dir', '~/data'],
      'standard input',
    ],
  ])('standard input that fails: %s', async (_, words, name) => {
    const world = createWorld({ stdin: failing('EIO') });
    world.write('request.json', requestText('Mul', { scalar: 2 }));
    const stderr = `windrow: ${name}: could not be read (EIO)\n`;
    expect(await world.run(...words)).toEqual({ code: 1, stdout: '', stderr });
    expect(world.files()).toEqual(['request.json']);
  });

  it('a named pipe that may not be opened', async () => {
    const createReadStream = (() => failing('EACCES')) as unknown as typeof nodeFs.createReadStream;
    const world = createWorld({ fs: { createReadStream } });
    world.write('request.json', requestText('Mul', { scalar: 2 }));
    spawnSync('mkfifo', [world.path('office.csv')]);
    const { code, stderr } = await world.run('run', '~/request.json', '--input', '~/office.csv');
    expect(stderr).toBe('windrow: ~/office.csv: permission denied to read it; check its permissions (EACCES)\n');
    expect(code).toBe(1);
  });

  it.each(['1', '2'])('a file that is shortened while %s threads read it', async (threads) => {
    const readSync = ((...given: Parameters<typeof nodeFs.readSync>) => {
      const count = nodeFs.readSync(...given);
      const [descriptor] = given;
      const { size } = nodeFs.fstatSync(descriptor);
      if (size > 30_000) nodeFs.truncateSync(`/proc/self/fd/${descriptor}`, count);
      return count;
    }) as typeof nodeFs.readSync;
    const world = createWorld({ fs: { readSync } });
    world.write('request.json', requestText('Mul', { scalar: 2 }));
    world.write('office.csv', minutesCsv(Array.from({ length: 20_000 }, (_, i) => i)));
    const run = ['run', '~/request.json', '--input', '~/office.csv', '--output', '~/out.csv', '--threads', threads];
    const stderr = 'windrow: ~/office.csv: was shortened while it was read; run again once nothing writes to it\n';
    expect(await world.run(...run)).toEqual({ code: 1, stdout: '', stderr });
    expect(world.files()).toEqual(['office.csv', 'request.json']);
  });

  it.each(['parquet', 'arrow'])('a file of %s that is shortened while it is read', async (format) => {
    let readsLeft = Number.POSITIVE_INFINITY;
    const readSync = ((...given: Parameters<typeof nodeFs.readSync>) => {
      if (--readsLeft === 0) nodeFs.truncateSync(`/proc/self/fd/${given[0]}`, 50_000);
      return nodeFs.readSync(...given);
    }) as typeof nodeFs.readSync;
    const world = createWorld({ fs: { readSync } });
    world.write('request.json', requestText('Mul', { scalar: 2 }));
    world.write('office.csv', minutesCsv(Array.from({ length: 20_000 }, (_, i) => Math.sqrt(i))));
    const convert = ['run', '~/request.json', '--input', '~/office.csv'];
    expect(await world.run(...convert, '--output', `~/office.${format}`)).toMatchObject({ code: 0 });
    readsLeft = 3;
    const { code, stderr } = await world.run('plot', `~/office.${format}`, '--output', '~/office.svg');
    expect(stderr).toBe(
      `windrow: ~/office.${format}: was shortened while it was read; run again once nothing writes to it\n`,
    );
    expect(code).toBe(1);
  });

  it('a link that leads nowhere is not proposed for itself', async () => {
    const world = createWorld();
    nodeFs.symlinkSync('nowhere.csv', world.path('office.csv'));
    const { code, stderr } = await world.run('init', '~/office.csv');
    expect(stderr).toBe('windrow: ~/office.csv: no such file; it is a link to a file that does not exist\n');
    expect(code).toBe(2);
  });
});
