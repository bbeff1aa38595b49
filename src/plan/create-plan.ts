import { describeValue, InputError, type Issue, RequestError, wrongOption } from '../core/errors.js';
import { finish, type InTurns } from '../core/turns.js';
import { didYouMeanZone, isUtc, zoneOf } from '../core/zone.js';
import { checkOptions, checkPlan, type Plan, type PlanItem } from './plan.js';
import { readRequest } from './read-request.js';
import type { RequestLike } from './request-like.js';
import { fillWindows, resolve } from './resolve.js';

export interface PlanOptions {
  /** An IANA time zone for windows and local times of steps that name no zone; UTC by default. */
  readonly timezone?: string;
}

/**
 * Checks a request (section 2.5 of the interface) and puts its steps into running order.
 *
 * @param request the parsed JSON: an array of items, alone or as `items` of an object that may name a `$schema`.
 *   It is copied, never changed.
 * @returns a frozen plan of plain data, with defaults filled in. It can be kept, sent and run many times.
 * @throws RequestError with every problem found, each with a JSON pointer, a code and what was expected.
 * @throws InputError if `timezone` is not an IANA time zone, or an option has another name.
 */
export function createPlan<const R>(request: RequestLike<R>, options: PlanOptions = {}): Plan {
  return finish(planInTurns(request, options));
}

/** `createPlan` in slices, for a request of unknown type. */
export function* planInTurns(request: unknown, options: PlanOptions = {}): InTurns<Plan> {
  checkOptions(options);
  const { timezone: given = 'UTC' } = options;
  const timezone = checkTimezone(given);
  const issues: Issue[] = [];
  const items = yield* readRequest(request, timezone, issues);
  yield;
  const resolved = resolve(items, issues);
  yield;
  const parameters = fillWindows(resolved, issues);
  if (issues.length > 0) throw new RequestError(sortedByPlace(issues));
  const copy = deepFreeze(JSON.parse(JSON.stringify(request)));
  yield;
  return deepFreeze({
    version: 1,
    timezone,
    sources: resolved.sources.map(({ timeseriesId, metric }) => ({ timeseriesId, metric })),
    steps: resolved.steps.map(({ step, inputs }, index) => ({
      pointer: step.pointer,
      operation: step.operation.name,
      parameters: parameters[index] ?? {},
      inputs,
      output: step.output,
    })),
    items: items.map(({ steps, metric, processingType, frequency }): PlanItem => {
      // What an item lacks is an issue, so nothing is missing here.
      const last = steps.at(-1)!;
      return {
        processingType: processingType!,
        ...(frequency === undefined ? {} : { frequency }),
        step: resolved.position.get(last)!,
        output: { timeseriesId: last.output.timeseriesId, metric: metric! },
      };
    }),
    request: copy,
  });
}

/**
 * The plan of the same request for a run, whose options may name another zone.
 *
 * @throws InputError if the plan, an option's name or the zone is wrong.
 */
export function planInTimezone(plan: Plan, options: PlanOptions): Plan {
  checkPlan(plan);
  checkOptions(options);
  const { timezone } = options;
  if (plan.every !== undefined) throw new InputError('input.plan', 'plan: run it by windrow/every');
  return timezone === undefined || timezone === plan.timezone ? plan : createPlan(plan.request, { timezone });
}

function checkTimezone(timezone: unknown): string {
  let mend = '';
  if (typeof timezone === 'string') {
    if (isUtc(timezone)) return 'UTC';
    const zone = zoneOf(timezone);
    if (zone !== undefined) return zone.name;
    const near = didYouMeanZone(timezone);
    if (near !== undefined) mend = `; ${near}`;
  }
  throw wrongOption(
    'timezone',
    'an IANA time zone like Europe/Berlin',
    `${describeValue(timezone)}${mend}`,
    'request.timezone',
  );
}

// Sorts issues by their pointers, as two passes over the request reported them.
function sortedByPlace(issues: readonly Issue[]): Issue[] {
  const places = new Map(
    issues.map((issue) => [issue, issue.pointer.replace(/\d+/g, (digits) => digits.padStart(9, '0'))]),
  );
  return [...issues].sort((a, b) => (places.get(a)! < places.get(b)! ? -1 : places.get(a)! > places.get(b)! ? 1 : 0));
}

function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
