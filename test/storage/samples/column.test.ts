import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter } from '../../../src/storage/samples/codec/bytes.js';
import { readColumn, writeColumn } from '../../../src/storage/samples/codec/column.js';
import { measureFixed, packFixed, unpackFixed } from '../../../src/storage/samples/codec/fixed.js';

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

describe('an encoded column', () => {
  it('decodes bit for bit', () => {
    fc.assert(
      fc.property(column, (numbers) => {
        const bytes = encode(numbers);
        expect(bits(decode(bytes, numbers.length))).toEqual(bits(numbers));
      }),
      { numRuns: 2000 },
    );
  });

  it('is read to its last byte, so that columns can follow one another', () => {
    fc.assert(
      fc.property(fc.array(column, { maxLength: 5 }), (columns) => {
        const writer = new ByteWriter(1);
        for (const one of columns) writeColumn(writer, one);
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

  it('decodes into a part of a longer column and changes nothing else', () => {
    const numbers = Float64Array.from([1.5, 2.5, -0, 7]);
    const target = new Float64Array(8).fill(9);
    readColumn(new ByteReader(encode(numbers)), target, 2, 4);
    expect(bits(target)).toEqual(bits(Float64Array.from([9, 9, 1.5, 2.5, -0, 7, 9, 9])));
  });

  it('takes no bytes per sample if values are constant or change by a constant step', () => {
    const step = Float64Array.from({ length: 4096 }, (_, i) => 1_700_000_000_000 + 60_000 * i);
    const constant = new Float64Array(4096).fill(0.1 + 0.2);
    expect(encode(step).length).toBeLessThan(24);
    expect(encode(constant).length).toBeLessThan(24);
  });

  it('takes one byte for values that differ by less than 256 units of their last digit, and two below 65,536', () => {
    const numbers = (range: number) => Float64Array.from({ length: 4000 }, (_, i) => 1e6 + ((i * 7919) % range) / 100);
    expect(encode(numbers(256)).length).toBeLessThan(4000 + 24);
    expect(encode(numbers(65_536)).length).toBeLessThan(8000 + 24);
  });

  it('takes a few more bytes for each of a few values that are not short decimals, not eight for all', () => {
    const numbers = Float64Array.from({ length: 4000 }, (_, i) => (i % 200) / 10);
    for (const [i, odd] of [-0, 1 / 3, Math.PI, 0.12345678901, -0].entries()) numbers[i * 777] = odd;
    expect(encode(numbers).length).toBeLessThan(4000 + 5 * 10 + 24);
    expect(bits(decode(encode(numbers), 4000))).toEqual(bits(numbers));
  });

  it('is never longer than its doubles and a few bytes', () => {
    fc.assert(
      fc.property(column, (numbers) => {
        expect(encode(numbers).length).toBeLessThanOrEqual(8 * numbers.length + 24);
      }),
    );
  });

  it('is refused if bytes are missing', () => {
    const bytes = encode(Float64Array.from({ length: 300 }, (_, i) => Math.sin(i)));
    expect(() => decode(bytes.subarray(0, bytes.length - 1), 300)).toThrow(/damaged/);
    expect(() => decode(Uint8Array.of(0xf0, 0, 0), 300)).toThrow(/damaged, or of a later version/);
  });
});

describe('a column of fixed width', () => {
  const pack = (numbers: Float64Array) => {
    const form = measureFixed(numbers);
    const bytes = new Uint8Array(3 + form.width * numbers.length).fill(255);
    packFixed(numbers, form, bytes, 3);
    return { form, bytes };
  };

  it('decodes any part bit for bit', () => {
    fc.assert(
      fc.property(column, fc.nat(), fc.nat(), (numbers, from, count) => {
        const { form, bytes } = pack(numbers);
        const first = from % (numbers.length + 1);
        const part = numbers.subarray(first, first + count);
        const target = new Float64Array(part.length);
        unpackFixed(form, bytes, 3, first, target);
        expect(bits(target)).toEqual(bits(part));
        expect(bytes.subarray(0, 3)).toEqual(Uint8Array.of(255, 255, 255));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes no bytes per sample for equal times, one for 256 seconds, two for hundredths within 655', () => {
    const from = 1_700_000_000_000;
    expect(measureFixed(new Float64Array(100).fill(from + 0.5)).width).toBe(0);
    expect(measureFixed(Float64Array.from({ length: 256 }, (_, i) => from + 1000 * i)).width).toBe(1);
    expect(measureFixed(Float64Array.from({ length: 1000 }, (_, i) => (i * 65_535) / 99_900)).width).toBe(8);
    expect(
      measureFixed(Float64Array.from({ length: 1000 }, (_, i) => Math.round((i * 65_535) / 999) / 100)).width,
    ).toBe(2);
  });

  it('is refused if bytes are missing', () => {
    const { form, bytes } = pack(Float64Array.of(1, 2, 3));
    expect(() => unpackFixed(form, bytes, 3, 1, new Float64Array(3))).toThrow(/damaged/);
  });
});

function encode(numbers: Float64Array): Uint8Array {
  const writer = new ByteWriter(1);
  writeColumn(writer, numbers);
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
