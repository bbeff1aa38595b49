import type { Series, SeriesReference } from '../../index.js';

/** Samples as `application/vnd.windrow.columns` (docs/service.md): frames of one series, joined. */
export function readFrames({ timeseriesId, metric }: SeriesReference, bytes: ArrayBuffer): Series {
  const view = new DataView(bytes);
  const frames: { readonly from: number; readonly count: number }[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const count = view.getUint32(at + 4, true);
    const from = at + 8 + view.getUint32(at, true);
    frames.push({ from, count });
    at = from + 16 * count;
  }
  const total = frames.reduce((sum, { count }) => sum + count, 0);
  const series = { timeseriesId, metric, timeMs: new Float64Array(total), value: new Float64Array(total) };
  let filled = 0;
  for (const { from, count } of frames) {
    series.timeMs.set(new Float64Array(bytes.slice(from, from + 8 * count)), filled);
    series.value.set(new Float64Array(bytes.slice(from + 8 * count, from + 16 * count)), filled);
    filled += count;
  }
  return series;
}

/** A frame of a series, as the service takes them. */
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

/** The events of an answer as they come (WHATWG HTML, section 9.2). */
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
