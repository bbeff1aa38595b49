// Damaged and truncated files end with an error; what they lose is never lost in silence.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WindrowError } from '../../src/core/errors.js';
import type { Series } from '../../src/core/series.js';
import { arrow } from '../../src/formats/arrow/arrow.js';
import { unpackLz4Frame } from '../../src/formats/arrow/lz4-frame.js';
import type { Format, FormatSource } from '../../src/formats/format.js';
import { checkedPages } from '../../src/formats/parquet/check-pages.js';
import { parquet } from '../../src/formats/parquet/parquet.js';
import { openUnpackers } from '../../src/formats/parquet/unpackers.js';

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
  const messages: string[] = [];
  for (let at = 0; at < bytes.length - 8 - indexBytes; at++) {
    const changed = bytes.slice();
    changed[at]! ^= 1 << (at % 8);
    const found = await read(parquet, changed).catch((error: unknown) => error);
    if (found instanceof Error) {
      expect(found).toBeInstanceOf(WindrowError);
      messages.push(found.message);
    } else expect((found as { values: number[] }).values.length, `byte ${at}`).toBeGreaterThanOrEqual(COUNT - 1);
  }
  // The heads of pages are read before the pages.
  expect(messages.some((text) => text.includes('does not fit into it'))).toBe(true);
  expect(messages.some((text) => /has \d+ values in 40 rows/.test(text))).toBe(true);
});

async function pageErrors(bytes: Uint8Array): Promise<unknown[]> {
  const { parquetMetadata } = await import('hyparquet');
  const { buffer } = bytes.slice();
  const { row_groups: groups } = parquetMetadata(buffer);
  const chunks = groups.flatMap(({ columns, num_rows: rows }) => columns.map((one) => [one.meta_data!, rows] as const));
  const file = { byteLength: buffer.byteLength, slice: (from: number, to?: number) => buffer.slice(from, to) };
  return Promise.all(
    chunks.map(([chunk, rows]) =>
      checkedPages(file, chunk, Number(rows)).then(
        () => undefined,
        (error: unknown) => error,
      ),
    ),
  );
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

/** A file with each bit before its index changed, one at a time. */
function* withChangedBits(bytes: Uint8Array): Generator<Uint8Array> {
  const indexBytes = new DataView(bytes.buffer, bytes.length - 8).getUint32(0, true);
  for (let bit = 32; bit < 8 * (bytes.length - 8 - indexBytes); bit++) {
    const changed = bytes.slice();
    changed[bit >> 3]! ^= 1 << (bit & 7);
    yield changed;
  }
}

/** Why files with a changed bit are refused; checks what is read of the others. */
async function faultsOfBits(bytes: Uint8Array, check: (values: readonly number[]) => void) {
  const messages: string[] = [];
  for (const changed of withChangedBits(bytes)) {
    const found = await read(parquet, changed).catch((error: unknown) => error);
    if (found instanceof WindrowError) messages.push(found.message);
    else check((found as { values: number[] }).values);
  }
  return messages;
}

test('a Parquet page whose head is impossible is refused: hyparquet would read some of them for ever', async () => {
  const bytes = fileOf('pages-v2.parquet');
  const messages = new Set<string>();
  for (const changed of withChangedBits(bytes)) {
    for (const error of await pageErrors(changed)) if (error !== undefined) messages.add((error as Error).message);
  }
  expect(messages).toContain('a page of the column office has a head that no page has, so the file is damaged');
  expect(messages).toContain('a page of the column timestamp needs a dictionary, and there is none');
});

test.each(['pages-v1.parquet', 'pages-v2.parquet'])('a changed bit makes no missing values: %s', async (name) => {
  const bytes = fileOf(name);
  const { values } = await read(parquet, bytes);
  expect(values).toHaveLength(35);
  const messages = await faultsOfBits(bytes, (found) => expect(found).toHaveLength(35));
  const faults = messages.map((text) => text.replace(/.*cannot be read: (.*)\)$/, '$1'));
  expect(faults).toContain('a value of it is not in the dictionary');
  const reason = name.includes('v2')
    ? 'it has 6 missing values instead of 5'
    : 'the column office has 6 missing values, but 5 according to its statistics';
  expect(faults.join('\n')).toContain(reason);
});

test('a file of Polars, which tells the missing values once for each page, is no damaged one', async () => {
  const { values } = await read(parquet, fileOf('polars-pages.parquet'));
  const expected = Array.from({ length: 200 }, (_, i) => i % 7).filter((_, i) => i % 3 > 0);
  expect(values).toEqual(expected);
});

test('pages that are packed with gzip are compared with its checksums', async () => {
  const bytes = fileOf('pages-gzip.parquet');
  const { values } = await read(parquet, bytes);
  const messages = await faultsOfBits(bytes, (found) => expect(found).toEqual(values));
  const fault = 'a page of the column office cannot be read: its content does not match its checksum';
  expect(messages.join('\n')).toContain(fault);
});

