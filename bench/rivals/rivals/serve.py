"""What the rivals written in Python share; the talk with the runner is that of ../serve.mjs."""
import gc
import json
import sys
import time

import numpy as np


def serve(version, works, process=None):
    """`works`: id -> prepare(column) -> (run, answer); `answer(result)` gives the columns (time_ms, value)."""
    command, *rest = sys.argv[1:]
    if command == 'version':
        say({'version': version, 'works': ([] if process is None else ['process']) + list(works)})
    elif command == 'process':
        process(rest[0], rest[1])
    else:
        serve_memory(works[rest[0]], json.loads(rest[2]))


def serve_memory(prepare, files):
    run, answer = prepare(lambda name: np.fromfile(files[name]))
    result = None
    say({'ready': True})
    for line in sys.stdin:
        order, _, path = line.strip().partition(' ')
        if order == 'run':
            # The result before is let go first: a rival is timed as if it ran once.
            result = None
            gc.collect()
            start = time.perf_counter()
            result = run()
            say({'ms': (time.perf_counter() - start) * 1000})
        else:
            time_ms, value = answer(result)
            np.column_stack((time_ms, value)).astype('f8').tofile(path)
            say({'count': len(value)})


def say(message):
    print(json.dumps(message), flush=True)
