import type { SeriesReference } from '../../core/series.js';
import { DamagedSamplesError } from '../errors.js';

/** A series, for messages. */
export function quotedName({ timeseriesId, metric }: SeriesReference): string {
  return `series ${JSON.stringify(timeseriesId)}, metric ${JSON.stringify(metric)}`;
}

/** Names the series in the error of damaged samples, which know no more than its key. */
export async function naming<Result>(of: SeriesReference, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof DamagedSamplesError)) throw error;
    throw new DamagedSamplesError(`${quotedName(of)}: ${error.message}`, { cause: error });
  }
}
