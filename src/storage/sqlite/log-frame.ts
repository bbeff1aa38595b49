import { crc32 } from 'node:zlib';
import { ByteReader, ByteWriter } from '../samples/bytes.js';
import type { SqlValue } from './database.js';
import type { Statement } from './statements.js';

// A frame is what one group of commits wrote, as statements: little-endian
//
//     uint32  CRC-32 of all that follows
//     uint32  byte length of the statements
//     double  epoch, a random whole number
//     double  number of the frame in its epoch, from 0
//     …       statements

export const HEAD_BYTES = 24;

/** Which frame it is: the file holds those of its epoch, and behind them what is left of earlier ones. */
export interface FrameNumber {
  readonly epoch: number;
  readonly sequence: number;
}

export function encodeFrame(statements: readonly Statement[], { epoch, sequence }: FrameNumber): Uint8Array {
  const writer = new ByteWriter(4096);
  writer.reserve(HEAD_BYTES);
  writer.varint(statements.length);
  let last: string | undefined;
  for (const { sql, values } of statements) {
    // Many rows of a table are often written one after the other.
    writer.byte(sql === last ? 0 : 1);
    if (sql !== last) writer.text(sql);
    last = sql;
    writer.varint(values.length);
    for (const value of values) writeValue(writer, value);
  }
  const frame = writer.toBytes();
  const view = new DataView(frame.buffer);
  view.setUint32(4, frame.length - HEAD_BYTES, true);
  view.setFloat64(8, epoch, true);
  view.setFloat64(16, sequence, true);
  view.setUint32(0, crc32(frame.subarray(4)), true);
  return frame;
}

/**
 * The statements of the frame that begins at a place, and where it ends; undefined where this frame does not stand
 * there, or not whole.
 */
export function decodeFrame(
  bytes: Uint8Array,
  at: number,
  { epoch, sequence }: FrameNumber,
): { readonly statements: readonly Statement[]; readonly end: number } | undefined {
  if (at + HEAD_BYTES > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getFloat64(at + 8, true) !== epoch || view.getFloat64(at + 16, true) !== sequence) return undefined;
  const end = at + HEAD_BYTES + view.getUint32(at + 4, true);
  if (end > bytes.length || crc32(bytes.subarray(at + 4, end)) !== view.getUint32(at, true)) return undefined;
  return { statements: readStatements(new ByteReader(bytes, at + HEAD_BYTES)), end };
}

function readStatements(reader: ByteReader): Statement[] {
  const statements: Statement[] = [];
  let sql = '';
  for (let left = reader.varint(); left > 0; left--) {
    if (reader.byte() === 1) sql = reader.text();
    const valueCount = reader.varint();
    statements.push({ sql, values: Array.from({ length: valueCount }, () => readValue(reader)) });
  }
  return statements;
}

const [NULL, NUMBER, TEXT, BYTES, BIGINT] = [0, 1, 2, 3, 4] as const;

function writeValue(writer: ByteWriter, value: SqlValue): void {
  if (value === null) {
    writer.byte(NULL);
  } else if (typeof value === 'number') {
    writer.byte(NUMBER);
    writer.double(value);
  } else if (typeof value === 'string') {
    writer.byte(TEXT);
    writer.text(value);
  } else if (typeof value === 'bigint') {
    writer.byte(BIGINT);
    writer.text(String(value));
  } else {
    writer.byte(BYTES);
    writer.varint(value.length);
    writer.bytes(value);
  }
}

function readValue(reader: ByteReader): SqlValue {
  switch (reader.byte()) {
    case NULL:
      return null;
    case NUMBER:
      return reader.double();
    case TEXT:
      return reader.text();
    case BYTES:
      return reader.bytes(reader.varint()).slice();
    case BIGINT:
      return BigInt(reader.text());
    default:
      throw new RangeError('the commit log is damaged, or of a later version');
  }
}

/** About the bytes of a frame. */
export function frameBytes(statements: readonly Statement[]): number {
  let byteCount = HEAD_BYTES;
  for (const { sql, values } of statements) {
    byteCount += sql.length;
    for (const value of values) {
      byteCount += typeof value === 'string' || value instanceof Uint8Array ? value.length + 4 : 9;
    }
  }
  return byteCount;
}
