#!/usr/bin/env python3
# Writes two_columns.parquet: Bloom filters on two of three columns, in two row groups.
#   python two_columns.py OUTDIR        (pyarrow 23 or later)
import os, sys
import pyarrow as pa, pyarrow.parquet as pq
rows = 400
table = pa.table({
    "id": pa.array(range(1000, 1000 + rows), pa.int64()),
    "name": pa.array([f"user-{i}" for i in range(rows)]),
    "note": pa.array(["x"] * rows),
})
pq.write_table(table, os.path.join(sys.argv[1], "two_columns.parquet"), row_group_size=rows // 2, compression="zstd", use_dictionary=False,
               store_schema=False, bloom_filter_options={"id": {"ndv": rows, "fpp": 0.01}, "name": {"ndv": rows, "fpp": 0.001}})
