"""Writes pandas-steps.json: what pandas, NumPy and SciPy give for the operations that remember or choose samples.

    /usr/bin/python3 test/conformance/pandas-steps.py
"""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import scipy.interpolate
import scipy.stats
from scipy import constants as c

START = pd.Timestamp("2024-03-30T22:00:00Z")
VERSIONS = f"pandas {pd.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}"
random = np.random.default_rng(29)
cases = []


def after(minutes, values):
    return pd.Series(np.asarray(values, float), START + pd.to_timedelta(np.asarray(minutes, float), unit="min"))


def samples(series):
    return [[t.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), float(x)] for t, x in series.items() if math.isfinite(x)]


def case(name, operation, parameters, expected, source, inputs, tolerance=0, options=None):
    references = [{"timeseriesId": name, "metric": "Raw"} for name in "abc"[: len(inputs)]]
    result = {"timeseriesId": "a", "metric": "M"}
    step = {"operation": operation, "input": references, "output": [result], "parameters": parameters}
    cases.append(
        {
            "name": name,
            "source": f"{source} ({VERSIONS}): pandas-steps.py",
            "request": [{"metric": "M", "processingType": "batch", "operations": [step]}],
            **({"options": options} if options else {}),
            "inputs": [{**one, "samples": samples(series)} for one, series in zip(references, inputs)],
            "expected": [{**result, "samples": samples(expected)}],
            "tolerance": tolerance,
        }
    )


# A walk with equal values and values on bounds, at uneven times with a gap.
minutes = np.cumsum(np.r_[0, random.choice([1, 2, 5, 7, 10], 59)]) + np.r_[np.zeros(40), np.full(20, 95)]
walk = after(minutes, np.round(20 + np.cumsum(random.choice([-1, -0.5, 0, 0.5, 1], 60)), 1))
spiky = walk.copy()
spiky.iloc[[0, 7, 8, 22, 41, 59]] += [30, -25, 40, 9, -12, 30]
state = after(minutes[:30], (random.random(30) < 0.55).astype(float))


# Hysteresis: what is set at a bound holds until the other bound sets it.
def latch(series, on, off):
    turned = pd.Series(np.nan, series.index)
    above = on >= off
    turned[series >= off if not above else series <= off] = 0
    turned[series >= on if above else series <= on] = 1
    return turned.ffill().fillna(0)


for on, off in [(21, 19.5), (19, 20.5)]:
    case(
        f"hysteresis on {on} off {off}",
        "Hysteresis",
        {"on": on, "off": off},
        latch(walk, on, off),
        "ffill of what is set",
        (walk,),
    )


# The timers of IEC 61131-3, scanned every second: Q of TON after IN for PT, Q of TOF until IN has been off for PT.
def timers(series, on_s, off_s):
    scans = pd.date_range(series.index[0], series.index[-1] + pd.Timedelta("1h"), freq="s")
    level = series.reindex(scans).ffill().to_numpy() != 0
    out, since, q = [], 0, False
    for at, is_on in enumerate(level):
        if at == 0 or is_on != level[at - 1]:
            since = at
        if at - since >= (on_s if is_on else off_s):
            q = is_on
        out.append(q)
    result = pd.Series(np.array(out, float), scans)
    turns = result.index[result.diff().abs() == 1]
    # A sample at the time at which the timer is due comes first and may take it back; a scan says the same.
    return result[result.index.isin(series.index) | result.index.isin(turns)]


for on_s, off_s in [(600, 0), (0, 420), (300, 600)]:
    parameters = {"on": f"PT{on_s}S", "off": f"PT{off_s}S"}
    case(
        f"delay {on_s} s, {off_s} s",
        "Delay",
        parameters,
        timers(state, on_s, off_s),
        "TON and TOF scanned each second",
        (state,),
    )

before = state.shift()
for direction, edge in {
    "rising": (state != 0) & (before == 0),
    "falling": (state == 0) & (before == 1),
    "both": before.notna() & (state != before),
}.items():
    case(f"edge {direction}", "Edge", {"direction": direction}, edge.astype(float), "Series.shift", (state,))

