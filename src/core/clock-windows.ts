import { DAY_MS } from './calendar.js';
import { gridOf } from './grid.js';
import { TIME_MS_END, TIME_MS_MIN } from './series.js';
import type { Windows } from './windows.js';
import type { Span, Zone } from './zone.js';

/** In all years together, clock changes add or remove fewer windows than this. */
const CLOCK_CHANGE_WINDOWS_MAX = 1_000_000;

/**
 * Windows that divide the local day. One begins whenever the local clock shows a multiple of their length (twice if it
 * shows it twice), and where it jumps over one.
 */
export function clockWindows(lengthMs: number, zone: Zone): Windows {
  const { pointMs, indexOf } = gridOf(lengthMs);

  // The span that the time just before an instant lies in.
  function spanBefore(timeMs: number): Span {
    const span = zone.spanAt(timeMs);
    return timeMs > span.startMs ? span : zone.spanAt(span.startMs - 1);
  }
  function isBorder(timeMs: number): boolean {
    const { startMs, offsetMs } = zone.spanAt(timeMs);
    if (pointMs(indexOf(timeMs, offsetMs), offsetMs) === timeMs) return true;
    if (timeMs !== startMs) return false;
    const before = zone.spanAt(startMs - 1).offsetMs;
    // The first multiple from here on by the old offset: a window begins here if the clock jumped to it or over it.
    const index = indexOf(timeMs, before);
    const pastMs = pointMs(index, before) === timeMs ? timeMs : pointMs(index + 1, before);
    return pastMs - timeMs <= offsetMs - before;
  }
  function next(timeMs: number): number {
    const { endMs, offsetMs } = zone.spanAt(timeMs);
    const found = pointMs(indexOf(timeMs, offsetMs) + 1, offsetMs);
    if (found < endMs) return found;
    return isBorder(endMs) ? endMs : next(endMs);
  }
  function previous(timeMs: number): number {
    const { startMs, offsetMs } = spanBefore(timeMs);
    const found = pointMs(lastBefore(timeMs, offsetMs), offsetMs);
    if (found >= startMs) return found;
    return isBorder(startMs) ? startMs : previous(startMs);
  }
  function lastBefore(timeMs: number, offsetMs: number): number {
    const index = indexOf(timeMs, offsetMs);
    return pointMs(index, offsetMs) === timeMs ? index - 1 : index;
  }
  // One jump for each span of constant offset.
  function step(startMs: number, count: number): number {
    // No need to walk if the walk is certain to end outside the known years.
    if (startMs + (count - CLOCK_CHANGE_WINDOWS_MAX) * lengthMs > TIME_MS_END) return TIME_MS_END + 3 * DAY_MS;
    if (startMs + (count + CLOCK_CHANGE_WINDOWS_MAX) * lengthMs < TIME_MS_MIN) return TIME_MS_MIN - 3 * DAY_MS;
    let timeMs = startMs;
    let left = Math.abs(count);
    while (left > 0 && timeMs > TIME_MS_MIN - lengthMs && timeMs < TIME_MS_END + lengthMs) {
      const span = count > 0 ? zone.spanAt(timeMs) : spanBefore(timeMs);
      const { offsetMs } = span;
      const from = count > 0 ? indexOf(timeMs, offsetMs) : lastBefore(timeMs, offsetMs) + 1;
      const inSpan =
        count > 0 ? lastBefore(span.endMs, offsetMs) - from : from - 1 - lastBefore(span.startMs, offsetMs);
      if (left <= inSpan) return pointMs(from + Math.sign(count) * left, offsetMs);
      left -= Math.max(0, inSpan);
      const edgeMs = count > 0 ? span.endMs : span.startMs;
      // The next border lies at the edge or beyond it; going back, one at the edge may have been counted.
      if (count > 0) timeMs = isBorder(edgeMs) ? edgeMs : next(edgeMs);
      else timeMs = inSpan > 0 && pointMs(from - inSpan, offsetMs) === edgeMs ? previous(edgeMs) : floorAt(edgeMs);
      left--;
    }
    return timeMs;
  }
  function floorAt(timeMs: number): number {
    return isBorder(timeMs) ? timeMs : previous(timeMs);
  }
  // If the clock goes back between two multiples, a window can last almost twice its length.
  return { gridMs: undefined, lengthMsMax: 2 * lengthMs, startOf: floorAt, next, previous, step };
}
