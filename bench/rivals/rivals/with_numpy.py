"""NumPy as people write it: whole arrays, one expression a step, times as float64 epoch milliseconds."""
import numpy as np

from serve import serve

MINUTE_MS = 60_000.0
QUARTER_MS = 15 * MINUTE_MS
HOUR_MS = 60 * MINUTE_MS


def over(*names):
    """A work whose run takes the named columns."""
    def with_operation(operation):
        def prepare(column):
            columns = [column(name) for name in names]
            return (lambda: operation(*columns)), (lambda result: result)
        return prepare
    return with_operation


def elementwise(time_ms, a, b):
    return time_ms, (np.round(a * 1.5 + b, 2) > 0) * 2.0


def elementwise_reusing(column):
    """The same with every output given: nothing is allocated while it runs."""
    time_ms, a, b = column('timeMs'), column('a'), column('b')
    out, positive = np.empty_like(a), np.empty(len(a), dtype=bool)

    def run():
        np.multiply(a, 1.5, out=out)
        np.add(out, b, out=out)
        np.round(out, 2, out=out)
        np.greater(out, 0, out=positive)
        np.multiply(positive, 2.0, out=out)
        return time_ms, out

    return run, lambda result: result


def window_starts(time_ms, window_ms):
    """Where each window begins among the samples, and its number."""
    window = time_ms // window_ms
    first = np.flatnonzero(np.diff(window, prepend=window[0] - 1))
    return first, window[first] * window_ms


def average_hourly(time_ms, a):
    first, starts = window_starts(time_ms, HOUR_MS)
    return starts, np.add.reduceat(a, first) / np.diff(first, append=len(a))


def sum_quarter(time_ms, a):
    first, starts = window_starts(time_ms, QUARTER_MS)
    return starts, np.add.reduceat(a, first)


def time_weighted(time_ms, a):
    """Each sample weighs its time to the next or to its window's end; the value before is carried to a window's first
    sample. Sums are per window: a running integral over 19 years loses the ninth digit. No window is empty here."""
    first, starts = window_starts(time_ms, HOUR_MS)
    ends = np.repeat(starts + HOUR_MS, np.diff(first, append=len(a)))
    own_ms = np.minimum(np.append(time_ms[1:], np.inf), ends) - time_ms
    area = np.add.reduceat(a * own_ms, first)
    carried_ms = time_ms[first] - starts
    area[1:] += a[first[1:] - 1] * carried_ms[1:]
    known_ms = np.full(len(first), HOUR_MS)
    known_ms[0] -= carried_ms[0]
    return starts, area / known_ms


def mask(time_ms, a):
    kept = (a < 0) | (a > 20)
    return time_ms[kept], a[kept]


def where(time_ms, a):
    kept = (a >= 0) & (a <= 20)
    return time_ms[kept], a[kept]


def hold_at(step_ms):
    def hold(time_ms, a):
        ticks = np.arange(np.ceil(time_ms[0] / step_ms) * step_ms, time_ms[-1] + 1, step_ms)
        return ticks, a[np.searchsorted(time_ms, ticks, side='right') - 1]
    return hold


WORKS = {
    'elementwise': over('timeMs', 'a', 'b')(elementwise),
    'elementwise:reuse': elementwise_reusing,
    'average-hourly': over('timeMs', 'a')(average_hourly),
    'sum-quarter': over('timeMs', 'a')(sum_quarter),
    'time-weighted': over('jitteredMs', 'a')(time_weighted),
    'mask': over('timeMs', 'a')(mask),
    'where': over('timeMs', 'a')(where),
    'cleanse': over('timeMs', 'a')(lambda time_ms, a: (time_ms, np.clip(a, 0, 50))),
    'shift': over('timeMs', 'a')(lambda time_ms, a: (time_ms + HOUR_MS, a)),
    'hold': over('jitteredMs', 'a')(hold_at(QUARTER_MS)),
    'resample': over('jitteredMs', 'a')(hold_at(MINUTE_MS)),
}

serve(np.__version__, WORKS)
