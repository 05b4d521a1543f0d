"""Filters over Spark DataFrames: where the data outgrows one machine.

Keys reach gowk as Arrow batches, in the executors. Filters are built for each partition, merged in a tree, and sent out again as a
broadcast. Any cluster of Spark 3.5 or 4 will do whose Python has gowk, pyarrow and a pandas before 3; there is no JVM code of ours.

>>> from gowk import spark as gs                                       # doctest: +SKIP
>>> known = gs.build_filter(customers, "id", fpp=0.01)                 # doctest: +SKIP
>>> maybe = gs.might_contain(orders, "customer", known)                # doctest: +SKIP
>>> exact = gs.semi_join(orders, customers, on=("customer", "id"))     # doctest: +SKIP
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import BlockedBloom, Filter, ForeignFilter, Heavy, ParamsError, TopK, from_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "approx_distinct",
    "approx_intersect",
    "build_filter",
    "from_spark",
    "might_contain",
    "semi_join",
    "to_spark",
    "topk",
]

# A value of Spark has at most 2 GiB, and is copied a few times on its way.
_MOST_BYTES = 1 << 30


def build_filter(
    df: DataFrame, column: str, *, fpp: float = 0.01, items: int | None = None, seed: int | bytes | None = None
) -> BlockedBloom:
    """A filter of all values of a column; nulls are left out.

    `items` is how many different values there are. Unless said it is estimated by `approx_count_distinct`, which takes a pass over the column.
    The filter comes to the driver: ten bits a value at 1 %, 125 MB for 100 million.
    """
    keys = _keys(df, column)
    if items is None:
        items = _count(keys)
    whole = BlockedBloom(items=items, fpp=fpp, seed=secrets.token_bytes(16) if seed is None else seed)
    if whole.size_in_bytes > _MOST_BYTES:
        raise ParamsError(
            f"the filter would take {whole.size_in_bytes} bytes, and Spark moves values of up to {_MOST_BYTES}; "
            "raise fpp, or filter the parts of the data apart"
        )
    # Only these travel: each partition makes its empty filter itself.
    params: dict[str, Any] = {"items": items, "fpp": fpp, "seed": whole.seed}

    def fill(batches: Iterator[Any]) -> Iterator[Any]:
        part = BlockedBloom(**params)
        for batch in batches:
            part.update(batch.column(0))
        yield _one_value(part.to_bytes() if part else None)

    for part in _merged(keys.mapInArrow(fill, "part binary"), keys):
        whole |= part
    return whole


def might_contain(df: DataFrame, column: str, filter: Filter, *, into: str | None = None) -> DataFrame:
    """The rows whose value may be in the filter: all that are, and a part `fpp` of the others.

    With `into` all rows, and a column of that name that says it of each. A null is in no filter.
    """
    from pyspark.sql import functions as F

    _check_column(df, column)
    shared = _share(df.sparkSession, filter)
    arrow_udf: Any = getattr(F, "arrow_udf", None)
    if arrow_udf is not None:
        # Only the key crosses over to Python and back.
        def asked(keys: Any) -> Any:
            return _answers(shared(), keys)

        import pyarrow as pa

        # Spark tells by these what kind of function it is, and does not read those of a string.
        asked.__annotations__ = {"keys": pa.Array, "return": pa.Array}
        answer = arrow_udf(asked, "boolean")(F.col(column))
        return df.where(answer) if into is None else df.withColumn(into, answer)
    return _might_contain_by_rows(df, column, shared, into)


def _might_contain_by_rows(df: DataFrame, column: str, shared: Callable[[], Filter], into: str | None) -> DataFrame:
    """For Spark before 4.1, which has no Arrow functions of single columns: whole rows cross over."""
    from pyspark.sql import types as T

    place = df.columns.index(column)
    schema = df.schema if into is None else T.StructType([*df.schema, T.StructField(into, T.BooleanType())])

    def keep(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        filter = shared()
        for batch in batches:
            answers = _answers(filter, batch.column(place))
            if into is None:
                yield batch.filter(answers)
            else:
                yield pa.RecordBatch.from_arrays([*batch.columns, answers], [*batch.schema.names, into])

    return df.mapInArrow(keep, schema)


def semi_join(
    left: DataFrame,
    right: DataFrame,
    on: str | tuple[str, str],
    *,
    fpp: float = 0.01,
    items: int | None = None,
    filter: Filter | None = None,
) -> DataFrame:
    """The rows of `left` whose key is in `right`: exact.

    A filter of the keys of `right` turns the other rows of `left` away before they are shuffled. `on` is the column of both, or one of each.
    A filter that is there already is taken with `filter`.
    """
    ours, theirs = (on, on) if isinstance(on, str) else on
    if filter is None:
        filter = build_filter(right, theirs, fpp=fpp, items=items)
    maybe = might_contain(left, ours, filter)
    keys = right.select(right[theirs].alias("__gowk_key")).distinct()
    return maybe.join(keys, maybe[ours] == keys["__gowk_key"], "left_semi")


def approx_intersect(
    a: DataFrame, b: DataFrame, on: str | tuple[str, str], *, fpp: float = 0.01, items: int | None = None
) -> DataFrame:
    """The different values of `a` that are also in `b`, and a part `fpp` of those that are not. `b` is not shuffled."""
    ours, theirs = (on, on) if isinstance(on, str) else on
    known = build_filter(b, theirs, fpp=fpp, items=items)
    maybe = might_contain(a.select(ours), ours, known)
    return maybe.where(maybe[ours].isNotNull()).distinct()


def approx_distinct(df: DataFrame, column: str, *, items: int | None = None) -> int:
    """About how many different values a column has, told from the bits of a filter of them: within 1 % from a few thousand on."""
    return build_filter(df, column, fpp=0.01, items=items).approx_len()


def topk(df: DataFrame, column: str, k: int) -> list[Heavy]:
    """The values that came most often, with counts that are never too low, and by how much each may be too high."""
    from pyspark.sql import types as T

    keys = _keys(df, column)
    kind = keys.schema["key"].dataType
    key_class: type[str] | type[bytes] | type[int] = int
    if isinstance(kind, T.StringType):
        key_class = str
    elif isinstance(kind, T.BinaryType):
        key_class = bytes
    seed = secrets.token_bytes(16)

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        part = TopK(k, keys=key_class, seed=seed)
        for batch in batches:
            part.update(batch.column(0))
        yield _one_value(part.to_bytes() if part.total else None)

    whole = TopK(k, keys=key_class, seed=seed)
    for part in _merged(keys.mapInArrow(count, "part binary"), keys):
        whole |= TopK.from_bytes(part.to_bytes(), key_class)
    return whole.top()


def to_spark(spark: SparkSession, filter: ForeignFilter) -> Any:
    """A filter made by `ForeignFilter("spark-v1" or "spark-v2", ...)` as Spark's own BloomFilter, in the JVM of the driver."""
    if not isinstance(filter, ForeignFilter) or not filter.format.startswith("spark"):
        raise TypeError('Spark reads filters of its own hash only; make one with gowk.ForeignFilter("spark-v2", keys)')
    jvm: Any = spark.sparkContext._jvm
    stream = jvm.java.io.ByteArrayInputStream(filter.to_bytes())
    try:
        return jvm.org.apache.spark.util.sketch.BloomFilter.readFrom(stream)
    except Exception as error:
        if filter.format == "spark-v2" and "version" in str(error):
            raise ValueError(f"Spark {spark.version} does not read filters of version 2; make it as spark-v1") from error
        raise


