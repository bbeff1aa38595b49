// One array of objects is read as its elements would be, one a line.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { textOfRange } from '../../src/formats/lines.js';
import { jsonValues } from '../../src/formats/ndjson/json-values.js';
import { ndjson } from '../../src/formats/ndjson/ndjson.js';

const encoder = new TextEncoder();

function sourceOf(text: string, cuts: readonly number[]) {
  const bytes = encoder.encode(text);
  const ends = [...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length].sort((a, b) => a - b);
  async function* blocks() {
    // The one buffer that a reader of files has, too.
    const buffer = new Uint8Array(bytes.length);
    let from = 0;
    for (const until of ends) {
      const block = buffer.subarray(0, until - from);
      block.set(bytes.subarray(from, until));
      yield block;
      buffer.fill(0);
      from = until;
    }
  }
  return { name: 'x.json', blocks };
}

async function textsOf(text: string, cuts: readonly number[]) {
  const texts: { text: string; number: number }[] = [];
  for await (const { bytes, values } of jsonValues(sourceOf(text, cuts))) {
    for (const value of values) texts.push({ text: textOfRange(bytes, value, 'x.json').trim(), number: value.line });
  }
  return texts;
}

const blank = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
/** Also among the first bytes. */
const cutsOf = fc.array(
  fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 0.1, noNaN: true })),
  {
    maxLength: 8,
  },
);

it('the elements of an array, with any white space and cut anywhere, each with its line', async () => {
  const element = fc.tuple(blank, fc.json(), fc.constantFrom(undefined, 1, '\t'), blank);
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(blank, fc.constantFrom('', '\ufeff')),
      fc.array(element),
      cutsOf,
      async (head, of, cuts) => {
        const parts = of.map(([before, json, indent, after]) => {
          const text = JSON.stringify(JSON.parse(json), null, indent);
          return { text, before, whole: before + text + after };
        });
        const start = `${head[1]}${head[0]}[`;
        const text = `${start}${parts.map(({ whole }) => whole).join(',')}]\n`;
        let read = start;
        const expected = parts.map(({ text: json, before, whole }) => {
          const number = (read + before).split('\n').length;
          read += `${whole},`;
          return { text: json, number };
        });
        const found = await textsOf(text, cuts);
        expect(found.filter((one) => one.text !== '')).toEqual(expected);
      },
    ),
  );
});

it('an array that is cut off anywhere, or followed by anything, is refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.json(), { minLength: 1 }), cutsOf, fc.nat(), async (elements, cuts, at) => {
      const text = `[${elements.join(',\n')}]`;
      await expect(textsOf(text.slice(0, 1 + (at % (text.length - 1))), cuts)).rejects.toThrow('does not end');
      await expect(textsOf(`${text}\n${elements[0]}`, cuts)).rejects.toThrow('expected nothing after the array');
    }),
  );
});

it('a run reads the samples of an array and of its lines alike', async () => {
  const rows = Array.from({ length: 5000 }, (_, i) => ({
    timestamp: 1.7e12 + i * 1000,
    timeseriesId: `s${i % 3}`,
    value: i / 7,
  }));
  const read = async (text: string) => {
    const chunks: unknown[] = [];
    const summary = await ndjson.read(
      sourceOf(text, [0.1, 0.25, 0.25, 0.9]),
      { fileName: 'x' },
      {
        onChunk: (series) =>
          chunks.push(series.map((one) => ({ ...one, timeMs: [...one.timeMs], value: [...one.value] }))),
        isStopped: () => false,
      },
    );
    return { summary, chunks };
  };
  expect(await read(JSON.stringify(rows))).toEqual(await read(rows.map((row) => JSON.stringify(row)).join('\n')));
});

it('an element without an end is refused before it takes all memory', async () => {
  async function* blocks() {
    yield encoder.encode('[{');
    for (;;) yield new Uint8Array(1 << 20).fill(0x20);
  }
  const reading = async (): Promise<void> => {
    for await (const _ of jsonValues({ name: 'x.json', blocks }));
  };
  await expect(reading()).rejects.toThrow('x.json, line 1: is longer than 4194304 bytes');
});
