"""Writes numpy-windows.json: what NumPy and SciPy give for every function of Aggregate in every kind of window.

    /usr/bin/python3 test/conformance/numpy-windows.py

A window is a span of whole seconds. Values between samples are taken second by second, so nothing here follows a
formula of the engine's.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import scipy.stats

# The clocks in Berlin go forward at 01:00Z. A gap, equal values, a fall, and samples on borders.
FIRST = pd.Timestamp("2024-03-30T21:40:00Z").timestamp()
MINUTES = [0, 10, 20, 21, 30, 33, 47, 60, 65, 80, 160, 161, 170, 180, 200, 203, 215, 230, 265, 270, 271, 280]
VALUES = [
    20.5,
    21.25,
    21.25,
    -3.75,
    19.1,
    22.7,
    22.7,
    0.3,
    1e3,
    7.5,
    -7.5,
    3.25,
    12,
    12,
    11.9,
    3.25,
    8,
    8,
    30,
    22,
    20,
    21,
]
METER = [90, 91, 95, 3, 4, 4, 9, 20, 21, 40, 80, 2, 2, 5, 8, 13, 21, 34, 55, 89, 1, 1.5]
OTHER = [2, 1.5, 4, 4, 8, 1, -3, 7, 7, 7.5, 2, 2.25, 2.5, 9, 3, 5, 1, 0, 2, 6, 6.5, 7]
time = FIRST + 60 * np.array(MINUTES)
HOUR = 3600.0


class Window:
    """Which samples lie in it, [first, last) of their places, and the time [start, end) that it spans."""

    def __init__(self, stamp, start, end, inside):
        places = np.flatnonzero(inside)
        self.stamp, self.start, self.end = stamp, start, end
        self.places = places
        self.before = np.searchsorted(time, time[places[0]]) - 1 if len(places) > 0 else -1

    def seconds(self):
        return np.arange(self.start, self.end)


def held(window, x, max_hold=np.inf):
    """Each second's value, NaN where none is known."""
    seconds = window.seconds()
    at = np.searchsorted(time, seconds, side="right") - 1
    return np.where((at >= 0) & (seconds - time[at] < max_hold), np.asarray(x, float)[at], np.nan)


def steps(window, x, top=None):
    """The steps up of a counter in a window, from the sample before it on, and the time that they take."""
    places = window.places if window.before < 0 else np.r_[window.before, window.places]
    readings = np.asarray(x, float)[places]
    rise = np.diff(readings)
    fallen = readings[1:] if top is None else top - readings[:-1] + readings[1:]
    return np.where(rise >= 0, rise, fallen).sum(), time[places[-1]] - time[places[0]]


def rate(window, x):
    total, took = steps(window, x)
    return total / took * 60 if took > 0 else np.nan


def changes(window, x):
    places = window.places if window.before < 0 else np.r_[window.before, window.places]
    inside = (np.asarray(x)[places] >= 5) & (np.asarray(x)[places] <= 20.5)
    return np.count_nonzero(np.diff(inside.astype(int)))


def line(window, x):
    """The straight line through the samples, at its ends, at the samples and wherever the window cuts it."""
    start, end = max(window.start, time[0]), min(window.end, time[-1])
    if end <= start:
        return np.array([0.0]), np.array([np.nan])
    points = np.unique(np.r_[start, time[(time > start) & (time < end)], end])
    return points, np.interp(points, time, np.asarray(x, float))


def area(window, x):
    points, values = line(window, x)
    return np.trapz(values, points) if len(points) > 1 else np.nan


def mean_line(window, x):
    points, _ = line(window, x)
    return area(window, x) / (points[-1] - points[0]) if len(points) > 1 else np.nan


def known(values, result):
    return result if np.any(~np.isnan(values)) else np.nan


def own(function):
    return lambda window, x: function(np.asarray(x, float)[window.places])


def slope(window, x):
    if len(window.places) < 2:
        return np.nan
    return (
        scipy.stats.linregress(time[window.places] - time[window.places[0]], np.asarray(x)[window.places]).slope * HOUR
    )


