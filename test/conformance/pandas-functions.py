"""Writes pandas-functions.json: what pandas and NumPy give for the functions of Aggregate.

    /usr/bin/python3 test/conformance/pandas-functions.py
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

HOUR = pd.Timedelta("1h")
random = np.random.default_rng(11)
times = pd.Timestamp("2024-03-01") + pd.to_timedelta(np.sort(random.choice(26000, 90, replace=False)), unit="s")
readings = pd.Series(np.round(20 + random.normal(0, 3, 90), 1), times)
meter = pd.Series(np.cumsum(random.integers(0, 9, 90)).astype(float), times)
meter.iloc[40:] -= meter.iloc[40]  # the meter is changed


def instant(time):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def samples(series):
    return [[instant(time), value] for time, value in series.items()]


def hourly(series, function):
    return series.groupby(series.index.floor("h")).apply(function).astype(float)


def slope(part):
    if len(part) < 2:
        return np.nan
    hours = (part.index - part.index[0]) / HOUR
    return np.polyfit(hours, part.to_numpy(), 1)[0]


def epoch(time):
    return time.value / 1e6


steps = meter.diff().fillna(0)
increments = steps.where(steps >= 0, meter)

# Held for at most five minutes, second by second.
seconds = pd.date_range(times[0], times[-1].ceil("h") - pd.Timedelta("1s"), freq="s")
position = readings.index.searchsorted(seconds, side="right") - 1
age = seconds - readings.index[position]
held = pd.Series(np.where(age < pd.Timedelta("5min"), readings.to_numpy()[position], np.nan), seconds)
known = held.dropna()
hold = {"maxhold": "PT5M"}

tables = [
    ("Mode", {}, readings, hourly(readings, lambda part: part.mode().iloc[0])),
    ("DistinctCount", {}, readings, hourly(readings, pd.Series.nunique)),
    ("TimeOfMin", {}, readings, hourly(readings, lambda part: epoch(part.idxmin()))),
    ("TimeOfMax", {}, readings, hourly(readings, lambda part: epoch(part.idxmax()))),
    ("Slope", {}, readings, hourly(readings, slope).dropna()),
    ("Increase", {}, meter, hourly(increments, pd.Series.sum)),
    ("Integral", hold, readings, hourly(known, lambda part: part.sum() / 3600)),
    ("TimeInState", {**hold, "lower": 20, "unit": "PT1S"}, readings, hourly(known, lambda part: (part >= 20).sum())),
    ("Coverage", hold, readings, hourly(held, lambda part: part.notna().sum() / 3600)),
]

cases = []
for name, parameters, series, table in tables:
    reference = {"timeseriesId": "a", "metric": "Raw"}
    result = {"timeseriesId": "a", "metric": "M"}
    step = {
        "operation": "Aggregate",
        "input": [reference],
        "output": [result],
        "parameters": {"function": name, "interval": "Hourly", **parameters},
    }
    cases.append(
        {
            "name": f"{name} of hours",
            "source": f"pandas {pd.__version__}, NumPy {np.__version__}: pandas-functions.py",
            "request": [{"metric": "M", "processingType": "batch", "operations": [step]}],
            "inputs": [{**reference, "samples": samples(series)}],
            "expected": [{**result, "samples": samples(table)}],
            "tolerance": 1e-9,
        }
    )
text = ",\n".join(json.dumps(case) for case in cases)
Path(__file__).with_suffix(".json").write_text(f"[\n{text}\n]\n")
