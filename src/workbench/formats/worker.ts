import { formatOf } from '../../formats/formats.js';
import { SeriesParts } from '../../formats/series-parts.js';
import { openZstd } from '../../formats/zstd.js';
import type { Reading, Unreadable } from '../engine/protocol.js';
import { countsOf, type ReadSet, readerOptions, unreadable } from './reading.js';

/** What the reader is asked, and what it answers: once. */
export interface ReadQuestion {
  readonly file: File;
  readonly timezone: string;
  readonly reading: Reading;
}

export type ReadAnswer = ReadSet | Unreadable;

/** What is used of a worker's global scope, for which the DOM's types have no name. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<ReadQuestion>) => void) | null;
  postMessage(answer: ReadAnswer, transferred?: readonly ArrayBufferLike[]): void;
  FileReaderSync: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer };
}

// In a worker the global scope has what `WorkerScope` says.
const scope = globalThis as unknown as WorkerScope;

scope.onmessage = async ({ data }) => {
  let columns: readonly string[] = [];
  try {
    const read = await readFile(data, (names) => {
      columns = names;
    });
    const buffers = read.series.flatMap(({ timeMs, value }) => [timeMs.buffer, value.buffer]);
    scope.postMessage({ ...read, columns }, [...new Set(buffers)]);
  } catch (error) {
    scope.postMessage(unreadable(error, columns));
  }
};

async function readFile({ file, timezone, reading }: ReadQuestion, onColumns: (names: readonly string[]) => void) {
  // Only what is asked of a file is read: of Parquet its index, and the columns that are used.
  const readAt = (bytes: Uint8Array, position: number): number => {
    const piece = new scope.FileReaderSync().readAsArrayBuffer(file.slice(position, position + bytes.length));
    bytes.set(new Uint8Array(piece));
    return piece.byteLength;
  };
  const [, packing] = /\.(gz|zst)$/i.exec(file.name) ?? [];
  const source = {
    name: file.name,
    blocks: () => blocksOf(file, packing),
    ...(packing === undefined ? { random: { sizeBytes: file.size, readAt } } : {}),
  };
  const parts = new SeriesParts();
  const options = { ...readerOptions(file.name, timezone, reading), onColumns };
  const summary = await formatOf(file.name).read(source, options, {
    onChunk: parts.add,
    isStopped: () => false,
  });
  if (summary === undefined) throw new Error('assertion failed: nobody stopped it');
  return { series: parts.joined(), ...countsOf(summary) };
}

async function* blocksOf(file: File, packing: string | undefined): AsyncGenerator<Uint8Array> {
  if (packing?.toLowerCase() === 'zst') {
    const unpack = await openZstd();
    yield* unpack(new Uint8Array(await file.arrayBuffer()));
    return;
  }
  const bytes = file.stream();
  const plain = packing === undefined ? bytes : bytes.pipeThrough(new DecompressionStream('gzip'));
  const source = plain.getReader();
  for (let read = await source.read(); !read.done; read = await source.read()) yield read.value;
}