coarse = walk.round(0)
run = (coarse != coarse.shift()).cumsum()
times = coarse.index.to_series()
lasted = times - times.groupby(run).transform("first")
case(
    "stuck for ten minutes",
    "StuckValue",
    {"duration": "PT10M"},
    (lasted >= pd.Timedelta("10min")).astype(float),
    "groupby of runs of equal values",
    (coarse,),
)


# The identifier as MATLAB's hampel has it: windows cut off at both ends, 1.4826 times the median deviation.
def hampel(series, side, threshold):
    around = [series.to_numpy()[max(0, i - side) : i + side + 1] for i in range(len(series))]
    middle = pd.Series([np.median(part) for part in around], series.index)
    deviation = [1.4826 * scipy.stats.median_abs_deviation(part) for part in around]
    return middle, (series - middle).abs() > threshold * np.array(deviation)


for side, threshold in [(3, 3), (2, 2), (5, 0)]:
    middle, is_outlier = hampel(spiky, side, threshold)
    parameters = {"samples": side, "threshold": threshold}
    source = "numpy.median, scipy.stats.median_abs_deviation"
    case(f"hampel {side}, {threshold}", "Hampel", parameters, spiky.where(~is_outlier, middle), source, (spiky,))
    case(
        f"hampel {side}, {threshold}, flagged",
        "Hampel",
        {**parameters, "action": "flag"},
        is_outlier.astype(float),
        source,
        (spiky,),
    )
    case(
        f"hampel {side}, {threshold}, removed",
        "Hampel",
        {**parameters, "action": "remove"},
        spiky[~is_outlier],
        source,
        (spiky,),
    )


# OPC UA Part 4, AbsoluteDeadband: notified where |last notified - value| > deadband.
def deadband(series, tolerance):
    kept, last = [], math.inf
    for t, x in series.items():
        if abs(last - x) > tolerance:
            kept.append(t)
            last = x
    return series[kept]


for tolerance in [0, 1, 2.25]:
    case(
        f"deadband {tolerance}",
        "Deadband",
        {"tolerance": tolerance},
        deadband(walk, tolerance),
        "AbsoluteDeadband of OPC UA Part 4",
        (walk,),
    )


# The opening window (BOPW in Meratnia and de By, EDBT 2004), each line checked by numpy.interp at all samples under it.
def opening_window(series, tolerance):
    t = (series.index - series.index[0]).total_seconds().to_numpy()
    x = series.to_numpy()
    kept, end = [0], 1
    while end + 1 < len(x):
        inner = np.arange(kept[-1], end + 2)
        line = np.interp(t[inner], t[inner[[0, -1]]], x[inner[[0, -1]]])
        if np.max(np.abs(line - x[inner])) > tolerance:
            kept.append(end)
        end += 1
    return series.iloc[kept + [len(x) - 1]]


for tolerance in [0.35, 1.1, 4.7]:
    case(
        f"swinging door {tolerance}",
        "SwingingDoor",
        {"tolerance": tolerance},
        opening_window(walk, tolerance),
        "numpy.interp, opening window",
        (walk,),
    )

hours = walk.groupby(walk.index.floor("h"))
case(
    "least and greatest of each hour",
    "Downsample",
    {"interval": "Hourly", "method": "minmax"},
    walk[np.unique(np.r_[hours.idxmin(), hours.idxmax()])],
    "idxmin, idxmax",
    (walk,),
)

# Two or three series that share some of their times.
half = walk.iloc[::2] * 10
condition = (walk.iloc[::3] > 20).astype(float)
inner = pd.concat([walk, condition, half], axis=1, keys="xcz", join="inner")
held = pd.concat([walk, condition, half], axis=1, keys="xcz").sort_index().ffill().dropna()
asof = held.reindex(walk.index).dropna()
for align, both in {"inner": inner, "hold": held, "asof": asof}.items():
    chosen = pd.Series(np.where(both.c != 0, both.x, both.z), both.index)
    case(f"select {align}", "Select", {"align": align}, chosen, "concat and numpy.where", (walk, condition, half))
two = pd.concat([walk, condition], axis=1, keys="xc", join="inner")
case("select or nothing", "Select", {}, two.x[two.c != 0], "concat and a mask", (walk, condition))
case("select or a number", "Select", {"else": -1}, two.x.where(two.c != 0, -1), "Series.where", (walk, condition))
case("max of three", "Max", {}, inner.max(axis=1), "concat.max", (walk, condition, half))
case("min of three, held", "Min", {"align": "hold"}, held.min(axis=1), "concat.ffill.min", (walk, condition, half))
first = half.reindex(walk.index.union(half.index))
case(
    "coalesce of three",
    "Coalesce",
    {},
    half.combine_first(condition).combine_first(walk),
    "combine_first",
    (half, condition, walk),
)

