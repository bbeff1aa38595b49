"""Computes most of the golden results again, in plain Python with exact sums and the system's time zones, and tells
where expected.csv differs by more than a rounding error.

    python3 test/golden/check.py
"""

import csv
import math
import statistics
import sys
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "docs" / "examples"
NEW_YORK = ZoneInfo("America/New_York")
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def read(path, zone=timezone.utc, start=None, until=None):
    """Samples in time order, the last of each time, with times in UTC."""
    samples = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            time = datetime.fromisoformat(row["timestamp"]).replace(tzinfo=zone).astimezone(timezone.utc)
            if (start is None or time >= start) and (until is None or time < until):
                samples[time] = float(row["value"])
    return dict(sorted(samples.items()))


def utc(*parts):
    return datetime(*parts, tzinfo=timezone.utc)


def rounded(value, digits):
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP))


def on_grid(length):
    return lambda time: EPOCH + (time - EPOCH) // length * length


def local_start(unit):
    def start(time):
        local = time.astimezone(NEW_YORK).replace(hour=0, minute=0, second=0, microsecond=0)
        if unit == "week":
            local -= timedelta(days=local.weekday())
        if unit == "month":
            local = local.replace(day=1)
        return local.astimezone(timezone.utc)

    return start


def windows(samples, start_of):
    groups = defaultdict(list)
    for time, value in samples.items():
        groups[start_of(time)].append(value)
    return dict(sorted(groups.items()))


def each(groups, function):
    return {time: function(values) for time, values in groups.items()}


def mean(values):
    return math.fsum(values) / len(values)


def percentile(values, percent):
    ordered = sorted(values)
    at = (len(ordered) - 1) * percent / 100
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def time_weighted(samples, starts, hold):
    """The average over each window of the value held from sample to sample, for `hold` at most."""
    times = list(samples)
    results = {}
    for start, end in zip(starts, starts[1:]):
        area, known = [], 0.0
        for index, time in enumerate(times):
            until = min(times[index + 1] if index + 1 < len(times) else end, time + hold, end)
            seconds = (until - max(time, start)).total_seconds()
            if seconds > 0:
                area.append(samples[time] * seconds)
                known += seconds
        if known > 0:
            results[start] = math.fsum(area) / known
    return results


def day_starts(samples, start_of):
    first, last = start_of(min(samples)), start_of(max(samples))
    starts = [first]
    while starts[-1] <= last:
        starts.append(start_of(starts[-1] + timedelta(hours=26)))
    return starts