test('pages that are packed with Zstandard are compared with its checksums, where they have any', async () => {
  const { ZSTD: unpack } = await openUnpackers();
  const packed = fileOf('two-frames.csv.zst');
  const text = new TextDecoder().decode(unpack!(packed, 0));
  expect(text.split('\n')).toHaveLength(5);
  packed[packed.length - 1]! ^= 1;
  expect(() => unpack!(packed, 0)).toThrow('its content does not match its checksum');
});

test('a block of LZ4 that leaves its bounds is refused', () => {
  const frame = (...block: number[]): Uint8Array => {
    const size = [block.length, 0, 0, 0];
    return Uint8Array.of(0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0, ...size, ...block, 0, 0, 0, 0);
  };
  expect(unpackLz4Frame(frame(0x20, 1, 2))).toEqual(Uint8Array.of(1, 2));
  // Five literals, of which there are two, and a match that lies before the output.
  for (const block of [
    [0x50, 1, 2],
    [0x20, 1, 2, 3, 0, 0x50, 1, 2, 3, 4, 5],
  ]) {
    expect(() => unpackLz4Frame(frame(...block))).toThrow('a damaged block of LZ4');
  }
});

test.each(['polars-lz4.arrow', 'polars-zstd.arrow'])('a buffer of another length is refused: %s', async (name) => {
  const bytes = fileOf(name);
  const { values } = await read(arrow, bytes);
  // Before each of the two columns stands how many bytes it has.
  const places = placesOf(bytes, 8 * values.length);
  expect(places).toHaveLength(2);
  bytes[places[1]!]! ^= 1;
  await expect(read(arrow, bytes)).rejects.toThrow('(record batch 1: a buffer has 80000 bytes instead of 80001)');
});

/** Where a file has a number of 8 bytes. */
function placesOf(bytes: Uint8Array, value: number): number[] {
  const view = new DataView(bytes.buffer);
  const places = Array.from({ length: bytes.length - 7 }, (_, at) => at);
  return places.filter((at) => view.getBigInt64(at, true) === BigInt(value));
}

test('an Arrow batch with a damaged number of rows is refused before memory is taken for them', async () => {
  const bytes = await written(arrow, 41);
  // The first is that of the batch, the others are those of its columns.
  const [at] = placesOf(bytes, 41);
  bytes[at! + 3]! ^= 8;
  for (const isStream of [false, true]) {
    await expect(read(arrow, bytes, isStream)).rejects.toThrow('(a column has fewer values than rows)');
  }
});

/** An Arrow file of a column of texts and one of numbers, whose second value is missing. */
async function texts() {
  const { Table, tableToIPC, vectorFromArray, Utf8, Float64 } = await import('apache-arrow');
  const table = new Table({
    timestamp: vectorFromArray([0, 1, 2].map((i) => new Date(17e11 + i * 6e4))),
    timeseriesId: vectorFromArray(['office', 'cellar', 'office'], new Utf8()),
    value: vectorFromArray([1.5, null, 2.5], new Float64()),
  });
  const bytes = tableToIPC(table, 'file').slice();
  return { bytes, at: Buffer.from(bytes).indexOf('officecellaroffice') };
}

test('texts of Arrow that overlap or lie beyond the end of their column are refused', async () => {
  const { bytes, at } = await texts();
  const view = new DataView(bytes.buffer);
  const places = Array.from({ length: at }, (_, place) => place).filter((place) => place % 4 === 0);
  // Where each text ends: 6, 12 and 18.
  const ends = places.filter((place) => [6, 12, 18].every((end, i) => view.getInt32(place + 4 * i, true) === end));
  expect(ends).toHaveLength(1);
  for (const [place, end] of [
    [0, -1],
    [4, 3],
    [8, 99],
  ] as const) {
    const changed = bytes.slice();
    new DataView(changed.buffer).setInt32(ends[0]! + place, end, true);
    for (const isStream of [false, true]) {
      const fault = '(the column timeseriesId has texts that overlap or lie beyond its end)';
      await expect(read(arrow, changed, isStream)).rejects.toThrow(fault);
    }
  }
});