lengths = walk.index.to_series().diff().shift(-1)
case(
    "gaps over seven minutes",
    "Gaps",
    {"gap": "PT7M", "unit": "PT1M"},
    (lengths[lengths > pd.Timedelta("7min")] / pd.Timedelta("1min")),
    "diff of the index",
    (walk,),
)

# A grid with holes: of three samples, of one, and of nine, which is over the longest gap.
grid = after([0, 10, 20, 60, 70, 90, 190, 200], [1, 2, 4, 8, 16, 3, 5, 7])
second = after(np.arange(3, 230, 10), np.arange(23) * 100)
even = grid.asfreq("10min")
position = pd.Series(np.arange(len(grid)), grid.index).reindex(even.index).ffill()
length = pd.Series(np.diff(grid.index) / pd.Timedelta("1min"), grid.index[:-1]).reindex(even.index).ffill()
short = even.notna() | (length <= 60)
for method, filled in {
    "previous": even.ffill(),
    "linear": even.interpolate("time"),
    "constant": even.fillna(-3),
}.items():
    parameters = {
        "frequency": "PT10M",
        "method": method,
        "maxgap": "PT1H",
        **({"value": -3} if method == "constant" else {}),
    }
    case(f"fill short gaps, {method}", "Fill", parameters, filled[short], f"asfreq, {method}", (grid,), 1e-12)
gap = pd.Series(np.diff(grid.index) > np.timedelta64(10, "m"), grid.index[:-1])
inside = gap.reindex(second.index, method="ffill").fillna(False) & (second.index < grid.index[-1])
case(
    "fill from another series",
    "Fill",
    {"frequency": "PT10M", "method": "series"},
    pd.concat([grid, second[inside.astype(bool)]]).sort_index(),
    "reindex(ffill) of gaps",
    (grid, second),
)

# Pipelines: resample after resample.
berlin = walk.tz_convert("Europe/Berlin")
stages = lambda *of: {"pipeline": [{"function": function, "interval": interval} for function, interval in of]}
case(
    "max of hourly means",
    "Aggregate Pipeline",
    stages(("Average", "Hourly"), ("Max", "Daily")),
    walk.resample("h").mean().dropna().resample("D").max(),
    "resample, resample",
    (walk,),
    1e-12,
)
case(
    "mean of quarter sums of local days",
    "Aggregate Pipeline",
    stages(("Sum", "QuarterHourly"), ("Average", "Hourly"), ("Count", "Daily")),
    berlin.resample("15min")
    .sum(min_count=1)
    .dropna()
    .resample("h")
    .mean()
    .dropna()
    .resample("D")
    .count()
    .replace(0, np.nan)
    .tz_convert("UTC"),
    "resample three times",
    (walk,),
    1e-12,
    {"timezone": "Europe/Berlin"},
)
right = dict(closed="right", label="right")
case(
    "closed right",
    "Aggregate Pipeline",
    {**stages(("Sum", "Hourly"), ("Max", "Daily")), "closed": "right"},
    walk.resample("h", **right).sum(min_count=1).dropna().resample("D", closed="right", label="left").max(),
    "resample(closed='right')",
    (walk,),
    1e-12,
)

case(
    "hours between, stamped with their ends",
    "Aggregate Pipeline",
    {**stages(("Average", "Hourly"), ("Count", "Daily")), "label": "end"},
    walk.resample("h").mean().resample("D", label="right").count(),
    "resample(label='right')",
    (walk,),
    1e-12,
)
hourly = walk.resample("h").mean()
case(
    "empty hours held",
    "Aggregate",
    {"function": "Average", "interval": "Hourly", "empty": "hold"},
    hourly.ffill(),
    "resample.mean.ffill",
    (walk,),
    1e-12,
)
case(
    "empty hours of local days 0",
    "Aggregate",
    {"function": "Sum", "interval": "Hourly", "empty": "zero"},
    berlin.resample("h").sum().tz_convert("UTC"),
    "resample.sum",
    (walk,),
    1e-12,
    {"timezone": "Europe/Berlin"},
)
steady = walk.resample("s").ffill()
whole = pd.concat(
    [
        steady,
        pd.Series(
            walk.iloc[-1], pd.date_range(walk.index[-1], walk.index[-1].ceil("h"), freq="s", inclusive="neither")
        ),
    ]
)
case(
    "mean of each second's value",
    "Aggregate",
    {"function": "TimeWeightedAverage", "method": "step", "interval": "Hourly"},
    whole[~whole.index.duplicated()].resample("h").mean(),
    "resample('s').ffill.resample('h').mean",
    (walk,),
    1e-9,
)

