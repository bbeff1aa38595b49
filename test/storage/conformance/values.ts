import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Current } from './opened-storage.js';
import { thing } from './some-things.js';
import { blobs, links, things } from './tables.js';

const SHARD = 3;

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\0', '')),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.tuple(fc.constantFrom('\ufeff', '\ufeff\ufeff'), fc.string({ maxLength: 40 })).map(([mark, text]) => mark + text),
  fc.constant('x'.repeat(100_000)),
);

// `toEqual` compares byte by byte, which is slow.
const isSame = (a: Uint8Array | undefined, b: Uint8Array) => a instanceof Uint8Array && Buffer.compare(a, b) === 0;

export function describeValues(current: Current): void {
  const blob = { series: 1, startMs: 0, endMs: 1, data: new Uint8Array() };

  it('text comes back as written, and is found by exact equality', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const row = thing({ id: text, name: text });
        const found = await current.storage.transaction(SHARD, async (tx) => {
          await tx.put(things, row);
          return tx.find(things, { where: [['name', '=', text]] });
        });
        expect(found).toContainEqual(row);
      }),
      { numRuns: 200 },
    );
  });

  it('reals come back bit for bit: -0, infinities, the smallest and the largest', async () => {
    const reals = fc.oneof(
      fc.double({ noNaN: true }),
      fc.constantFrom(-0, 0, Infinity, -Infinity, 5e-324, 2 ** 53, -(2 ** 63)),
    );
    await fc.assert(
      fc.asyncProperty(reals, async (endMs) => {
        const read = await current.storage.transaction(SHARD, async (tx) => {
          await tx.put(blobs, { ...blob, endMs });
          return tx.get(blobs, { series: 1, startMs: 0 });
        });
        expect(read?.endMs).toBe(endMs);
      }),
      { numRuns: 300 },
    );
  });

  it('updating a real to -0 gives -0', async () => {
    const read = await current.storage.transaction(SHARD, async (tx) => {
      await tx.put(blobs, blob);
      await tx.update(blobs, [['series', '=', 1]], { endMs: -0 });
      return tx.get(blobs, { series: 1, startMs: -0 });
    });
    expect(read?.endMs).toBe(-0);
  });

  it('integers come back exactly within ±(2^53 - 1)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.maxSafeInteger(), async (endedMs) => {
        const row = thing({ endedMs });
        await current.storage.transaction(SHARD, (tx) => tx.put(things, row));
        expect(
          await current.storage.read(SHARD, (tx) => tx.find(things, { where: [['endedMs', '=', endedMs]] })),
        ).toEqual([row]);
      }),
      { numRuns: 100 },
    );
  });

  it('bytes come back as they were at the time of writing', async () => {
    const sizes = fc.constantFrom(0, 1, 17, 4096, 300_000);
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(255), async (size, fill) => {
        const buffer = new Uint8Array(size + 8).fill(fill);
        const view = buffer.subarray(4, 4 + size);
        const expected = view.slice();
        await current.storage.transaction(SHARD, async (tx) => {
          const written = tx.put(blobs, { ...blob, data: view });
          buffer.fill(fill + 1);
          await written;
        });
        const read = await current.storage.read(SHARD, (tx) => tx.get(blobs, { series: 1, startMs: 0 }));
        expect(isSame(read?.data, expected)).toBe(true);
        // The reader may change what it has read.
        read?.data.fill(99);
        const again = await current.storage.read(SHARD, (tx) => tx.get(blobs, { series: 1, startMs: 0 }));
        expect(isSame(again?.data, expected)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('booleans are booleans, and null is null', async () => {
    const rows = [true, false, null].map((isOpen, i) => thing({ id: `e${i}`, isOpen }));
    const found = await current.storage.transaction(SHARD, async (tx) => {
      for (const row of rows) await tx.insert(things, row);
      return tx.find(things);
    });
    expect(found).toEqual(rows);
  });

  it.each<[string, object, RegExp]>([
    ['NaN', { latitude: Number.NaN }, /things\.latitude: expected a number other than NaN, received NaN/],
    ['a lone surrogate', { name: 'ab\ud800' }, /things\.name: expected text .* a lone surrogate at index 2/],
    ['NUL in text', { name: 'a\0b' }, /things\.name: expected text .* NUL \(U\+0000\) at index 1/],
    [
      '2^53',
      { endedMs: 2 ** 53 },
      /things\.endedMs: expected a whole number within ±\(2\^53 - 1\), received 9007199254740992/,
    ],
    ['a fraction', { endedMs: 1.5 }, /things\.endedMs: expected a whole number .* received 1\.5/],
    ['a number for text', { name: 5 }, /things\.name: expected text, received 5/],
    ['text for a boolean', { isOpen: 'no' }, /things\.isOpen: expected true or false, received "no"/],
    ['null where a value must be', { order: null }, /things\.order: expected a value \(integer\), received null/],
    ['nothing', { order: undefined }, /things\.order: expected a whole number .* received nothing/],
  ])('%s is refused with its place, and nothing is written', async (_, fields, message) => {
    const put = current.storage.transaction(SHARD, (tx) => tx.put(things, { ...thing({}), ...fields }));
    await expect(put).rejects.toMatchObject({ code: 'storage.value', message: expect.stringMatching(message) });
    expect(await current.storage.read(SHARD, (tx) => tx.count(things))).toBe(0);
  });

  it('values that look like SQL remain values', async () => {
    const name = `'; DROP TABLE "select"; --`;
    const row = { from: name, to: name };
    const read = await current.storage.transaction(SHARD, async (tx) => {
      await tx.insert(links, row);
      return tx.find(links, { where: [['to', 'in', [name]]] });
    });
    expect(read).toEqual([row]);
  });
}