def pair(function):
    def of(window, x, y):
        a, b = np.asarray(x, float)[window.places], np.asarray(y, float)[window.places]
        return function(a, b) if len(a) > 1 and (function is covariance or np.ptp(a) > 0 < np.ptp(b)) else np.nan

    return of


def covariance(a, b):
    return np.cov(a, b)[0, 1]


def correlation(a, b):
    return scipy.stats.pearsonr(a, b)[0]


def spread(ddof):
    return own(lambda part: ddof(part) if len(part) > 1 else np.nan)


HOLD = {"maxhold": "PT12M"}
hold = 720
OF_SAMPLES = [
    ("Average", {}, VALUES, own(np.mean)),
    ("Sum", {}, VALUES, own(np.sum)),
    ("Count", {}, VALUES, own(len)),
    ("First", {}, VALUES, own(lambda part: part[0])),
    ("Last", {}, VALUES, own(lambda part: part[-1])),
    ("Min", {}, VALUES, own(np.min)),
    ("Max", {}, VALUES, own(np.max)),
    ("Range", {}, VALUES, own(np.ptp)),
    ("Median", {}, VALUES, own(np.median)),
    ("Percentile", {"percentile": 30}, VALUES, own(lambda part: np.percentile(part, 30))),
    ("StandardDeviation", {}, VALUES, spread(lambda part: np.std(part, ddof=1))),
    ("Variance", {}, VALUES, spread(lambda part: np.var(part, ddof=1))),
    ("Delta", {}, VALUES, own(lambda part: part[-1] - part[0])),
    ("Mode", {}, VALUES, own(lambda part: scipy.stats.mode(part, keepdims=False).mode)),
    ("DistinctCount", {}, VALUES, own(lambda part: len(np.unique(part)))),
    ("Increase", {}, METER, lambda window, x: steps(window, x)[0]),
    ("Increase", {"max": 100}, METER, lambda window, x: steps(window, x, 100)[0]),
    ("Rate", {"unit": "PT1M"}, METER, rate),
    ("Slope", {}, VALUES, slope),
    ("TimeOfMin", {}, VALUES, lambda window, x: 1000 * time[window.places[np.argmin(np.array(x)[window.places])]]),
    ("TimeOfMax", {}, VALUES, lambda window, x: 1000 * time[window.places[np.argmax(np.array(x)[window.places])]]),
    ("Transitions", {"lower": 5, "upper": 20.5}, VALUES, changes),
]
OF_TIME = [
    ("TimeWeightedAverage", {}, lambda w, x: np.nanmean(held(w, x)) if np.any(~np.isnan(held(w, x))) else np.nan),
    (
        "TimeWeightedAverage",
        HOLD,
        lambda w, x: np.nanmean(held(w, x, hold)) if np.any(~np.isnan(held(w, x, hold))) else np.nan,
    ),
    ("TimeWeightedAverage", {"method": "linear"}, mean_line),
    ("Integral", HOLD, lambda w, x: known(held(w, x, hold), np.nansum(held(w, x, hold)) / HOUR)),
    ("Integral", {"method": "linear", "unit": "PT1M"}, lambda w, x: area(w, x) / 60),
    # Where nothing is known there is no result, as with all functions; NumPy alone would say 0.
    (
        "Coverage",
        HOLD,
        lambda w, x: known(held(w, x, hold), np.mean(~np.isnan(held(w, x, hold))) if w.end > w.start else 0),
    ),
    (
        "TimeInState",
        {**HOLD, "lower": 5, "upper": 20.5, "unit": "PT1S"},
        lambda w, x: known(held(w, x, hold), np.sum((held(w, x, hold) >= 5) & (held(w, x, hold) <= 20.5))),
    ),
]
OF_TWO = [("Covariance", pair(covariance)), ("Correlation", pair(correlation))]