def from_spark(bloom_filter: Any) -> ForeignFilter:
    """Spark's own BloomFilter, from the JVM of the driver or as its bytes, as a filter of ours."""
    if isinstance(bloom_filter, (bytes, bytearray)):
        return ForeignFilter.from_bytes(bloom_filter, format="spark")
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None:
        raise RuntimeError("there is no SparkContext")
    stream = context._jvm.java.io.ByteArrayOutputStream()  # type: ignore[union-attr]
    bloom_filter.writeTo(stream)
    return ForeignFilter.from_bytes(bytes(stream.toByteArray()), format="spark")


def _check_column(df: DataFrame, column: str) -> None:
    from pyspark.sql import types as T

    kind = df.select(column).schema[0].dataType
    keys = (T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.StringType, T.BinaryType, T.BooleanType)
    if not isinstance(kind, keys):
        raise TypeError(
            f"column {column} is {kind.simpleString()}, and a key is text, bytes or an integer; cast it, "
            f'as by df.withColumn("{column}", df["{column}"].cast("string"))'
        )


def _keys(df: DataFrame, column: str) -> DataFrame:
    """The values of a column, without nulls, under the name of key."""
    _check_column(df, column)
    keys = df.select(df[column].alias("key"))
    return keys.where(keys["key"].isNotNull())


def _count(keys: DataFrame) -> int:
    from pyspark.sql import functions as F

    # The estimate is within 2 % two times in three; a filter for 6 % more values keeps its rate all the same.
    row = keys.select(F.approx_count_distinct("key", 0.02)).first()
    return max(1, int((row[0] if row else 0) * 1.06) + 8)


def _one_value(data: bytes | None) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([] if data is None else [data], pa.binary())], ["part"])


def _merged(parts: DataFrame, keys: DataFrame) -> Iterator[Any]:
    """The filters or sketches of all partitions, most of them merged by executors, so that the driver sees the root of their number."""

    def merge(batches: Iterator[Any]) -> Iterator[Any]:
        whole = None
        for batch in batches:
            for value in batch.column(0):
                part = from_bytes(memoryview(value.as_buffer()).cast("B"))
                if whole is None:
                    whole = part
                else:
                    whole |= part
        yield _one_value(None if whole is None else whole.to_bytes())

    try:
        partitions = keys.rdd.getNumPartitions()
    except Exception:  # Spark Connect has no RDDs, and does not tell.
        partitions = 256
    if partitions > 8:
        parts = parts.repartition(math.isqrt(partitions) + 1).mapInArrow(merge, "part binary")
    for row in parts.toLocalIterator():
        yield from_bytes(bytes(row[0]))


def _share(spark: SparkSession, filter: Filter) -> Callable[[], Filter]:
    """What gives the filter in an executor: sent there once, where Spark has broadcasts."""
    try:
        broadcast = spark.sparkContext.broadcast(filter)
    except Exception:  # Spark Connect: the filter goes with the function.
        return lambda: filter
    return lambda: broadcast.value


def _answers(filter: Filter, keys: Any) -> Any:
    import pyarrow as pa

    return pa.array(filter.contains_many(keys, nulls="skip"))
