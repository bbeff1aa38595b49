import { DAY_MS } from '../core/calendar.js';
import { formatInterval, type Interval, intervalNames, parseInterval, SHORTEST_MS } from '../core/interval.js';
import { TIME_MS_END, TIME_MS_MIN } from '../core/series.js';
import { didYouMean } from '../core/suggest.js';
import { type Windows, windowsOf } from '../core/windows.js';
import { zoneOf } from '../core/zone.js';
import { durationHint, type Parameter, type Parameters, type Report, refuse, textIn } from './parameters.js';

/** What steps with windows share: the parameters `interval` and `timezone`, and the windows they stand for. */

const EXPECTED =
  'an interval: QuarterHourly, HalfHourly, Hourly, Daily, Weekly, Monthly, Yearly or a duration like PT10M';
const EXPECTED_FIXED = 'an interval: QuarterHourly, HalfHourly, Hourly, Daily or a duration like PT10M';

/** The parameter `interval`. Without `calendar` it takes no weeks (from Monday), months and years. */
export function interval(summary: string, options: { calendar: boolean; optional?: true }): Parameter {
  const expected = options.calendar ? EXPECTED : EXPECTED_FIXED;
  return {
    summary,
    isRequired: options.optional !== true,
    isExtension: options.optional === true,
    schema: { type: 'string', examples: ['QuarterHourly', 'HalfHourly', 'Hourly', 'Daily', 'PT10M'] },
    read: (value, report) => readInterval(value, report, expected, options.calendar),
  };
}

/** The canonical text of the interval that `value` stands for, or undefined after reporting what is wrong. */
function readInterval(
  value: unknown,
  report: Report,
  expected: string = EXPECTED,
  isCalendarTaken = true,
): string | undefined {
  if (typeof value !== 'string') return refuse(report, 'request.type', expected, value);
  const found = parseInterval(value);
  if (found === undefined || (found.kind === 'calendar' && !isCalendarTaken)) {
    const looksLikeName = /^[a-z]+$/i.test(value) && !/^p\d|^pt/i.test(value);
    const known = intervalNames.filter((name) => isCalendarTaken || parseInterval(name)?.kind === 'fixed');
    const suggestion = looksLikeName ? didYouMean(value, known) : durationHint(value);
    return refuse(report, looksLikeName ? 'request.unknown' : 'request.duration', expected, value, suggestion);
  }
  if (found.kind === 'fixed' && !(found.lengthMs >= SHORTEST_MS && found.lengthMs <= TIME_MS_END - TIME_MS_MIN)) {
    return refuse(report, 'request.duration', 'an interval from PT0.0001S to the 9999 years there are', value);
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
  } else if (DAY_MS % found.lengthMs !== 0) {
    const expected = `an interval that divides 24 hours, in the timezone ${timezone}`;
    report('', 'request.conflict', expected, `\`${text}\``, 'or take the timezone UTC');
  }
}

/** The windows of checked parameters. */
export function openWindows(intervalText: string, timezone: string): Windows {
  return windowsOf(checkedInterval(intervalText), timezone === 'UTC' ? undefined : zoneOf(timezone));
}

/** The interval of a text that the plan has checked. */
export function checkedInterval(text: string): Interval {
  const found = parseInterval(text);
  if (found === undefined) throw new Error(`assertion failed: the plan holds the interval ${text}`);
  return found;
}

/** ", in Europe/Berlin", or nothing for UTC. */
export function inZone(parameters: Parameters): string {
  return parameters.timezone === undefined || parameters.timezone === 'UTC' ? '' : `, in ${parameters.timezone}`;
}

/** The length of an interval, if all its windows have the same; else undefined. */
export function fixedLengthMs(parameters: Parameters): number | undefined {
  const found = checkedInterval(textIn(parameters, 'interval'));
  return found.kind === 'fixed' ? found.lengthMs : undefined;
}
