import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter } from '../../../src/storage/samples/codec/bytes.js';
import { readColumn, writeColumn } from '../../../src/storage/samples/codec/column.js';
import type { Packing } from '../../../src/storage/samples/codec/planes.js';

const packings: readonly Packing[] = ['fast', 'small'];

const anyDouble = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 5e-324, -5e-324, 2 ** 51, 2 ** 53, -(2 ** 53), Number.MAX_VALUE, 0.1 + 0.2, 1e-18, 1e22),
);
const decimal = fc
  .tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.integer({ min: 0, max: 12 }))
  .map(([whole, exponent]) => whole / 10 ** exponent);
const walk = fc
  .tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.array(fc.integer({ min: -300, max: 300 }), { maxLength: 400 }))
  .map(([start, steps]) => {
    return runningSums(start, steps).map((hundredths) => hundredths / 100);
  });
const times = fc
  .tuple(
    fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
    fc.integer({ min: 1, max: 86_400_000 }),
    fc.array(fc.constantFrom(0, 0, 0, 0, 1, 17, 1e9), { maxLength: 300 }),
  )
  .map(([start, step, jitters]) => {
    return runningSums(
      start,
      jitters.map((jitter) => step + jitter),
    );
  });
/** A walk in which a few values have all digits, or are -0. */
const flawed = fc
  .tuple(walk, fc.array(fc.tuple(fc.nat(), fc.oneof(anyDouble, fc.constant(-0), decimal)), { maxLength: 12 }))
  .map(([numbers, flaws]) => {
    for (const [place, value] of flaws) if (numbers.length > 0) numbers[place % numbers.length] = value;
    return numbers;
  });
const whole = (bits: number) => fc.integer({ min: 0, max: 2 ** bits - 1 });
const widths = fc
  .integer({ min: 1, max: 31 })
  .chain((bits) => fc.array(whole(bits), { minLength: 2, maxLength: 100 }))
  .chain((numbers) => fc.constantFrom(...[1, 256, 2 ** 16, 2 ** 19].map((scale) => numbers.map((n) => n * scale))));

const column = fc
  .oneof(
    fc.array(anyDouble, { maxLength: 200 }),
    fc.array(decimal, { maxLength: 200 }),
    walk,
    flawed,
    times,
    widths,
    fc.tuple(anyDouble, fc.integer({ min: 1, max: 200 })).map(([value, count]) => new Array<number>(count).fill(value)),
  )
  .map((numbers) => Float64Array.from(numbers));

describe('a column as bytes', () => {
  for (const packing of packings) {
    it(`comes back bit for bit (${packing})`, () => {
      fc.assert(
        fc.property(column, (numbers) => {
          const bytes = encode(numbers, packing);
          expect(bits(decode(bytes, numbers.length))).toEqual(bits(numbers));
        }),
        { numRuns: 2000 },
      );
    });

    it(`is read to its last byte, so that columns can follow one another (${packing})`, () => {
      fc.assert(
        fc.property(fc.array(column, { maxLength: 5 }), (columns) => {
          const writer = new ByteWriter(1);
          for (const one of columns) writeColumn(writer, one, packing);
          const reader = new ByteReader(writer.toBytes());
          const read = columns.map((one) => {
            const target = new Float64Array(one.length);
            readColumn(reader, target, 0, target.length);
            return target;
          });
          expect(read.map(bits)).toEqual(columns.map(bits));
          expect(reader.at).toBe(writer.length);
        }),
        { numRuns: 300 },
      );
    });
  }

  it('is read into a part of a longer column, and touches nothing else', () => {
    const numbers = Float64Array.from([1.5, 2.5, -0, 7]);
    const target = new Float64Array(8).fill(9);
    readColumn(new ByteReader(encode(numbers, 'fast')), target, 2, 4);
    expect(bits(target)).toEqual(bits(Float64Array.from([9, 9, 1.5, 2.5, -0, 7, 9, 9])));
  });

  it('takes no byte a sample for a constant or for a constant step', () => {
    const step = Float64Array.from({ length: 4096 }, (_, i) => 1_700_000_000_000 + 60_000 * i);
    const constant = new Float64Array(4096).fill(0.1 + 0.2);
    expect(encode(step, 'fast').length).toBeLessThan(24);
    expect(encode(constant, 'fast').length).toBeLessThan(24);
  });

  it('takes a byte for values that differ by less than 256 of their last digit, and two below 65,536', () => {
    const numbers = (range: number) => Float64Array.from({ length: 4000 }, (_, i) => 1e6 + ((i * 7919) % range) / 100);
    expect(encode(numbers(256), 'fast').length).toBeLessThan(4000 + 24);
    expect(encode(numbers(65_536), 'fast').length).toBeLessThan(8000 + 24);
  });

  it('takes a few bytes more for each of a few values that are no short decimals, and not eight for all', () => {
    const numbers = Float64Array.from({ length: 4000 }, (_, i) => (i % 200) / 10);
    for (const [i, odd] of [-0, 1 / 3, Math.PI, 0.12345678901, -0].entries()) numbers[i * 777] = odd;
    for (const packing of packings) {
      expect(encode(numbers, packing).length).toBeLessThan(4000 + 5 * 10 + 24);
      expect(bits(decode(encode(numbers, packing), 4000))).toEqual(bits(numbers));
    }
  });

  it('is no longer than its doubles and a few bytes, whatever they are', () => {
    fc.assert(
      fc.property(column, fc.constantFrom(...packings), (numbers, packing) => {
        expect(encode(numbers, packing).length).toBeLessThanOrEqual(8 * numbers.length + 24);
      }),
    );
  });

  it('is refused when bytes are missing', () => {
    const bytes = encode(
      Float64Array.from({ length: 300 }, (_, i) => Math.sin(i)),
      'small',
    );
    expect(() => decode(bytes.subarray(0, bytes.length - 1), 300)).toThrow(/damaged/);
    expect(() => decode(Uint8Array.of(0xf0, 0, 0), 300)).toThrow(/damaged, or of a later version/);
  });
});

function encode(numbers: Float64Array, packing: Packing): Uint8Array {
  const writer = new ByteWriter(1);
  writeColumn(writer, numbers, packing);
  return writer.toBytes();
}

function decode(bytes: Uint8Array, count: number): Float64Array {
  const target = new Float64Array(count);
  readColumn(new ByteReader(bytes), target, 0, count);
  return target;
}

function runningSums(start: number, steps: readonly number[]): number[] {
  let sum = start;
  return steps.map((step) => {
    sum += step;
    return sum;
  });
}

function bits(numbers: Float64Array): bigint[] {
  return Array.from(new BigUint64Array(numbers.slice().buffer));
}
