"""What the rivals written in Python share; ../serve.mjs says what is timed. The garbage collector is left alone."""
import json
import re
import resource
import sys
import time

import numpy as np

def serve(version, works, csv=None):
    """`works`: operation -> prepare(column) -> (run, answer); `answer(result)` gives the columns (time_ms, value)."""
    command, *rest = sys.argv[1:]
    if command == 'version':
        say({'version': version, 'operations': [f'csv-{layout}' for layout in csv or {}] + list(works)})
    elif command == 'csv':
        csv[rest[0]](rest[1], rest[2])
    else:
        task = json.loads(rest[0])
        say(measure(works[task['operation'] + task.get('way', '')], task))


def measure(prepare, task):
    start = time.perf_counter()
    run, answer = prepare(lambda name: np.fromfile(task['files'][name]))
    load_ms = (time.perf_counter() - start) * 1000
    forget_peak_mb()
    runs, first_peak_mb, first = (run_keeping if task['mode'] == 'kept' else run_giving_back)(run, task)
    peak_mb = read_peak_mb()
    if 'answer' in task:
        time_ms, value = answer(first)
        np.column_stack((time_ms, value)).astype('f8').tofile(task['answer'])
    return {'loadMs': load_ms, 'runs': runs, 'firstPeakMb': first_peak_mb, 'peakMb': peak_mb}


def run_keeping(run, task):
    held = []
    runs, first_peak_mb = timed_runs(task, lambda: held.append(run()))
    return runs, first_peak_mb, held[0]


def run_giving_back(run, task):
    """Dropping a result is giving it back: Python frees an array with its last name."""
    def step():
        run()

    runs, first_peak_mb = timed_runs(task, step)
    return runs, first_peak_mb, run() if 'answer' in task else None


def timed_runs(task, step):
    runs, first_peak_mb = [], None
    until = time.perf_counter() + task['budgetMs'] / 1000

    def is_done():
        return len(runs) >= task['runs'] or time.perf_counter() >= until or (read_peak_mb() or 0) > task['limitMb']

    while not runs or not is_done():
        system_before = resource.getrusage(resource.RUSAGE_SELF).ru_stime
        start = time.perf_counter()
        step()
        ms = (time.perf_counter() - start) * 1000
        system_ms = (resource.getrusage(resource.RUSAGE_SELF).ru_stime - system_before) * 1000
        runs.append({'ms': ms, 'systemMs': system_ms})
        first_peak_mb = first_peak_mb or read_peak_mb()
    return runs, first_peak_mb


def read_peak_mb():
    try:
        with open('/proc/self/status') as status:
            return int(re.search(r'VmHWM:\s+(\d+)', status.read())[1]) / 1024
    except OSError:
        return None


def forget_peak_mb():
    try:
        with open('/proc/self/clear_refs', 'w') as clear:
            clear.write('5')
    except OSError:
        pass


def say(message):
    print(json.dumps(message), flush=True)
