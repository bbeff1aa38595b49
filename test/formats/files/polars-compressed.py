# Writes the compressed Arrow files: python3 test/formats/files/polars-compressed.py (Polars 1.44.2).
# Their buffers are longer than a block of LZ4, so that blocks reach back into those before.
from datetime import datetime, timedelta

import polars as pl

count = 10_000
start = datetime(2024, 3, 1)
times = [start + timedelta(minutes=15 * i) for i in range(count)]
frame = pl.DataFrame({"timestamp": times, "value": [float(i % 97 + 1) for i in range(count)]})
for codec in ("lz4", "zstd"):
    frame.write_ipc(f"polars-{codec}.arrow", compression=codec)