# Shifts on a local calendar, and times in the days of a clock change.
local = after(np.arange(0, 60 * 60, 397), np.arange(10)).tz_convert("Europe/Berlin")
for window, offset in {
    "Daily": pd.DateOffset(days=3),
    "Monthly": pd.DateOffset(months=11),
    "Weekly": pd.DateOffset(weeks=1),
}.items():
    count = {"Daily": 3, "Monthly": 11, "Weekly": 1}[window]
    moved = local.copy()
    moved.index = [t + offset for t in local.index]
    moved = moved[~moved.index.duplicated(keep="last")].sort_index().tz_convert("UTC")
    case(
        f"shift by {count} of {window}",
        "Shift",
        {
            "function": "ShiftByWindow",
            "shift": count,
            "direction": "forward",
            "window": window,
            "timezone": "Europe/Berlin",
        },
        moved,
        "index + DateOffset",
        (local.tz_convert("UTC"),),
    )

anomaly = walk[(walk < 19) | (walk > 21)]
case(
    "outside a range",
    "Cleanse",
    {"function": "BoundsLimitAnomaly", "lowerbound": 19, "upperbound": 21},
    anomaly,
    "a mask",
    (walk,),
)
case(
    "within a range",
    "Cleanse",
    {"function": "BoundsLimitCleanse", "lowerbound": 19, "upperbound": 21},
    walk.clip(19, 21),
    "Series.clip",
    (walk,),
)

# Units, by the constants of SciPy, whose mmHg is the torr (a difference of 1.4e-7).

SI = {
    "W": dict(
        W=1,
        mW=1e-3,
        kW=1e3,
        MW=1e6,
        GW=1e9,
        PS=75 * c.g,
        **{"BTU/h": c.Btu / c.hour, "tonRefrigeration": 12000 * c.Btu / c.hour},
    ),
    "J": dict(
        J=1,
        kJ=1e3,
        MJ=1e6,
        GJ=1e9,
        Wh=c.hour,
        kWh=1e3 * c.hour,
        MWh=1e6 * c.hour,
        GWh=1e9 * c.hour,
        cal=c.calorie,
        kcal=1e3 * c.calorie,
        BTU=c.Btu,
        therm=1e5 * c.Btu,
    ),
    "Pa": dict(Pa=1, hPa=100, kPa=1e3, MPa=1e6, mbar=100, bar=c.bar, atm=c.atm, psi=c.psi),
    "m3/s": {
        "m3/s": 1,
        "m3/h": 1 / c.hour,
        "L/s": c.liter,
        "L/min": c.liter / c.minute,
        "L/h": c.liter / c.hour,
        "cfm": c.foot**3 / c.minute,
        "gpm": c.gallon / c.minute,
    },
    "m3": dict(m3=1, L=c.liter, mL=c.liter / 1e3, ft3=c.foot**3, gal=c.gallon),
    "m": {"m": 1, "mm": 1e-3, "cm": 1e-2, "km": 1e3, "in": c.inch, "ft": c.foot, "yd": c.yard, "mi": c.mile},
    "m2": dict(m2=1, cm2=1e-4, ha=c.hectare, ft2=c.foot**2),
    "kg": dict(kg=1, g=1e-3, mg=1e-6, t=1e3, lb=c.lb, oz=c.oz),
    "m/s": {"m/s": 1, "km/h": c.kmh, "mph": c.mph, "kn": c.knot, "ft/min": c.foot / c.minute},
    "s": dict(s=1, ms=1e-3, min=c.minute, h=c.hour, d=c.day),
    "A": dict(A=1, mA=1e-3, kA=1e3),
    "V": dict(V=1, mV=1e-3, kV=1e3),
    "Hz": dict(Hz=1, kHz=1e3, MHz=1e6, rpm=1 / c.minute),
    "1": {"1": 1, "%": 1e-2, "ppm": 1e-6, "ppb": 1e-9},
}
few = after([0, 1, 2, 3], [1, -40, 0.1, 1234.5])
for base, units in SI.items():
    names = list(units)
    for unit, to in zip(names, names[1:] + names[:1]):
        case(
            f"{unit} to {to}",
            "Scale",
            {"from": unit, "to": to},
            few * units[unit] / units[to],
            "scipy.constants",
            (few,),
            1e-8,
        )
