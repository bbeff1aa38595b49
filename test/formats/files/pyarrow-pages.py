# Writes small files of pyarrow for tests of damage: python3 test/formats/files/pyarrow-pages.py (pyarrow 25.0.1).
# Every eighth of 40 values is missing. No changed bit makes the others infinite. Pages of version 2 tell how many, those of version 1 leave it to the statistics.
import pyarrow as pa
import pyarrow.parquet as parquet

millis = pa.array([1_700_000_000_000 + i * 60_000 for i in range(40)], pa.timestamp("ms", "UTC"))
values = pa.array([None if i % 8 == 3 else float(i % 5 + 2) for i in range(40)])
schema = pa.schema([pa.field("timestamp", millis.type, False), pa.field("office", values.type)])
table = pa.table([millis, values], schema)
options = {"use_dictionary": ["office"], "store_schema": False}
parquet.write_table(table, "pages-v1.parquet", compression="none", data_page_version="1.0", **options)
parquet.write_table(table, "pages-v2.parquet", compression="none", data_page_version="2.0", **options)
parquet.write_table(table, "pages-gzip.parquet", compression="gzip", **options)
