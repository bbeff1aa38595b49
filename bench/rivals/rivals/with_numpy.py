"""NumPy as people write it: whole arrays, one expression a step, times as float64 epoch milliseconds. Arrays are given
back by being dropped; `:out` is the way of those who give every step its `out=`, so that nothing long is allocated
while it runs."""
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


def difference(time_ms, a):
    return time_ms[1:], np.diff(a)


def derivative(time_ms, a):
    return time_ms[1:], np.diff(a) / (np.diff(time_ms) / HOUR_MS)


def counted(a):
    step = np.diff(a)
    return np.where(step < 0, a[1:], step)


def hysteresis(time_ms, a):
    """The last sample at or beyond a bound says the state; before the first it is 0."""
    is_on = a >= 40
    told = np.maximum.accumulate(np.where(is_on | (a <= 10), np.arange(len(a)), 0))
    return time_ms, is_on[told].astype(float)


def by_hour(reduce):
    """Of whole hours of as many samples each, which these are: a table with a row an hour."""
    def run(time_ms, a):
        first, starts = window_starts(time_ms, HOUR_MS)
        whole = len(a) // 60 * 60
        results = reduce(a[:whole].reshape(-1, 60))
        return starts, results if whole == len(a) else np.append(results, reduce(a[None, whole:]))
    return run


def range_hourly(time_ms, a):
    first, starts = window_starts(time_ms, HOUR_MS)
    return starts, np.maximum.reduceat(a, first) - np.minimum.reduceat(a, first)


def minimum_hourly(time_ms, a):
    first, starts = window_starts(time_ms, HOUR_MS)
    return starts, np.minimum.reduceat(a, first)


def increase_hourly(time_ms, a):
    """A window counts from the last sample before it."""
    first, starts = window_starts(time_ms, HOUR_MS)
    return starts, np.add.reduceat(np.insert(counted(a), 0, 0), first)


def distinct(rows):
    ordered = np.sort(rows, axis=1)
    return (np.diff(ordered, axis=1) != 0).sum(axis=1) + 1.0


def with_out(*names):
    """A work whose operation is made once, with the memory it works in."""
    def with_maker(maker):
        def prepare(column):
            return maker(*[column(name) for name in names]), (lambda result: result)
        return prepare
    return with_maker


def elementwise_out(time_ms, a, b):
    out, positive = np.empty_like(a), np.empty(len(a), dtype=bool)

    def run():
        np.multiply(a, 1.5, out=out)
        np.add(out, b, out=out)
        np.round(out, 2, out=out)
        np.greater(out, 0, out=positive)
        np.multiply(positive, 2.0, out=out)
        return time_ms, out

    return run


def window_starts_out(time_ms, window_ms):
    """The same as window_starts; only what is as short as the result is made anew."""
    window, is_first = np.empty_like(time_ms), np.empty(len(time_ms), dtype=bool)

    def starts():
        np.floor_divide(time_ms, window_ms, out=window)
        is_first[0] = True
        np.not_equal(window[1:], window[:-1], out=is_first[1:])
        first = np.flatnonzero(is_first)
        return first, window[first] * window_ms

    return starts


def average_hourly_out(time_ms, a):
    find_starts = window_starts_out(time_ms, HOUR_MS)

    def run():
        first, starts = find_starts()
        return starts, np.add.reduceat(a, first) / np.diff(first, append=len(a))

    return run


def sum_quarter_out(time_ms, a):
    find_starts = window_starts_out(time_ms, QUARTER_MS)

    def run():
        first, starts = find_starts()
        return starts, np.add.reduceat(a, first)

    return run


def time_weighted_out(time_ms, a):
    find_starts = window_starts_out(time_ms, HOUR_MS)
    next_ms, ends = np.append(time_ms[1:], np.inf), np.empty_like(time_ms)

    def run():
        first, starts = find_starts()
        np.floor_divide(time_ms, HOUR_MS, out=ends)
        np.add(ends, 1, out=ends)
        np.multiply(ends, HOUR_MS, out=ends)
        np.minimum(next_ms, ends, out=ends)
        np.subtract(ends, time_ms, out=ends)
        np.multiply(a, ends, out=ends)
        area = np.add.reduceat(ends, first)
        carried_ms = time_ms[first] - starts
        area[1:] += a[first[1:] - 1] * carried_ms[1:]
        known_ms = np.full(len(first), HOUR_MS)
        known_ms[0] -= carried_ms[0]
        return starts, area / known_ms

    return run


def kept_out(compare):
    """`compare(a, kept, also)` says which samples stay, in two arrays of bool."""
    def maker(time_ms, a):
        kept, also = np.empty(len(a), dtype=bool), np.empty(len(a), dtype=bool)
        out_ms, out = np.empty_like(time_ms), np.empty_like(a)

        def run():
            compare(a, kept, also)
            count = np.count_nonzero(kept)
            np.compress(kept, time_ms, out=out_ms[:count])
            np.compress(kept, a, out=out[:count])
            return out_ms[:count], out[:count]

        return run
    return maker


