import { existsSync } from 'node:fs';
import { Piscina } from 'piscina';
import type { SampleChange } from '../../../storage/samples/samples.js';
import type { BatchCounts } from './batch.js';
import type { SampleDefaults } from './json.js';
import type { BodyMessage, ReadBody } from './read-body.js';

/** Samples of a body that can be stored as they are. */
export interface ReadSamples {
  readonly changes: readonly SampleChange[];
  readonly counts: BatchCounts;
}

/** Reads large JSON bodies in a thread of its own, beside the one that answers and stores. */
export interface BodyReader {
  /** @returns undefined for a body that is to be read here: a small one, or one that has a fault. */
  read(bytes: Uint8Array, defaults: SampleDefaults, seriesMax: number): Promise<ReadSamples | undefined>;
  close(): Promise<void>;
}

/** Of smaller bodies many are stored together, and the way to the thread and back costs more than it saves. */
const BYTES_MIN = 64 * 1024;

// The script is built once, beside the command; who runs the sources finds it in dist.
const PLACES = ['./body-worker.js', './cli/body-worker.js', '../../../../dist/cli/body-worker.js'];

/** @param threadCount 0 for those who have no thread to spare: then all bodies are read here. */
export function openBodyReader(threadCount: number): BodyReader {
  const url = PLACES.map((place) => new URL(place, import.meta.url)).find((one) => existsSync(one));
  return url === undefined || threadCount < 1 ? NO_READER : createThreadReader(url);
}

const NO_READER: BodyReader = { read: async () => undefined, close: async () => {} };

/** @param url of the script `read-body`. */
export function createThreadReader(url: URL): BodyReader {
  let thread: Piscina<BodyMessage, ReadBody | undefined> | undefined;
  let isClosed = false;
  const open = () => {
    const opened = new Piscina<BodyMessage, ReadBody | undefined>({
      filename: url.href,
      name: 'readBody',
      minThreads: 1,
      maxThreads: 1,
    });
    // Who waits for a body hears of it.
    opened.on('error', () => {});
    return opened;
  };
  return {
    read: async (bytes, defaults, seriesMax) => {
      if (bytes.length < BYTES_MIN || isClosed) return undefined;
      thread ??= open();
      // A thread that died has left the body to be read here.
      const read = await thread.run({ bytes, defaults, seriesMax }).catch(() => undefined);
      return read === undefined ? undefined : { changes: changesOf(read), counts: read.counts };
    },
    close: async () => {
      isClosed = true;
      await thread?.destroy();
    },
  };
}

function changesOf({ series, lengths, timeMs, value }: ReadBody): SampleChange[] {
  let from = 0;
  return series.map((reference, i) => {
    const to = from + lengths[i]!;
    const change = { ...reference, timeMs: timeMs.subarray(from, to), value: value.subarray(from, to) };
    from = to;
    return change;
  });
}