def hourly(closed):
    for start in np.arange(FIRST // HOUR * HOUR, time[-1] + 1, HOUR):
        end = start + HOUR
        yield Window(
            start, start, end, (time >= start) & (time < end) if closed == "left" else (time > start) & (time <= end)
        )


def days():
    midnights = pd.date_range("2024-03-30", "2024-04-01", tz="Europe/Berlin")
    borders = [midnight.timestamp() for midnight in midnights]
    for start, end in zip(borders, borders[1:]):
        yield Window(start, start, end, (time >= start) & (time < end))


def every():
    for end in np.arange(FIRST // 1800 * 1800, time[-1] + 5400 + 1, 1800):
        start = end - 5400
        if end > time[0] and start <= time[-1]:
            yield Window(end, start, end, (time >= start) & (time < end))


def rolling():
    for t in time:
        yield Window(t, t - 2400, t, (time > t - 2400) & (time <= t))


def sessions():
    number = np.cumsum(np.r_[0, np.diff(time) > 900])
    for each in np.unique(number):
        part = time[number == each]
        yield Window(part[0], part[0], part[-1], number == each)


def so_far():
    midnight = pd.Timestamp("2024-03-31", tz="Europe/Berlin").timestamp()
    day_before = pd.Timestamp("2024-03-30", tz="Europe/Berlin").timestamp()
    for t in time:
        start = midnight if t >= midnight else day_before
        yield Window(t, start, t, (time >= start) & (time <= t))


BERLIN = {"timezone": "Europe/Berlin"}
SHAPES = [
    ("hours", {"interval": "Hourly"}, {}, lambda: hourly("left")),
    ("hours closed right", {"interval": "Hourly", "closed": "right"}, {}, lambda: hourly("right")),
    ("a day of 23 hours", {"interval": "Daily"}, BERLIN, days),
    (
        "90 minutes every 30",
        {"window": {"type": "sliding", "size": "PT90M", "every": "PT30M"}, "label": "end"},
        {},
        every,
    ),
    ("the last 40 minutes", {"window": {"type": "sliding", "size": "PT40M"}}, {}, rolling),
    ("sessions", {"window": {"type": "session", "gap": "PT15M"}}, {}, sessions),
    ("the local day so far", {"window": {"type": "running", "since": "Daily"}}, BERLIN, so_far),
]


def instant(seconds):
    return pd.Timestamp(seconds, unit="s").strftime("%Y-%m-%dT%H:%M:%SZ")


def samples(times, values):
    return [[instant(t), float(x)] for t, x in zip(times, values) if np.isfinite(x)]


cases = []


def case(name, parameters, options, inputs, expected):
    references = [{"timeseriesId": name, "metric": "Raw"} for name in "ab"[: len(inputs)]]
    result = {"timeseriesId": "a", "metric": "M"}
    step = {"operation": "Aggregate", "input": references, "output": [result], "parameters": parameters}
    cases.append(
        {
            "name": name,
            "source": f"NumPy {np.__version__}, SciPy {scipy.__version__}: numpy-windows.py",
            "request": [{"metric": "M", "processingType": "batch", "operations": [step]}],
            **({"options": options} if options else {}),
            "inputs": [{**one, "samples": samples(time, x)} for one, x in zip(references, inputs)],
            "expected": [{**result, "samples": expected}],
            "tolerance": 1e-9,
        }
    )


def table(windows, function, inputs):
    rows = [(window.stamp, function(window, *inputs)) for window in windows]
    return samples([stamp for stamp, _ in rows], [value for _, value in rows])


def title(name, shape, extra):
    return f"{name} of {shape}{''.join(f', {key} {value}' for key, value in extra.items())}"


for shape, where, options, windows in SHAPES:
    full = [window for window in windows() if len(window.places) > 0]
    for name, extra, x, function in OF_SAMPLES:
        parameters = {"function": name, **extra, **where}
        case(title(name, shape, extra), parameters, options, (x,), table(full, function, (x,)))
    for name, function in OF_TWO:
        case(
            title(name, shape, {}),
            {"function": name, **where},
            options,
            (VALUES, OTHER),
            table(full, function, (VALUES, OTHER)),
        )
    if shape == "hours closed right":
        continue
    for name, extra, function in OF_TIME:
        parameters = {"function": name, **extra, **where}
        case(title(name, shape, extra), parameters, options, (VALUES,), table(windows(), function, (VALUES,)))

text = ",\n".join(json.dumps(case) for case in cases)
Path(__file__).with_suffix(".json").write_text(f"[\n{text}\n]\n")