test('a name of Arrow that is not UTF-8 is refused, as two of them would be one', async () => {
  const { Table, tableToIPC, vectorFromArray, Utf8 } = await import('apache-arrow');
  const { bytes, at } = await texts();
  bytes[at] = 0xff;
  await expect(read(arrow, bytes)).rejects.toThrow('(a text in the column timeseriesId is not UTF-8)');
  // In a dictionary, beside a column that nobody reads.
  const timestamp = vectorFromArray([0, 1].map((i) => new Date(17e11 + i * 6e4)));
  const note = vectorFromArray(['word', 'word'], new Utf8());
  const timeseriesId = vectorFromArray(['office', 'cellar']);
  const value = vectorFromArray([1.5, 2.5]);
  const table = new Table({ timestamp, timeseriesId, note, value });
  const named = tableToIPC(table, 'file').slice();
  named[Buffer.from(named).indexOf('wordword')] = 0xff;
  expect((await read(arrow, named)).values).toEqual([1.5, 2.5]);
  named[Buffer.from(named).indexOf('officecellar')] = 0xff;
  await expect(read(arrow, named)).rejects.toThrow('(a text in the column timeseriesId is not UTF-8)');
});

test('names of Arrow that a byte order mark tells apart are two', async () => {
  const { Table, tableToIPC, vectorFromArray, Utf8 } = await import('apache-arrow');
  const names = ['office', '\ufeffoffice'];
  const timestamp = vectorFromArray(names.map((_, i) => new Date(17e11 + i * 6e4)));
  const value = vectorFromArray([1, 2]);
  for (const timeseriesId of [vectorFromArray(names, new Utf8()), vectorFromArray(names)]) {
    const bytes = tableToIPC(new Table({ timestamp, timeseriesId, value }), 'file').slice();
    const listener = { onChunk: () => undefined, isStopped: () => false };
    const summary = await arrow.read(sourceOf(bytes, false), { fileName: 'x' }, listener);
    expect(summary!.series.map((series) => series.timeseriesId)).toEqual(names);
  }
});

test('a column of Arrow with more or fewer missing values than it tells is refused', async () => {
  const { bytes } = await texts();
  expect((await read(arrow, bytes)).values).toEqual([1.5, 2.5]);
  const view = new DataView(bytes.buffer);
  // The bits of the values that are there, before the values.
  const at = placesOf(bytes, 0b101).filter((place) => place % 8 === 0 && view.getFloat64(place + 64, true) === 1.5);
  expect(at).toHaveLength(1);
  bytes[at[0]!] = 1;
  const fault = '(the column value has 2 missing values, but 1 according to its head)';
  await expect(read(arrow, bytes)).rejects.toThrow(fault);
});

test('a value of Arrow that is not in its dictionary is no missing value', async () => {
  const { Table, tableToIPC, vectorFromArray, Dictionary, Int32, Float64 } = await import('apache-arrow');
  const value = vectorFromArray([10, 20, 10], new Dictionary(new Float64(), new Int32()));
  const timestamp = vectorFromArray([0, 1, 2].map((i) => new Date(17e11 + i * 6e4)));
  const table = new Table({ timestamp, value });
  const bytes = tableToIPC(table, 'file').slice();
  expect((await read(arrow, bytes)).values).toEqual([10, 20, 10]);
  const view = new DataView(bytes.buffer);
  const isIndices = (at: number): boolean => [0, 1, 0].every((index, i) => view.getInt32(at + 4 * i, true) === index);
  const places = Array.from({ length: bytes.length / 8 - 2 }, (_, i) => 8 * i).filter(isIndices);
  view.setInt32(places.at(-1)! + 4, 2, true);
  await expect(read(arrow, bytes)).rejects.toThrow('(the column value has a value that is not in its dictionary)');
});

async function threeBatches() {
  const { RecordBatchFileWriter, RecordBatchReader, tableFromArrays } = await import('apache-arrow');
  const tables = [0, 1, 2].map((day) => {
    const timestamp = Array.from({ length: COUNT }, (_, i) => new Date(17e11 + day * 864e5 + i * 6e4));
    return tableFromArrays({ timestamp, office: timestamp.map((_, i) => day + i + 0.5) });
  });
  const bytes = RecordBatchFileWriter.writeAll(tables.flatMap(({ batches }) => batches))
    .toUint8Array(true)
    .slice();
  return { bytes, blocks: [...RecordBatchReader.from(bytes).open().footer!.recordBatches()] };
}

test('an Arrow file whose index leads to a batch twice, or to none, is refused', async () => {
  const { bytes, blocks } = await threeBatches();
  expect((await read(arrow, bytes)).values).toHaveLength(3 * COUNT);
  const twice = bytes.slice();
  const [at] = placesOf(bytes, blocks[1]!.offset).slice(-1);
  new DataView(twice.buffer).setBigInt64(at!, BigInt(blocks[0]!.offset), true);
  const none = bytes.slice();
  none.fill(0, blocks[1]!.offset, blocks[1]!.offset + 8);
  for (const isStream of [false, true]) {
    await expect(read(arrow, twice, isStream)).rejects.toThrow('(its index is damaged)');
    await expect(read(arrow, none, isStream)).rejects.toThrow(
      'of the 3 record batches in its index, only 1 can be read',
    );
  }
});