def held(samples, step, hold, until):
    times = list(samples)
    tick = EPOCH + -((EPOCH - times[0]) // step) * step
    results, index = {}, 0
    while tick < until:
        while index + 1 < len(times) and times[index + 1] <= tick:
            index += 1
        if tick - times[index] <= hold:
            results[tick] = samples[times[index]]
        tick += step
    return results


def office_temperature():
    raw = read(EXAMPLES / "office-temperature.csv", start=utc(2013, 8, 15), until=utc(2013, 11, 15))
    celsius = each(raw, lambda value: rounded((value - 32) / 1.8, 2))
    yield "Celsius", celsius
    plausible = each(celsius, lambda value: min(max(value, 5), 28))
    starts = day_starts(plausible, local_start("day"))
    daily = each(time_weighted(plausible, starts, 3 * HOUR), lambda value: rounded(value, 2))
    yield "DailyAverage", daily
    next_day = dict(zip(starts, starts[1:]))
    before = {next_day[time]: value for time, value in daily.items()}
    change = {time: rounded(value - before[time], 2) for time, value in daily.items() if time in before}
    yield "ChangeFromDayBefore", change
    uncomfortable = each(celsius, lambda value: float(value < 20 or value > 24))
    share = each(windows(uncomfortable, local_start("week")), mean)
    yield "UncomfortablePercent", each(share, lambda value: rounded(value * 100, 1))


def office_comfort():
    raw = read(EXAMPLES / "office-temperature.csv", start=utc(2013, 7, 4), until=utc(2013, 8, 20))
    ends = [(utc(2013, 7, 6), utc(2013, 7, 8)), (utc(2013, 7, 13), utc(2013, 7, 15))]
    weekday = {time: value for time, value in raw.items() if not any(start <= time < end for start, end in ends)}
    yield "Weekday", weekday
    yield "Comfortable", {time: value for time, value in weekday.items() if 68 <= value <= 75.2}
    yield "Outliers", {time: value for time, value in raw.items() if not 62 <= value <= 78}
    yield "HotAndNotNight", each(raw, lambda value: float(value >= 72 and not value < 75))
    yield "Percentiles", each(windows(raw, on_grid(7 * DAY)), lambda values: percentile(values, 90))
    times = list(raw)
    four = {time: value for time, value in raw.items() if on_grid(4 * HOUR)(time) == time}
    for before, after in zip(times, times[1:]):
        tick = EPOCH + -((EPOCH - before) // (4 * HOUR)) * (4 * HOUR)
        while tick < after and after - before <= 6 * HOUR:
            four[tick] = raw[before] + (raw[after] - raw[before]) * ((tick - before) / (after - before))
            tick += 4 * HOUR
    yield "FourHours", four
    averages = each(windows(raw, on_grid(DAY)), mean)
    gone = {}
    for time, value in raw.items():
        start = on_grid(DAY)(time)
        known = start if start in averages else start - DAY if time == start else None
        if known is not None:
            gone[time] = abs(value - averages[known])
    deviation = each(windows(gone, on_grid(DAY)), max)
    yield "Deviation", {time + DAY: rounded(value, 3) for time, value in deviation.items()}


def taxi_rides():
    raw = read(HERE / "data" / "taxi.csv", zone=NEW_YORK)
    daily = each(windows(raw, local_start("day")), math.fsum)
    yield "DailyRides", daily
    starts = day_starts(raw, local_start("day"))
    ratio = {
        start: rounded(daily[start] / daily[before], 4)
        for start, before in zip(starts[7:], starts)
        if start in daily and before in daily
    }
    yield "DayOverWeekBefore", ratio
    yield "BusiestHalfHourOfWeek", each(windows(raw, local_start("week")), max)
    yield "MonthlyMeanOfDays", each(windows(daily, local_start("month")), mean)
    quiet = each(raw, lambda value: float(value <= 3000))
    yield "Quiet", each(windows(quiet, local_start("week")), math.fsum)


def road_occupancy():
    raw = read(HERE / "data" / "occupancy.csv", until=utc(2015, 9, 15))
    quarter = timedelta(minutes=15)
    first, last = on_grid(quarter)(min(raw)), on_grid(quarter)(max(raw))
    starts = [first + quarter * index for index in range((last - first) // quarter + 2)]
    yield "QuarterHourly", time_weighted(raw, starts, HOUR)
    yield "Held", held(raw, timedelta(minutes=30), timedelta(minutes=45), utc(2015, 9, 15))
    yield "Median", each(windows(raw, on_grid(HOUR)), statistics.median)
    trimmed = each(raw, lambda value: min(max(value, 1), 20))
    yield "TrimmedAverage", each(windows(trimmed, on_grid(DAY)), mean)
    yield "Range", each(windows(raw, on_grid(DAY)), lambda values: max(values) - min(values))


def expected(name):
    results = defaultdict(dict)
    with open(HERE / name / "expected.csv", newline="") as file:
        for row in csv.DictReader(file):
            time = datetime.fromisoformat(row["timestamp"].replace("Z", "+00:00"))
            results[row["metric"]][time] = float(row["value"])
    return results


def main():
    differences = 0
    for name, compute in {
        "office-temperature": office_temperature,
        "office-comfort": office_comfort,
        "taxi-rides": taxi_rides,
        "road-occupancy": road_occupancy,
    }.items():
        written = expected(name)
        for metric, computed in compute():
            found = written[metric]
            times = sorted(set(found) | set(computed))
            wrong = [time for time in times if not near(found.get(time), computed.get(time))]
            print(f"{name} {metric}: {len(computed)} results, {len(wrong)} differ")
            for time in wrong[:5]:
                print(f"  {time.isoformat()}: written {found.get(time)}, computed {computed.get(time)}")
            differences += len(wrong)
    sys.exit(1 if differences else 0)


def near(a, b):
    return a is not None and b is not None and math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)


main()
