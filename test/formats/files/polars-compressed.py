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

# A file of several pages with a dictionary, whose statistics tell the missing values of the column for each of them.
spare = [i % 7 if i % 3 else None for i in range(200)]
frame = pl.DataFrame({"timestamp": times[:200], "value": spare})
frame.write_parquet("polars-pages.parquet", compression="zstd", data_page_size=100)