def outside(a, kept, also):
    np.logical_or(np.less(a, 0, out=kept), np.greater(a, 20, out=also), out=kept)


def inside(a, kept, also):
    np.logical_and(np.greater_equal(a, 0, out=kept), np.less_equal(a, 20, out=also), out=kept)


def cleanse_out(time_ms, a):
    out = np.empty_like(a)
    return lambda: (time_ms, np.clip(a, 0, 50, out=out))


def shift_out(time_ms, a):
    out = np.empty_like(time_ms)
    return lambda: (np.add(time_ms, HOUR_MS, out=out), a)


def hold_at_out(step_ms):
    """searchsorted takes no `out`; the ticks are numbered once and multiplied at each run."""
    def maker(time_ms, a):
        first = np.ceil(time_ms[0] / step_ms)
        number = np.arange(first, time_ms[-1] // step_ms + 1)
        ticks, out = np.empty_like(number), np.empty_like(number)

        def run():
            np.multiply(number, step_ms, out=ticks)
            at = np.searchsorted(time_ms, ticks, side='right')
            np.subtract(at, 1, out=at)
            return ticks, np.take(a, at, out=out, mode='clip')

        return run
    return maker


WORKS = {
    'elementwise': over('t', 'a', 'b')(elementwise),
    'average-hourly': over('t', 'a')(average_hourly),
    'sum-quarter': over('t', 'a')(sum_quarter),
    'time-weighted': over('t', 'a')(time_weighted),
    'mask': over('t', 'a')(mask),
    'where': over('t', 'a')(where),
    'cleanse': over('t', 'a')(lambda time_ms, a: (time_ms, np.clip(a, 0, 50))),
    'shift': over('t', 'a')(lambda time_ms, a: (time_ms + HOUR_MS, a)),
    'hold': over('t', 'a')(hold_at(QUARTER_MS)),
    'resample': over('t', 'a')(hold_at(MINUTE_MS)),
    'sqrt': over('t', 'a')(lambda time_ms, a: (time_ms, np.sqrt(a))),
    'exp': over('t', 'a')(lambda time_ms, a: (time_ms, np.exp(a))),
    'log': over('t', 'a')(lambda time_ms, a: (time_ms, np.log(a))),
    'pow': over('t', 'a')(lambda time_ms, a: (time_ms, a ** 1.7)),
    'mod': over('t', 'a')(lambda time_ms, a: (time_ms, a % 7)),
    'floor': over('t', 'a')(lambda time_ms, a: (time_ms, np.floor(a))),
    'scale': over('t', 'a')(lambda time_ms, a: (time_ms, a * 1.8 + 32)),
    'maximum': over('t', 'a', 'b')(lambda time_ms, a, b: (time_ms, np.maximum(a, b))),
    'select': over('t', 'a', 'b')(lambda time_ms, a, b: (time_ms, np.where(b != 0, a, 0))),
    'difference': over('t', 'a')(difference),
    'derivative': over('t', 'a')(derivative),
    'counter': over('t', 'a')(lambda time_ms, a: (time_ms[1:], counted(a))),
    'cumulative-sum': over('t', 'a')(lambda time_ms, a: (time_ms, np.cumsum(a))),
    'hysteresis': over('t', 'a')(hysteresis),
    'minimum-hourly': over('t', 'a')(minimum_hourly),
    'range-hourly': over('t', 'a')(range_hourly),
    'deviation-hourly': over('t', 'a')(by_hour(lambda rows: rows.std(axis=1, ddof=1))),
    'median-hourly': over('t', 'a')(by_hour(lambda rows: np.median(rows, axis=1))),
    'percentile-hourly': over('t', 'a')(by_hour(lambda rows: np.percentile(rows, 95, axis=1))),
    'distinct-hourly': over('t', 'a')(by_hour(distinct)),
    'increase-hourly': over('t', 'a')(increase_hourly),
    'elementwise:out': with_out('t', 'a', 'b')(elementwise_out),
    'average-hourly:out': with_out('t', 'a')(average_hourly_out),
    'sum-quarter:out': with_out('t', 'a')(sum_quarter_out),
    'time-weighted:out': with_out('t', 'a')(time_weighted_out),
    'mask:out': with_out('t', 'a')(kept_out(outside)),
    'where:out': with_out('t', 'a')(kept_out(inside)),
    'cleanse:out': with_out('t', 'a')(cleanse_out),
    'shift:out': with_out('t', 'a')(shift_out),
    'hold:out': with_out('t', 'a')(hold_at_out(QUARTER_MS)),
    'resample:out': with_out('t', 'a')(hold_at_out(MINUTE_MS)),
}

serve(np.__version__, WORKS)
