import { DAY_MS } from '../core/calendar.js';
import { nanosecondsOf } from '../core/grid.js';
import { formatInterval, type Interval, intervalNames, parseInterval, SHORTEST_MS } from '../core/interval.js';
import { windowsOf } from '../core/interval-windows.js';
import { TIME_MS_END, TIME_MS_MIN } from '../core/series.js';
import { didYouMean } from '../core/suggest.js';
import type { Windows } from '../core/windows.js';
import { zoneOf } from '../core/zone.js';
import { durationHint, type Parameter, type Parameters, type Report, refuse, textIn, within } from './parameters.js';

/** What steps with windows share: the parameters `interval` and `timezone`, and the windows that these define. */

const EXPECTED =
  'an interval: QuarterHourly, HalfHourly, Hourly, Daily, Weekly, Monthly, Yearly or a duration like PT10M';

/** The parameter `interval`. */
export function interval(options: { optional?: true } = {}): Parameter {
  return {
    isRequired: options.optional !== true,
    isExtension: options.optional === true,
    schema: {
      type: 'string',
      format: 'interval',
      examples: ['QuarterHourly', 'HalfHourly', 'Hourly', 'Daily', 'PT10M'],
    },
    read: readInterval,
  };
}

/** The canonical text of the interval that `value` stands for, or undefined after reporting what is wrong. */
function readInterval(value: unknown, report: Report): string | undefined {
  if (typeof value !== 'string') return refuse(report, 'request.type', EXPECTED, value);
  const found = parseInterval(value);
  if (found === undefined) {
    const looksLikeName = /^[a-z]+$/i.test(value) && !/^p\d|^pt/i.test(value);
    const suggestion = looksLikeName ? didYouMean(value, intervalNames) : durationHint(value);
    return refuse(report, looksLikeName ? 'request.unknown' : 'request.duration', EXPECTED, value, suggestion);
  }
  if (found.kind === 'fixed' && !(found.lengthMs >= SHORTEST_MS && found.lengthMs <= TIME_MS_END - TIME_MS_MIN)) {
    return refuse(report, 'request.duration', 'an interval from PT0.0001S to 9999 years', value);
  }
  if (found.kind === 'fixed' && nanosecondsOf(found.lengthMs) === undefined) {
    return refuse(report, 'request.duration', 'an interval of whole nanoseconds', value);
  }
  return formatInterval(found);
}

/** Reports an interval that does not divide the local days of a zone. */
export function checkInterval(text: string, timezone: string, report: Report): void {
  const found = parseInterval(text);
  if (timezone === 'UTC' || found?.kind !== 'fixed') return;
  if (found.lengthMs > DAY_MS) {
    const hint = 'take Weekly, Monthly or Yearly, or the timezone UTC';
    report('', 'request.conflict', `an interval of at most a day in the timezone ${timezone}`, `\`${text}\``, hint);
  } else if ((nanosecondsOf(DAY_MS) ?? 0n) % (nanosecondsOf(found.lengthMs) ?? 1n) !== 0n) {
    const expected = `an interval that divides 24 hours, in the timezone ${timezone}`;
    report('', 'request.conflict', expected, `\`${text}\``, 'or take the timezone UTC');
  }
}

/** The same for the parameters `interval`, if there is one, and `timezone` of a step. */
export function checkIntervalIn(parameters: Parameters, report: Report): void {
  if (parameters.interval === undefined) return;
  checkInterval(textIn(parameters, 'interval'), textIn(parameters, 'timezone'), within(report, '/interval'));
}

/** The windows of an interval in a zone, both checked. */
export function openWindows(intervalText: string, timezone: string): Windows {
  return windowsOf(checkedInterval(intervalText), timezone === 'UTC' ? undefined : zoneOf(timezone));
}

/** The windows of a step by its parameters `interval` and `timezone`. */
export function windowsIn(parameters: Parameters): Windows {
  return openWindows(textIn(parameters, 'interval'), textIn(parameters, 'timezone'));
}

/** Reads an interval that has been checked. */
export function checkedInterval(text: string): Interval {
  const found = parseInterval(text);
  if (found === undefined) throw new Error(`assertion failed: no interval ${text}`);
  return found;
}

/** ", in Europe/Berlin", or nothing for UTC. */
export function inZone(parameters: Parameters): string {
  return parameters.timezone === undefined || parameters.timezone === 'UTC' ? '' : `, in ${parameters.timezone}`;
}

/** The greatest distance between two points at the starts of the windows. */
export function pointsEveryMs(parameters: Parameters): number {
  return windowsIn(parameters).lengthMsMax;
}
