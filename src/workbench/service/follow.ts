import type { Series, SeriesReference } from '../../index.js';
import { isObject } from '../request/draft.js';
import { type ServiceClient, ServiceProblem } from './api.js';
import { readEvents } from './frames.js';

const AGAIN_MS = 2000;

export interface FollowerEvents {
  readonly onSamples: (series: Series) => void;
  /** Samples were deleted or missed: the series has to be read again. */
  readonly onReset: () => void;
  /** The service could not be reached, and is tried again; undefined once it answers. */
  readonly onBroken: (problem: unknown) => void;
}

/** Follows a series until the signal aborts, also over connections that break. */
export async function follow(
  client: ServiceClient,
  reference: SeriesReference,
  signal: AbortSignal,
  { onSamples, onReset, onBroken }: FollowerEvents,
): Promise<void> {
  let lastEventId = '';
  while (!signal.aborted) {
    try {
      const { body } = await client.follow(reference, lastEventId, signal);
      onBroken(undefined);
      if (body === null) return;
      for await (const { id, event, data } of readEvents(body)) {
        if (id !== '') lastEventId = id;
        if (event === 'reset') onReset();
        if (event !== 'samples') continue;
        const read = readSamples(reference, data);
        if (read.isDeleted) onReset();
        else if (read.series.timeMs.length > 0) onSamples(read.series);
      }
    } catch (problem) {
      if (signal.aborted) return;
      if (problem instanceof ServiceProblem && !problem.isTemporary) throw problem;
      // A broken connection is opened again at once; only a failure to open it is reported.
      if (problem instanceof ServiceProblem) onBroken(problem);
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
