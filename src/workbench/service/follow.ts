import { readTime } from '../../formats/table/read-text.js';
import type { Series, SeriesReference } from '../../index.js';
import { isObject } from '../request/draft.js';
import { type ServiceClient, ServiceProblem } from './api.js';
import { readEvents } from './frames.js';

const AGAIN_MS = 2000;

export interface FollowerEvents {
  readonly onSamples: (series: Series) => Promise<void>;
  /** The stream has begun, or samples were deleted or missed: the series has to be read. */
  readonly onReset: () => Promise<void>;
  /** The service could not be reached, and is tried again; undefined once it answers. */
  readonly onBroken: (problem: unknown) => void;
}

/**
 * Follows a series until the signal aborts, also over connections that break. It is read once the stream has begun, and
 * nothing else is taken from the stream meanwhile: so nothing between is missed, and what is newer comes last.
 */
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
        const { isDeleted, series } = readSamples(reference, data);
        if (event === 'reset' || isDeleted || (event === 'samples' && lastEventId === '')) {
          // If it cannot be read, the next stream begins with that.
          lastEventId = '';
          await onReset();
        } else if (series.timeMs.length > 0) await onSamples(series);
        if (id !== '') lastEventId = id;
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

// Exact, where a Date has whole milliseconds.
function timeOf({ timestamp }: Record<string, unknown>): number {
  const read = readTime(String(timestamp));
  return 'timeMs' in read ? read.timeMs : Number.NaN;
}

function readSamples({ timeseriesId, metric }: SeriesReference, data: string) {
  const json: unknown = JSON.parse(data || '{}');
  const { samples, deleted } = isObject(json) ? json : {};
  const list = Array.isArray(samples) ? samples.filter(isObject) : [];
  const timeMs = Float64Array.from(list, timeOf);
  const value = Float64Array.from(list, ({ val }) => Number(val));
  return { isDeleted: deleted !== undefined, series: { timeseriesId, metric, timeMs, value } };
}
