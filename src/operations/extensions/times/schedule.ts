import { DAY_MS } from '../../../core/calendar.js';
import { parseInstant } from '../../../core/instant.js';
import { zoneOf } from '../../../core/zone.js';
import type { Operation, Output, RegridRunner, RunContext, StepDraft } from '../../operation.js';
import {
  choice,
  listOf,
  objectOf,
  type Parameter,
  type Parameters,
  parameter,
  type Report,
  refuse,
  textIn,
  timezone,
} from '../../parameters.js';
import { isWithin, type LocalHours, nextChange } from './local-hours.js';

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** Local times are `HH:MM` or `HH:MM:SS`, dates `YYYY-MM-DD`. */
export interface ScheduleParameters {
  readonly days?: readonly (typeof WEEKDAYS)[number][];
  readonly hours?: readonly { readonly start: string; readonly end: string }[];
  readonly holidays?: readonly string[];
  readonly ranges?: readonly { readonly first: string; readonly last: string }[];
  readonly timezone?: string;
}

export interface ScheduleMethods {
  /** The state of a schedule while this series lasts. */
  schedule(parameters: ScheduleParameters): StepDraft<ScheduleParameters>;
}

const OPTIONAL = { optional: true, some: 'entry' } as const;

/** A date, which the plan holds as text once it is known to exist. */
const date = parameter({}, { type: 'string', format: 'date' }, (value, report) => {
  const expected = 'a date like 2024-12-25';
  if (typeof value !== 'string') return refuse(report, 'request.type', expected, value);
  const isDate = /^\d{4}-\d\d-\d\d$/.test(value) && parseInstant(value) !== undefined;
  return isDate ? value : refuse(report, 'request.value', expected, value);
});

export const schedule: Operation<ScheduleMethods> = {
  name: 'Schedule',
  shape: 'regrid',
  methods: { schedule: (parameters) => ({ parameters }) },
  parameters: {
    days: listOf(choice(WEEKDAYS), OPTIONAL),
    hours: listOf(objectOf({ start: clock('23:59:59'), end: clock('24:00') }), OPTIONAL),
    holidays: listOf(date, OPTIONAL),
    ranges: listOf(objectOf({ first: date, last: date }, checkRange), OPTIONAL),
    timezone: timezone(),
  },
  check: (parameters, report) => {
    const given = ['days', 'hours', 'holidays', 'ranges'].filter((name) => parameters[name] !== undefined);
    if (given.length === 0) report('', 'request.missing', 'days, hours, holidays or ranges', 'none of them');
  },
  open: (parameters, run) => scheduler(localHoursOf(parameters), run),
};

function checkRange({ first, last }: Parameters, report: Report): void {
  if (first === undefined || last === undefined || first <= last) return;
  report('', 'request.range', 'first at most last', `${first} after ${last}`, 'swap the two');
}

function clock(latest: string): Parameter {
  const expected = `a local time from 00:00 to ${latest}`;
  return parameter({}, { type: 'string' }, (value, report) => {
    if (typeof value !== 'string') return refuse(report, 'request.type', expected, value);
    const isClock = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/.test(value) || (value === '24:00' && latest === value);
    return isClock ? value : refuse(report, 'request.value', expected, value);
  });
}

function clockMs(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number);
  return 1000 * (3600 * hours + 60 * minutes + seconds);
}

function dayOf(text: string): number {
  return Math.floor((parseInstant(text) ?? 0) / DAY_MS);
}

function localHoursOf(parameters: Parameters): LocalHours {
  const zone = textIn(parameters, 'timezone');
  const days = textsIn(parameters, 'days');
  const hours = objectsIn(parameters, 'hours').map((item) => {
    return { startMs: clockMs(textIn(item, 'start')), endMs: clockMs(textIn(item, 'end')) };
  });
  return {
    weekdays: WEEKDAYS.map((name) => days.length === 0 || days.includes(name)),
    hours: hours.length === 0 ? [{ startMs: 0, endMs: DAY_MS }] : hours,
    holidays: new Set(textsIn(parameters, 'holidays').map(dayOf)),
    ranges: objectsIn(parameters, 'ranges').map((item) => {
      return { firstDay: dayOf(textIn(item, 'first')), lastDay: dayOf(textIn(item, 'last')) };
    }),
    zone: zone === 'UTC' ? undefined : zoneOf(zone),
  };
}

export function textsIn(parameters: Parameters, name: string): readonly string[] {
  const list = parameters[name];
  return Array.isArray(list) ? list.map(String) : [];
}

export function objectsIn(parameters: Parameters, name: string): readonly Parameters[] {
  const list = parameters[name];
  return Array.isArray(list) ? list : [];
}

const HAS_FIRST = 0;
const LAST_MS = 1; // all changes up to here have been emitted
const STATE = 2;

// Emits changes up to the last sample or, with `until`, up to that. How far other series have come does not matter.
function scheduler(hours: LocalHours, { untilMs, reachedMs }: RunContext): RegridRunner {
  // A span in which the state does not change, computed again whenever a time lies outside it.
  let knownFromMs = Number.NaN;
  let knownUntilMs = Number.NaN;
  // The same for the watermark, which must depend on the state alone.
  let quietFromMs = Number.NaN;
  let quietUntilMs = Number.NaN;
  const isKnown = (timeMs: number): boolean => timeMs >= knownFromMs && timeMs < knownUntilMs;
  function changesTo(slots: Float64Array, timeMs: number, out: Output): void {
    while (slots[LAST_MS]! < timeMs) {
      const lastMs = slots[LAST_MS]!;
      if (!isKnown(lastMs)) {
        knownFromMs = lastMs;
        knownUntilMs = nextChange(hours, lastMs, Math.max(timeMs, lastMs + DAY_MS) + 1);
      }
      if (timeMs < knownUntilMs) slots[LAST_MS] = timeMs;
      else giveState(slots, knownUntilMs, out);
    }
  }
  function giveState(slots: Float64Array, timeMs: number, out: Output): void {
    const state = isWithin(hours, timeMs) ? 1 : 0;
    slots[LAST_MS] = timeMs;
    if (slots[HAS_FIRST] === 1 && slots[STATE] === state) return;
    slots[HAS_FIRST] = 1;
    slots[STATE] = state;
    out.add(timeMs, state);
  }
  return {
    kind: 'regrid',
    slotCount: 3,
    listCount: 0,
    push: ({ slots }, { timeMs, count }, out) => {
      if (slots[HAS_FIRST] === 0) giveState(slots, timeMs[0]!, out);
      changesTo(slots, timeMs[count - 1]!, out);
    },
    advance: ({ slots }, watermarkMs, out) => {
      if (slots[HAS_FIRST] === 0 || untilMs === undefined) return;
      changesTo(slots, previousMs(Math.min(watermarkMs, untilMs, reachedMs())), out);
    },
    close: ({ slots }, _advancedMs, out) => {
      if (slots[HAS_FIRST] === 1 && untilMs !== undefined) changesTo(slots, previousMs(untilMs), out);
    },
    watermark: ({ slots }, watermarkMs) => {
      if (slots[HAS_FIRST] === 0) return watermarkMs;
      const lastMs = slots[LAST_MS]!;
      if (quietFromMs !== lastMs) {
        quietFromMs = lastMs;
        quietUntilMs = nextChange(hours, lastMs, lastMs + DAY_MS + 1);
      }
      return Math.min(watermarkMs, quietUntilMs);
    },
  };
}

// The last whole millisecond before a time: changes fall on whole milliseconds.
function previousMs(timeMs: number): number {
  return Math.ceil(timeMs) - 1;
}
