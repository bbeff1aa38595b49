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

# Columns that nobody reads: bytes that are no text, and lists of 64-bit and of fixed length.
blob = pa.array([b"\xff\x00", b"", None])
tags = pa.array([["a"], [], None], pa.large_list(pa.string()))
pair = pa.array([[1, 2], [3, 4], None], pa.list_(pa.int32(), 2))
beside = pa.table({"timestamp": table["timestamp"], "blob": blob, "tags": tags, "pair": pair, "value": table["office"]})
feather.write_feather(beside, "beside.arrow", compression="uncompressed")

# A record and a number of one name.
record = pa.array([{"x": 1.0}] * 3)
equal = pa.Table.from_arrays([table["timestamp"], record, table["office"]], ["timestamp", "office", "office"])
with pa.ipc.new_file("equal-names.arrow", equal.schema) as writer:
    writer.write_table(equal)
