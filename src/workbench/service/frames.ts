import { SeriesParts } from '../../formats/series-parts.js';
import type { Series, SeriesReference } from '../../index.js';

/** Joins the frames of one series: `application/vnd.windrow.columns` (docs/service.md). */
export function readFrames({ timeseriesId, metric }: SeriesReference, bytes: ArrayBuffer): Series {
  const view = new DataView(bytes);
  const parts = new SeriesParts();
  const column = (from: number, count: number) => new Float64Array(bytes.slice(from, from + 8 * count));
  for (let at = 0; at < bytes.byteLength; ) {
    const count = view.getUint32(at + 4, true);
    const from = at + 8 + view.getUint32(at, true);
    at = from + 16 * count;
    parts.add([{ timeseriesId, metric, timeMs: column(from, count), value: column(from + 8 * count, count) }]);
  }
  const [series = { timeseriesId, metric, timeMs: new Float64Array(0), value: new Float64Array(0) }] = parts.joined();
  return series;
}

/** A series as one frame, as the service takes it. */
export function writeFrame({ timeseriesId, metric, timeMs, value }: Series): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify({ timeseriesId, metric }));
  const headLength = Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(8 + headLength + 16 * timeMs.length).fill(0x20, 8, 8 + headLength);
  new Uint32Array(bytes.buffer, 0, 2).set([headLength, timeMs.length]);
  bytes.set(text, 8);
  const columns = new Float64Array(bytes.buffer, 8 + headLength);
  columns.set(timeMs);
  columns.set(value, timeMs.length);
  return bytes;
}

/** One server-sent event. */
export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** The server-sent events of an answer, as they come (WHATWG HTML, section 9.2). */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += decoder.decode(read.value, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => line.split(/: ?(.*)/s));
      const of = (name: string): string => fields.find(([field]) => field === name)?.[1] ?? '';
      yield { id: of('id'), event: of('event'), data: of('data') };
    }
  }
}
