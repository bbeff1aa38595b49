import type { Static } from 'typebox';
import { describeValue } from '../../../core/errors.js';
import type { SeriesReference } from '../../../core/series.js';
import { readTime } from '../../../formats/table/read-text.js';
import { badRequest } from '../../http/errors.js';
import { nameProblem } from '../names.js';
import type { samplesQuery } from '../schemas.js';

/** The query of a read request, as received. */
export type SamplesQuery = Static<typeof samplesQuery>;

export interface SamplesRequest {
  /** `[fromMs, untilMs)`. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  readonly limit?: number;
  readonly isDescending: boolean;
  readonly isFinalOnly: boolean;
}

/** The most samples per page in JSON, which is held in memory. */
export const PAGE_SAMPLES_MAX = 100_000;

export function readSamplesQuery(query: SamplesQuery): SamplesRequest {
  const fromMs = readInstantOf('startTime', query.startTime);
  const untilMs = readInstantOf('endTime', query.endTime);
  if (fromMs !== undefined && untilMs !== undefined && fromMs >= untilMs) {
    throw badRequest(`endTime: expected an instant after startTime, received ${describeValue(query.endTime)}`);
  }
  return {
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
    ...(query.limit === undefined ? {} : { limit: query.limit }),
    isDescending: readOrder(query.orderby),
    isFinalOnly: query.finalOnly === true,
  };
}

function readInstantOf(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : instantOf(name, text);
}

/** @throws ServiceError 400 for a text that is not an instant. */
export function instantOf(name: string, text: string): number {
  const reading = readTime(text);
  if ('timeMs' in reading) return reading.timeMs;
  const hint = text.includes(' ') ? ' (a + in a query is written %2B)' : '';
  const expected = 'an ISO 8601 instant like 2024-01-31T12:00:00Z';
  throw badRequest(`${name}: expected ${expected}, received ${describeValue(text)}, which ${reading.problem}${hint}`);
}

function readOrder(text: string | undefined): boolean {
  const match = /^(?:timestamp|asc|desc|timestamp (?:asc|desc))$/i.exec(text ?? 'asc');
  if (match === null) {
    throw badRequest(`orderby: expected timestamp asc or timestamp desc, received ${describeValue(text)}`);
  }
  return /desc$/i.test(match[0]);
}

/** The series of `timeseries_ids`: separated by commas, or repeated, for ids with a comma. */
export function readSeriesList(ids: string | readonly string[], metric: string): SeriesReference[] {
  const names = typeof ids === 'string' ? ids.split(',') : ids;
  return [...new Set(names)].map((timeseriesId) => {
    const problem = nameProblem(timeseriesId);
    if (problem !== undefined) {
      throw badRequest(`timeseries_ids: expected of each id ${problem}, received ${describeValue(timeseriesId)}`);
    }
    return { timeseriesId, metric };
  });
}
