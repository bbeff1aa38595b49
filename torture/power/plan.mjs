// The requests of a workload's clients, computed from a seed. The check computes the same requests, and so knows what
// must be there once a number of them was acknowledged.

import { createRandom } from '../random.mjs';

export const ORGANISATION = 'torture';
export const COLLECTION = 'events';
export const SAMPLE_LANES = 3;
export const EVENT_LANE = 3;
export const TOKEN_LANE = 4;
export const LANES = 5;
const START_MS = Date.UTC(2026, 0, 1);
const DELETED_SHARE = 0.15;
const SIZE_DIGITS = 3;

export const seriesOf = (lane) => ({ timeseriesId: `series-${lane}`, metric: 'Raw' });
export const timeOf = (minute) => START_MS + minute * 60_000;

/** The requests of a lane, in order. */
export function* requestsOf(seed, lane) {
  const random = createRandom(seed * 31 + lane);
  for (let number = 0, end = 0; ; number++) {
    if (lane === TOKEN_LANE) yield { kind: 'token' };
    else if (lane === EVENT_LANE) {
      const id = `e${random.below(100)}`;
      yield { kind: 'event', id, name: `${number} ${'x'.repeat(random.below(2000))}` };
    } else if (number > 3 && random.chance(DELETED_SHARE)) {
      const from = random.below(end);
      yield { kind: 'deletion', from, until: from + random.size(SIZE_DIGITS) };
    } else {
      // Mostly after the last sample, sometimes before it.
      const count = random.size(SIZE_DIGITS);
      const from = random.chance(0.75) ? end : random.below(end + 1);
      const values = Array.from({ length: count }, () => Math.round(random.next() * 1e6) / 10);
      end = Math.max(end, from + count);
      yield { kind: 'samples', from, values };
    }
  }
}

/** The stored samples of a lane's series after one more request: minutes and values. */
export function applyTo(model, request) {
  if (request.kind === 'samples') {
    for (const [i, value] of request.values.entries()) model.set(request.from + i, value);
  } else if (request.kind === 'deletion') {
    for (let minute = request.from; minute < request.until; minute++) model.delete(minute);
  } else if (request.kind === 'event') model.set(request.id, request.name);
}