for unit, to in [("degC", "degF"), ("degF", "degC"), ("degC", "K"), ("K", "degF"), ("degR", "degC"), ("degF", "degR")]:
    words = {"degC": "Celsius", "degF": "Fahrenheit", "K": "Kelvin", "degR": "Rankine"}
    converted = pd.Series(c.convert_temperature(few.to_numpy(), words[unit], words[to]), few.index)
    case(
        f"{unit} to {to}",
        "Scale",
        {"from": unit, "to": to},
        converted,
        "scipy.constants.convert_temperature",
        (few,),
        1e-12,
    )

# Held and interpolated on a grid, by SciPy.
ticks = pd.date_range(walk.index[0].ceil("15min"), walk.index[-1], freq="15min")
seconds = lambda index: (index - START).total_seconds().to_numpy()
for method, kind in {"step": "previous", "linear": "linear"}.items():
    points = scipy.interpolate.interp1d(seconds(walk.index), walk.to_numpy(), kind=kind)(seconds(ticks))
    case(
        f"resample {method}",
        "Resample",
        {"frequency": "PT15M", "method": method},
        pd.Series(points, ticks),
        f"interp1d({kind})",
        (walk,),
        1e-12,
    )
    if kind == "previous":
        case(
            "ticks",
            "HoldLastValue",
            {"interval": "QuarterHourly"},
            pd.Series(points, ticks),
            "interp1d(previous)",
            (walk,),
        )
recent = walk.reindex(ticks, method="ffill", tolerance="6min")
case(
    "ticks of values six minutes old",
    "HoldLastValue",
    {"interval": "QuarterHourly", "maxhold": "PT6M"},
    recent,
    "reindex(ffill, tolerance)",
    (walk,),
)

# Each alignment of two inputs.
other = after(minutes[3:50:2] + 0.5, np.round(random.normal(5, 2, 24), 2))
other = pd.concat([other, (walk.iloc[5:25:5] - 15)]).sort_index()
x, y = walk, other
union = x.index.union(y.index)
within = union[(union >= max(x.index[0], y.index[0])) & (union <= min(x.index[-1], y.index[-1]))]
known = pd.concat([x, y], axis=1, keys="xy").sort_index()
lines = pd.DataFrame(
    {key: np.interp(seconds(within), seconds(own.index), own) for key, own in {"x": x, "y": y}.items()}, within
)
latest = (
    pd.merge_asof(
        x.rename("x").rename_axis("t").reset_index(),
        y.rename("y").rename_axis("t").reset_index(),
        on="t",
        tolerance=pd.Timedelta("10min"),
    )
    .set_index("t")
    .dropna()
)
aligned = {
    "inner": ({}, known.dropna(), "concat.dropna"),
    "hold": ({}, known.ffill().dropna(), "concat.ffill"),
    "linear": ({}, lines, "numpy.interp"),
    "asof": ({"maxhold": "PT10M"}, latest, "merge_asof"),
}
works = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "Gt": lambda a, b: (a > b).astype(float),
    "Or": lambda a, b: ((a != 0) | (b != 0)).astype(float),
    "Min": np.minimum,
    "Mod": lambda a, b: a % b,
}
for align, (extra, both, source) in aligned.items():
    for operation, work in works.items():
        if operation == "Mod" and align == "linear":
            continue  # the last bit of what is interpolated decides
        case(f"{operation} {align}", operation, {"align": align, **extra}, work(both.x, both.y), source, (x, y), 1e-12)

text = ",\n".join(json.dumps(case) for case in cases)
Path(__file__).with_suffix(".json").write_text(f"[\n{text}\n]\n")
