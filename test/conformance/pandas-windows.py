"""Writes pandas-windows.json: what pandas gives for sliding, session and running windows.

    /usr/bin/python3 test/conformance/pandas-windows.py
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

random = np.random.default_rng(23)
start = pd.Timestamp("2024-03-30T20:00:00Z")
readings = pd.Series(
    np.round(20 + random.normal(0, 3, 120), 1),
    start + pd.to_timedelta(np.sort(random.choice(30000, 120, replace=False)) * 3, unit="s"),
)
cases = []


def instant(time):
    return time.tz_convert("UTC").strftime("%Y-%m-%dT%H:%M:%S.000Z")


def samples(series):
    return [[instant(time), value] for time, value in series.dropna().items()]


def case(name, parameters, table, options=None):
    reference = {"timeseriesId": "a", "metric": "Raw"}
    result = {"timeseriesId": "a", "metric": "M"}
    step = {"operation": "Aggregate", "input": [reference], "output": [result], "parameters": parameters}
    cases.append(
        {
            "name": name,
            "source": f"pandas {pd.__version__}: pandas-windows.py",
            "request": [{"metric": "M", "processingType": "batch", "operations": [step]}],
            **({} if options is None else {"options": options}),
            "inputs": [{**reference, "samples": samples(readings)}],
            "expected": [{**result, "samples": samples(table.astype(float))}],
            "tolerance": 1e-9,
        }
    )


functions = {
    "Average": "mean",
    "Sum": "sum",
    "Count": "count",
    "Min": "min",
    "Max": "max",
    "Median": "median",
    "StandardDeviation": "std",
    "Variance": "var",
}

# With each sample: the half-open time (t - size, t], which is what pandas' rolling takes by default.
rolling = readings.rolling("25min")
for name, method in functions.items():
    window = {"type": "sliding", "size": "PT25M"}
    case(f"{name} rolling", {"function": name, "window": window}, getattr(rolling, method)())
case(
    "Percentile rolling",
    {"function": "Percentile", "percentile": 90, "window": {"type": "sliding", "size": "PT25M"}},
    rolling.quantile(0.9),
)

# At borders: what each window of a list holds.
ends = pd.date_range(start.floor("30min"), readings.index[-1] + pd.Timedelta("2h"), freq="30min")


def parts(series, ends, size):
    for end in ends:
        part = series[(series.index >= end - size) & (series.index < end)]
        if len(part) > 0:
            yield end, part


for name, method in functions.items():
    table = {end: getattr(part, method)() for end, part in parts(readings, ends, pd.Timedelta("2h"))}
    window = {"type": "sliding", "size": "PT2H", "every": "PT30M"}
    case(f"{name} every half hour", {"function": name, "window": window, "label": "end"}, pd.Series(table))

# Two local days, one of which has 23 hours: a day is a day, however long.
berlin = readings.tz_convert("Europe/Berlin")
midnights = pd.date_range("2024-03-31", "2024-04-03", freq="D", tz="Europe/Berlin")
table = {end: part.sum() for end, part in parts(berlin, midnights, pd.DateOffset(days=2))}
case(
    "Two local days, every day, where clocks go forward",
    {"function": "Sum", "window": {"type": "sliding", "size": "P2D", "every": "Daily"}, "label": "end"},
    pd.Series(table),
    {"timezone": "Europe/Berlin"},
)

# Sessions: a step in time over the gap begins a new one.
session = (readings.index.to_series().diff() > pd.Timedelta("10min")).cumsum()
firsts = readings.index.to_series().groupby(session).first()
for name, method in functions.items():
    table = getattr(readings.groupby(session.to_numpy()), method)()
    window = {"type": "session", "gap": "PT10M"}
    table = pd.Series(table.to_numpy(), pd.DatetimeIndex(firsts))
    case(f"{name} of sessions", {"function": name, "window": window}, table)

# Running: of each local day so far.
days = berlin.groupby(berlin.index.floor("D"))
for name, method in functions.items():
    table = getattr(days.expanding(), method)().droplevel(0)
    case(
        f"{name} of the local day so far",
        {"function": name, "window": {"type": "running", "since": "Daily"}},
        table,
        {"timezone": "Europe/Berlin"},
    )

text = ",\n".join(json.dumps(case) for case in cases)
Path(__file__).with_suffix(".json").write_text(f"[\n{text}\n]\n")
