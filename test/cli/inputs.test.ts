// Compressed input files.
import * as nodeFs from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type InputFile, openInputs } from '../../src/cli/files/inputs.js';
import { TempFiles } from '../../src/cli/files/temp-files.js';
import { threadsFor } from '../../src/cli/run/thread-count.js';
import type { Io } from '../../src/cli/terminal/io.js';
import { createWorld, minutesCsv } from './world.js';

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

it('no threads are started for files that are compressed', () => {
  const count = (files: Readonly<Record<string, string | Uint8Array>>) => threadsFor(open(files), 99, 1, nodeFs);
  expect(count({ 'a.csv': CSV })).toBeGreaterThan(1);
  expect(count({ 'a.csv.gz': GZIP, 'b.csv.GZ': GZIP, 'c.csv.zst': ZSTD, 'd.csv.ZST': ZSTD })).toBe(0);
});
