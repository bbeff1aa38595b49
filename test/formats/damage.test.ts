// Damaged and truncated files end with an error; what they lose is never lost in silence.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WindrowError } from '../../src/core/errors.js';
import type { Series } from '../../src/core/series.js';
import { arrow } from '../../src/formats/arrow/arrow.js';
import type { Format, FormatSource } from '../../src/formats/format.js';
import { checkPages } from '../../src/formats/parquet/check-pages.js';
import { parquet } from '../../src/formats/parquet/parquet.js';

const COUNT = 40;

const fileOf = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(`files/${name}`, import.meta.url)));

async function written(format: Format, count = COUNT): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const writer = await format.openWriter!((bytes) => parts.push(bytes.slice()), `x.${format.name}`);
  const timeMs = Float64Array.from({ length: count }, (_, i) => 17e11 + i * 60_000);
  writer.write({ timeseriesId: 'office', metric: 'Raw', timeMs, value: timeMs.map((_, i) => i + 0.5) });
  writer.end();
  return new Uint8Array(Buffer.concat(parts));
}

/** A file on disk, or one that arrives as a stream. */
function sourceOf(bytes: Uint8Array, isStream: boolean): FormatSource {
  const readAt = (into: Uint8Array, at: number): number => {
    const part = bytes.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  };
  const blocks = async function* () {
    yield bytes.slice();
  };
  return { name: 'x', blocks, ...(isStream ? {} : { random: { sizeBytes: bytes.length, readAt } }) };
}

async function read(format: Format, bytes: Uint8Array, isStream = false) {
  const values: number[] = [];
  const onChunk = (chunk: readonly Series[]): void => {
    for (const { value } of chunk) values.push(...[...value].filter(Number.isFinite));
  };
  const options = { fileName: 'x', chunkRows: 1000 };
  const summary = await format.read(sourceOf(bytes, isStream), options, { onChunk, isStopped: () => false });
  return { values, notes: summary!.notes };
}

test.each([parquet, arrow])('a file that is cut off anywhere is refused: $name', async (format) => {
  const bytes = await written(format);
  expect((await read(format, bytes)).values).toHaveLength(COUNT);
  for (let length = 0; length < bytes.length; length++) {
    for (const isStream of [false, true]) {
      await expect(read(format, bytes.slice(0, length), isStream), `${length} bytes`).rejects.toThrow(WindrowError);
    }
  }
});

test.each([parquet, arrow])('files joined as by `cat` are refused: $name', async (format) => {
  const few = await written(format, COUNT);
  const many = await written(format, 50 * COUNT);
  for (const files of [
    [few, few],
    [few, many],
    [many, few],
    [few, few, few],
  ]) {
    for (const isStream of [false, true]) {
      await expect(read(format, new Uint8Array(Buffer.concat(files)), isStream)).rejects.toThrow(WindrowError);
    }
  }
  await expect(read(format, new Uint8Array(Buffer.concat([few, few])))).rejects.toThrow(
    'several files in one, and the index is that of the last: give each as an input of its own',
  );
});

test('a Parquet file with a changed bit in a page is refused, or loses no more than that value', async () => {
  const bytes = await written(parquet);
  // The file ends with its index, which has no checksum, the length of the index, and four letters.
  const indexBytes = new DataView(bytes.buffer, bytes.length - 8).getUint32(0, true);
  for (let at = 0; at < bytes.length - 8 - indexBytes; at++) {
    const changed = bytes.slice();
    changed[at]! ^= 1 << (at % 8);
    const found = await read(parquet, changed).catch((error: unknown) => error);
    if (found instanceof Error) expect(found).toBeInstanceOf(WindrowError);
    else expect((found as { values: number[] }).values.length, `byte ${at}`).toBeGreaterThanOrEqual(COUNT - 1);
  }
});

async function pageErrors(bytes: Uint8Array): Promise<unknown[]> {
  const { parquetMetadata } = await import('hyparquet');
  const { buffer } = bytes.slice();
  const chunks = parquetMetadata(buffer).row_groups.flatMap(({ columns }) => columns.flatMap((one) => one.meta_data!));
  const file = { byteLength: buffer.byteLength, slice: (from: number, to?: number) => buffer.slice(from, to) };
  return Promise.all(chunks.map((chunk) => checkPages(file, chunk).catch((error: unknown) => error)));
}

test('pages of a Parquet file are compared with their checksums', async () => {
  const bytes = fileOf('checksums.parquet');
  expect(await pageErrors(bytes)).toEqual([undefined, undefined]);
  const changed = bytes.slice();
  // In the second page of the first column.
  changed[800]! ^= 1;
  expect(await pageErrors(changed)).toEqual([
    new Error('a page of the column a does not match its checksum'),
    undefined,
  ]);
  await expect(read(parquet, fileOf('wrong-checksums.parquet'))).rejects.toThrow(
    'x: cannot be read as a Parquet file (a page of the column long_field does not match its checksum)',
  );
});

test('an Arrow stream without the mark of its end is said to be without', async () => {
  const bytes = fileOf('polars-stream.arrows');
  const whole = await read(arrow, bytes, true);
  const cut = await read(arrow, bytes.slice(0, -8), true);
  expect(cut.values).toEqual(whole.values);
  expect(cut.notes).toEqual([...whole.notes, 'no mark at its end, so it may be cut off']);
});
