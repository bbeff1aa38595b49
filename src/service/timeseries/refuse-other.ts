import { ServiceError } from '../errors.js';
import { nameProblem } from './read-json.js';

/** 400 where a body names another series than the path or the query. */
export function refuseOther(field: 'timeseriesId' | 'metric', fixed: string | undefined, given: string): void {
  const problem = nameProblem(given);
  if (problem !== undefined) throw new ServiceError(400, `${field}: expected ${problem}`);
  if (fixed === undefined || fixed === given) return;
  const expected = `${JSON.stringify(fixed)}, as the path or query says`;
  throw new ServiceError(400, `${field}: expected ${expected}, received ${JSON.stringify(given)}`);
}
