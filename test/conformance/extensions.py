"""Writes extensions.json: what pandas and numpy make of the same samples. Run: python3 test/conformance/extensions.py"""

import json
import math
from decimal import Decimal, getcontext
from pathlib import Path

import numpy as np
import pandas as pd

getcontext().prec = 60
START = pd.Timestamp("2024-03-01T00:00:00Z")
# Uneven times with a gap, and values with a fall, a repeat and both signs.
MINUTES = [0, 5, 10, 12, 20, 31, 45, 46, 90, 95, 100, 101, 130, 240, 250]
VALUES = [20.5, 21.25, 21.25, -3.75, 19.1, 22.7, 0.3, 0.1, 1e6, 7.5, -7.5, 3.25, 12.0, 12.0, 11.9]
series = pd.Series(VALUES, index=[START + pd.Timedelta(minutes=m) for m in MINUTES])
other = pd.Series([2.0, -3.0, 0.5, 7.0, 4.0], index=[START + pd.Timedelta(minutes=m) for m in [0, 10, 31, 95, 250]])


def samples(values):
    return [[t.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), float(x)] for t, x in values.items() if math.isfinite(x)]


def case(name, operation, parameters, expected, source, inputs=(series,), tolerance=1e-12):
    names = ["a", "b", "c"][: len(inputs)]
    out = {"timeseriesId": "a", "metric": "M"}
    step = {
        "operation": operation,
        "input": [{"timeseriesId": one, "metric": "Raw"} for one in names],
        "output": [out],
        "parameters": parameters,
    }
    return {
        "name": name,
        "source": f"{source} (pandas {pd.__version__}, numpy {np.__version__}, Python decimal)",
        "request": [{"metric": "M", "processingType": "batch", "operations": [step]}],
        "inputs": [
            {"timeseriesId": one, "metric": "Raw", "samples": samples(values)} for one, values in zip(names, inputs)
        ],
        "expected": [{**out, "samples": samples(expected)}],
        "tolerance": tolerance,
    }


def each(f, values=series):
    return pd.Series([f(x) for x in values], index=values.index)


def nearest(f):
    """The double nearest to what 60 decimal digits say."""
    return lambda x: float(f(Decimal(x)))


seconds = pd.Series([m * 60.0 for m in MINUTES], index=series.index)
positive = series[series > 0]
local = series.copy()
local.index = local.index.tz_convert("Europe/Berlin")
joined = pd.concat([series, other], axis=1).dropna()
held = pd.concat([series, other], axis=1).sort_index().ffill().dropna()
grid = pd.Series([1.0, 2.0, 4.0, 8.0], index=[START + pd.Timedelta(minutes=m) for m in [0, 15, 60, 150]])
even = grid.resample("15min").asfreq()
falls = pd.Series([5.0, 7.0, 9.5, 1.0, 3.0], index=series.index[:5])
steps = falls.diff()

