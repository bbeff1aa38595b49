import type { Series, SeriesReference } from '../../index.js';
import { isObject } from '../request/draft.js';
import type { ServiceClient } from './api.js';
import { readEvents } from './frames.js';

const AGAIN_MS = 2000;

export interface FollowerEvents {
  readonly onSamples: (series: Series) => void;
  /** Samples were deleted, or some were missed: the series has to be read anew. */
  readonly onReset: () => void;
}

/** Follows a series until the signal ends it, over connections that break. */
export async function follow(
  client: ServiceClient,
  reference: SeriesReference,
  signal: AbortSignal,
  { onSamples, onReset }: FollowerEvents,
): Promise<void> {
  let lastEventId = '';
  while (!signal.aborted) {
    const { body } = await client.follow(reference, lastEventId, signal);
    if (body === null) return;
    try {
      for await (const { id, event, data } of readEvents(body)) {
        if (id !== '') lastEventId = id;
        if (event === 'reset') onReset();
        if (event !== 'samples') continue;
        const read = readSamples(reference, data);
        if (read.isDeleted) onReset();
        else if (read.series.timeMs.length > 0) onSamples(read.series);
      }
    } catch (error) {
      if (signal.aborted) return;
      console.warn('the connection broke, and is made again', error);
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

function readSamples({ timeseriesId, metric }: SeriesReference, data: string) {
  const json: unknown = JSON.parse(data);
  const { samples, deleted } = isObject(json) ? json : {};
  const list = Array.isArray(samples) ? samples.filter(isObject) : [];
  const timeMs = Float64Array.from(list, ({ timestamp }) => Date.parse(String(timestamp)));
  const value = Float64Array.from(list, ({ val }) => Number(val));
  return { isDeleted: deleted !== undefined, series: { timeseriesId, metric, timeMs, value } };
}