test('an Arrow file whose index leads to a message of another type is refused, and not read for ever', async () => {
  const { Message, MessageHeader } = await import('apache-arrow');
  const { bytes, blocks } = await threeBatches();
  const { offset, metaDataLength } = blocks[1]!;
  const typeAt = (at: number): number | undefined => {
    bytes[at]! ^= 8;
    try {
      return Message.decode(bytes.slice(offset + 8, offset + metaDataLength)).headerType;
    } catch {
      return undefined;
    } finally {
      bytes[at]! ^= 8;
    }
  };
  // The type is a byte of the head.
  const places = Array.from({ length: metaDataLength - 8 }, (_, i) => offset + 8 + i);
  bytes[places.find((at) => typeAt(at) === (MessageHeader.RecordBatch ^ 8))!]! ^= 8;
  const source = sourceOf(bytes, false);
  let readCount = 0;
  const readAt = (into: Uint8Array, at: number): number => {
    if (readCount++ > 1000) throw new Error('read for ever');
    return source.random!.readAt(into, at);
  };
  const listener = { onChunk: () => undefined, isStopped: () => false };
  const random = { sizeBytes: bytes.length, readAt };
  await expect(arrow.read({ ...source, random }, { fileName: 'x' }, listener)).rejects.toThrow(
    'x: cannot be read as an Arrow file (record batch 2: Expected RecordBatch Message',
  );
  await expect(read(arrow, bytes, true)).rejects.toThrow('(record batch 2: Expected RecordBatch Message');
});

test('an Arrow stream without the mark of its end is said to be without', async () => {
  const bytes = fileOf('polars-stream.arrows');
  const whole = await read(arrow, bytes, true);
  const cut = await read(arrow, bytes.slice(0, -8), true);
  expect(cut.values).toEqual(whole.values);
  expect(cut.notes).toEqual([...whole.notes, 'no mark at its end, so it may be cut off']);
});

test('an Arrow stream with a changed bit in the head of a message is refused, and not read for ever', async () => {
  const arrows = await import('apache-arrow');
  const { Dictionary, Int32, Message, RecordBatchStreamWriter, Table, Utf8, vectorFromArray } = arrows;
  const names = new Dictionary(new Utf8(), new Int32());
  const tables = [0, 1, 2].map((day) => {
    const timestamp = Array.from({ length: COUNT }, (_, i) => new Date(17e11 + day * 864e5 + i * 6e4));
    return new Table({
      timestamp: vectorFromArray(timestamp),
      timeseriesId: vectorFromArray(
        timestamp.map((_, i) => `office-${i % 2}`),
        names,
      ),
      value: vectorFromArray(timestamp.map((_, i) => day + i + 0.5)),
    });
  });
  const bytes = RecordBatchStreamWriter.writeAll(tables.flatMap(({ batches }) => batches))
    .toUint8Array(true)
    .slice();
  const view = new DataView(bytes.buffer);
  const whole = await read(arrow, bytes, true);
  expect(whole.values).toHaveLength(3 * COUNT);
  const messages: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const headLength = view.getInt32(at + 4, true);
    const isEnd = headLength === 0;
    const { bodyLength } = isEnd ? { bodyLength: 0 } : Message.decode(bytes.slice(at + 8, at + 8 + headLength));
    for (let place = at; place < at + 8 + headLength; place++) {
      const changed = bytes.slice();
      changed[place]! ^= 1 << (place % 8);
      const found = await read(arrow, changed, true).catch((error: unknown) => error);
      if (found instanceof Error) {
        expect(found).toBeInstanceOf(WindrowError);
        messages.push(found.message);
      } else expect((found as { values: number[] }).values, `byte ${place}`).toHaveLength(3 * COUNT);
    }
    at += 8 + headLength + Number(bodyLength);
  }
  expect(messages.some((text) => text.endsWith('(the head of a message is damaged)'))).toBe(true);
  expect(messages.some((text) => text.endsWith('(it ends within a message, so it is cut off)'))).toBe(true);
});

test('an Arrow stream as before version 0.15 has a mark at its end, too', async () => {
  const { RecordBatchStreamWriter, Table, vectorFromArray } = await import('apache-arrow');
  const timestamp = vectorFromArray([0, 1, 2].map((i) => new Date(17e11 + i * 6e4)));
  const writer = new RecordBatchStreamWriter({ writeLegacyIpcFormat: true });
  writer.write(new Table({ timestamp, value: vectorFromArray([1.5, 2.5, 3.5]) }));
  const bytes = writer.finish().toUint8Array(true).slice();
  const whole = await read(arrow, bytes, true);
  expect(whole).toMatchObject({ values: [1.5, 2.5, 3.5] });
  expect(whole.notes.join()).not.toContain('no mark at its end');
  expect((await read(arrow, bytes.slice(0, -4), true)).notes).toContain('no mark at its end, so it may be cut off');
});