cases = [
    case("difference", "Difference", {}, series.diff(), "Series.diff"),
    case(
        "derivative an hour",
        "Derivative",
        {"unit": "PT1H"},
        series.diff() / (seconds.diff() / 3600),
        "Series.diff over the hours between",
    ),
    case("running total", "CumulativeSum", {}, series.cumsum(), "Series.cumsum"),
    case(
        "running total of each hour",
        "CumulativeSum",
        {"interval": "Hourly"},
        series.groupby(series.index.floor("h")).cumsum(),
        "groupby(floor).cumsum",
    ),
    case("rolling mean", "MovingAverage", {"window": "PT30M"}, series.rolling("30min").mean(), "rolling('30min').mean",
         tolerance=1e-9),
    case(
        "ewm with times",
        "ExponentialAverage",
        {"halflife": "PT20M"},
        series.ewm(halflife="20min", times=series.index).mean(),
        "ewm(halflife, times).mean",
    ),
    case("counter, resets", "Counter", {}, steps.where(steps.isna() | (steps >= 0), falls), "diff, falls replaced",
         inputs=(falls,)),
    case("counter, rollover at 10", "Counter", {"max": 10}, steps.where(steps.isna() | (steps >= 0), steps + 10),
         "diff, falls + 10", inputs=(falls,)),
    case("min of two", "Min", {}, joined.min(axis=1), "concat.dropna.min", inputs=(series, other)),
    case("max, held", "Max", {"align": "hold"}, held.max(axis=1), "concat.ffill.dropna.max", inputs=(series, other)),
    case("coalesce", "Coalesce", {}, other.combine_first(series), "combine_first", inputs=(other, series), tolerance=0),
    case("modulo", "Mod", {"scalar": 7}, series % 7, "Series % (numpy.mod)", tolerance=0),
    case("modulo, negative", "Mod", {"scalar": -2.5}, series % -2.5, "Series % (numpy.mod)", tolerance=0),
    case("square root", "Sqrt", {}, np.sqrt(positive), "numpy.sqrt", inputs=(positive,), tolerance=0),
    case("sign", "Sign", {}, np.sign(series), "numpy.sign", tolerance=0),
    case("floor", "Floor", {}, np.floor(series), "numpy.floor", tolerance=0),
    case("ceil", "Ceil", {}, np.ceil(series), "numpy.ceil", tolerance=0),
    case("clamp", "Clamp", {"lower": 0, "upper": 20}, series.clip(0, 20), "Series.clip", tolerance=0),
    case("exp, to the bit", "Exp", {}, each(nearest(Decimal.exp), other), "Decimal.exp", inputs=(other,), tolerance=0),
    case("log, to the bit", "Log", {}, each(nearest(Decimal.ln), positive), "Decimal.ln", inputs=(positive,),
         tolerance=0),
    case("log10, to the bit", "Log", {"base": 10}, each(nearest(Decimal.log10), positive), "Decimal.log10",
         inputs=(positive,), tolerance=0),
    case("pow, to the bit", "Pow", {"scalar": 0.3}, each(nearest(lambda x: x ** Decimal(0.3)), positive), "Decimal **",
         inputs=(positive,), tolerance=0),
    case("degrees, to the bit", "Scale", {"from": "degF", "to": "degC"},
         each(nearest(lambda x: (x - 32) * 5 / 9)), "Decimal", tolerance=0),
    case("pounds a square inch, to the bit", "Scale", {"from": "psi", "to": "Pa"},
         each(nearest(lambda x: x * Decimal("4.4482216152605") / Decimal("0.00064516"))), "Decimal", tolerance=0),
    case("fill forward", "Fill", {"frequency": "PT15M"}, even.ffill(), "asfreq.ffill", inputs=(grid,), tolerance=0),
    case("fill by interpolation", "Fill", {"frequency": "PT15M", "method": "linear"}, even.interpolate("time"),
         "asfreq.interpolate('time')", inputs=(grid,)),
    case("fill with a constant", "Fill", {"frequency": "PT15M", "method": "constant", "value": -1}, even.fillna(-1),
         "asfreq.fillna", inputs=(grid,), tolerance=0),
]

# Business hours over the two nights on which the clocks in Berlin change.
for day in ["2024-03-30", "2024-10-26"]:
    from_time = pd.Timestamp(day, tz="Europe/Berlin")
    minutes = pd.date_range(from_time, periods=3 * 24 * 60, freq="min")
    instants = minutes.tz_convert("UTC")
    hours = [{"start": "08:00", "end": "18:00"}]
    ends = pd.Series([0.0, 0.0], index=[instants[0], instants[-1]])
    weekdays = pd.Series([1.0 if t.dayofweek < 5 and 8 <= t.hour < 18 else 0.0 for t in minutes], index=instants)
    cases.append(
        case(
            f"schedule from {day}",
            "Schedule",
            {"days": ["Mon", "Tue", "Wed", "Thu", "Fri"], "hours": hours, "timezone": "Europe/Berlin"},
            weekdays[weekdays.diff() != 0],
            "minute by minute, dayofweek and hour of the local time",
            inputs=(ends,),
            tolerance=0,
        )
    )
    nights = pd.Series([1.0 if t.hour == 2 and t.minute < 30 else 0.0 for t in minutes], index=instants)
    cases.append(
        case(
            f"schedule of the hour that changes, from {day}",
            "Schedule",
            {"hours": [{"start": "02:00", "end": "02:30"}], "timezone": "Europe/Berlin"},
            nights[nights.diff() != 0],
            "minute by minute, hour and minute of the local time",
            inputs=(ends,),
            tolerance=0,
        )
    )

lines = ",\n".join(json.dumps(one) for one in cases)
Path(__file__).with_name("extensions.json").write_text(f"[\n{lines}\n]\n")
