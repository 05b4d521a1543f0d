"""Spark: exact answers with fewer bytes moved; and Spark's own filters, both ways. Needs a JVM and pyspark."""

import json
import os
import shutil
import sys
import urllib.request

import pytest

import gowk

pyspark = pytest.importorskip("pyspark", reason="no pyspark here")
if not shutil.which("java"):
    pytest.skip("no java here", allow_module_level=True)

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

from gowk import spark as gs  # noqa: E402


def session(master, **config):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("gowk")
    for name, value in {
        # Otherwise Spark would send the small side of a join to all, which is right, but not what is measured here.
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.port": "0",
        "spark.ui.showConsoleProgress": "false",
        **config,
    }.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


@pytest.fixture(scope="module")
def spark():
    made = session("local[2]")
    yield made
    made.stop()


def shuffled(spark, action):
    """The bytes that an action writes for others to read."""
    before = set(stages(spark))
    action()
    return sum(written for stage, written in stages(spark).items() if stage not in before)


def stages(spark):
    url = f"{spark.sparkContext.uiWebUrl}/api/v1/applications/{spark.sparkContext.applicationId}/stages"
    with urllib.request.urlopen(url, timeout=30) as answer:
        return {(stage["stageId"], stage["attemptId"]): stage["shuffleWriteBytes"] for stage in json.load(answer)}


def tables(spark, rows, partitions=12):
    left = spark.range(0, rows, 1, partitions).withColumn("note", F.concat(F.lit("row "), F.col("id").cast("string")))
    right = spark.range(0, rows, 100, 3).withColumnRenamed("id", "key")
    return left, right


def test_a_filter_of_a_column_holds_its_values(spark):
    _, right = tables(spark, 100_000)
    made = gs.build_filter(right, "key", fpp=0.001)
    assert made.contains_many(range(0, 100_000, 100)).all()
    assert made.stats().fpp_now <= 0.00105 and made.fpp == 0.001
    named = gs.build_filter(right.select(F.col("key").cast("string")), "key", items=1000, seed=7)
    assert all(str(i) in named for i in range(0, 100_000, 100))
    assert named == gs.build_filter(right.select(F.col("key").cast("string")), "key", items=1000, seed=7)
    many = gs.build_filter(right.repartition(40), "key", items=1000, seed=7)
    assert many == gs.build_filter(right, "key", items=1000, seed=7)
    assert not gs.build_filter(right.where("key < 0"), "key")
    with pytest.raises(TypeError, match="double.*cast"):
        gs.build_filter(right.select(F.col("key").cast("double")), "key")


def test_rows_that_may_be_in_a_filter_are_kept_and_nulls_are_not(spark):
    left, right = tables(spark, 100_000)
    known = gs.build_filter(right, "key")
    expected = known.contains_many(range(100_000)).sum()
    assert gs.might_contain(left, "id", known).count() == expected
    assert gs.might_contain(left, "id", known, into="maybe").where("maybe").count() == expected
    # As Spark before 4.1 does it.
    by_rows = gs._might_contain_by_rows
    assert by_rows(left, "id", gs._share(spark, known), None).count() == expected
    told = by_rows(left, "id", gs._share(spark, known), "maybe")
    assert told.count() == 100_000 and told.where("maybe").count() == expected
    nulls = left.withColumn("id", F.when(F.col("id") % 2 == 0, F.col("id")))
    assert gs.might_contain(nulls, "id", known).count() == known.contains_many(range(0, 100_000, 2)).sum()


def test_a_semi_join_is_exact_and_moves_a_tenth_of_the_bytes(spark):
    left, right = tables(spark, 200_000)
    answer = []
    plain = shuffled(spark, lambda: answer.append(left.join(right, left["id"] == right["key"], "left_semi").count()))
    known = gs.build_filter(right, "key")
    filtered = shuffled(
        spark, lambda: answer.append(gs.semi_join(left, right, ("id", "key"), filter=known).count())
    )
    assert answer == [2000, 2000]
    assert filtered * 10 <= plain, (plain, filtered)


def test_sets_and_counts(spark):
    left, right = tables(spark, 50_000)
    both = {row[0] for row in gs.approx_intersect(left, right, ("id", "key"), fpp=0.001).collect()}
    assert set(range(0, 50_000, 100)) <= both and len(both) < 500 + 150
    assert gs.approx_distinct(left.select((F.col("id") % 10_000).alias("x")), "x") == pytest.approx(10_000, rel=0.03)
    often = left.select(F.when(F.col("id") % 3 == 0, F.lit(-7)).otherwise(F.col("id")).alias("x"))
    top = gs.topk(often, "x", 1)[0]
    assert top.key == -7 and top.count - top.error <= 16_667 <= top.count
    assert gs.topk(often.select(F.col("x").cast("string")), "x", 1)[0].key == "-7"


