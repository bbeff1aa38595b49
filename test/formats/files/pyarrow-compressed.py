# Writes the files of pyarrow: python3 test/formats/files/pyarrow-compressed.py (pyarrow 25.0.1).
# Its frames of Zstandard tell their length, those of Polars do not. A column of nulls has a dictionary of nothing.
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

micros = [1_709_251_200_000_000, 1_709_251_260_000_000, 1_709_251_320_123_456]
table = pa.table({"timestamp": pa.array(micros, pa.timestamp("us", "UTC")), "office": [0.1, 1.1, 2.1]})
for codec in ("lz4", "zstd"):
    feather.write_feather(table, f"pyarrow-{codec}.feather", compression=codec)
spare = table.append_column("spare", pa.nulls(3, pa.float64()))
parquet.write_table(spare, "pyarrow-lz4.parquet", compression="lz4")