def test_joins_are_the_same_where_rows_cross_over(spark, monkeypatch):
    """As in Spark before 4.1, where what comes back from Python are new columns."""
    monkeypatch.delattr(F, "arrow_udf", raising=False)
    left, right = tables(spark, 20_000)
    both = {row[0] for row in gs.approx_intersect(left, right, ("id", "key"), fpp=0.001).collect()}
    assert set(range(0, 20_000, 100)) <= both and len(both) < 200 + 60
    assert gs.semi_join(left, right, ("id", "key")).count() == 200


@pytest.mark.parametrize("format", ["spark-v1", "spark-v2"])
def test_spark_itself_asks_our_filters(spark, format):
    longs = gowk.ForeignFilter(format, range(0, 30_000, 3), items=10_000, fpp=0.01)
    if format == "spark-v2" and spark.version < "4.1":
        with pytest.raises(ValueError, match="make it as spark-v1"):
            gs.to_spark(spark, longs)
        return
    theirs = gs.to_spark(spark, longs)
    assert all(theirs.mightContainLong(i) == (i in longs) for i in range(2000))
    texts = gowk.ForeignFilter(format, [f"größer {i}" for i in range(1000)], items=1000)
    theirs = gs.to_spark(spark, texts)
    for i in range(2000):
        assert theirs.mightContainString(f"größer {i}") == (f"größer {i}" in texts)
    assert gs.from_spark(theirs) == texts
    with pytest.raises(TypeError):
        gs.to_spark(spark, gowk.ForeignFilter("guava", items=5))


def test_parquet_java_skips_row_groups_by_the_filters_that_we_write(spark, tmp_path):
    """Rows that a filter of ours denies are not found, so it was our filter that was asked. (pyarrow writes filters and asks none.)"""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    ids = list(range(0, 2000, 2))

    def count(path, value):
        return spark.read.parquet(str(path)).where(F.col("id") == value).count()

    plain, patched = tmp_path / "plain.parquet", tmp_path / "patched.parquet"
    options = {"id": {"ndv": len(ids), "fpp": 0.001}}
    pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), plain, use_dictionary=False, bloom_filter_options=options)
    column = pq.read_metadata(plain).row_group(0).column(0)
    place = slice(column.bloom_filter_offset, column.bloom_filter_offset + column.bloom_filter_length)
    data = bytearray(plain.read_bytes())
    ours = gowk.ForeignFilter.from_bytes(bytes(data[place]), format="parquet")
    same = gowk.ForeignFilter("parquet", ids, items=len(ids), fpp=0.001)
    assert same.to_bytes() == ours.to_bytes() == data[place]
    without = gowk.ForeignFilter("parquet", [i for i in ids if i != 10], items=len(ids), fpp=0.001)
    assert 10 not in without
    data[place] = without.to_bytes()
    patched.write_bytes(data)
    assert [count(path, value) for path in (plain, patched) for value in (10, 12, 13)] == [1, 1, 0, 0, 1, 0]


def test_we_ask_the_filters_that_spark_builds(spark):
    left, _ = tables(spark, 5000)
    ours = gs.from_spark(left._jdf.stat().bloomFilter("id", 5000, 0.01))
    assert ours.contains_many(range(5000)).all() and ours.format.startswith("spark")
    assert ours.contains_many(range(10**6, 10**6 + 10_000)).mean() < 0.02


@pytest.mark.long
def test_a_million_rows_on_a_cluster_of_two_workers(tmp_path):
    import socket
    import subprocess

    home = os.path.dirname(pyspark.__file__)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1"}

    def start(*arguments):
        log = open(tmp_path / f"{len(processes)}.log", "w")
        command = [f"{home}/bin/spark-class", *arguments]
        processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))

    processes = []
    SparkSession.getActiveSession() and SparkSession.getActiveSession().stop()
    try:
        master = f"spark://127.0.0.1:{port}"
        start("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        for _ in range(2):
            start(
                "org.apache.spark.deploy.worker.Worker",
                *("--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(tmp_path), master),
            )
        cluster = session(master, **{"spark.executor.memory": "900m"})
        left, right = tables(cluster, 1_000_000, 16)
        answer = []
        plain = shuffled(cluster, lambda: answer.append(left.join(right, left["id"] == right["key"], "left_semi").count()))
        known = gs.build_filter(right, "key")
        moved = shuffled(cluster, lambda: answer.append(gs.semi_join(left, right, ("id", "key"), filter=known).count()))
        assert len(cluster.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) == 3
        assert answer == [10_000, 10_000] and moved * 10 <= plain
        print(f"shuffled: {plain} bytes plain, {moved} filtered, {plain / moved:.1f} times fewer")
        cluster.stop()
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)
