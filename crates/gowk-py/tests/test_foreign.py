"""Filters of other systems: the bytes that their makers wrote, read, asked and written again."""

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gowk

GOLDEN = Path(__file__).parents[3] / "golden"
FORMATS = ["guava", "spark-v1", "spark-v2", "parquet", "redisbloom", "redis-cuckoo", "dcso"]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_a_filter(format, tmp_path):
    made = gowk.ForeignFilter(format, items=1000, fpp=0.01)
    assert made.format == format and not made
    assert made.add("gowk") and "gowk" in made and b"gowk" in made and "heron" not in made
    made.update(np.arange(500))
    made.update(pa.array(["a", "b"]))
    assert made.contains_many(np.arange(500)).all() and made.contains_many(["a", "b"]).all()
    assert made.contains_many(np.arange(10**6, 10**6 + 1000)).sum() < 60
    made.save(tmp_path / "f")
    again = gowk.ForeignFilter.open(tmp_path / "f", format=format)
    assert again == made == pickle.loads(pickle.dumps(made)) == made.copy()
    assert gowk.ForeignFilter.from_bytes(made.to_bytes(), format=format) == made
    assert type(gowk.open(tmp_path / "f")) is gowk.ForeignFilter
    assert f"{format.split('-')[0]}" in again.format and "ForeignFilter" in repr(made)
    again.add("more")
    assert "more" in again and (tmp_path / "f").read_bytes() == made.to_bytes()
    with pytest.raises(TypeError):
        made | gowk.BlockedBloom(items=10)
    with pytest.raises(TypeError):
        gowk.BlockedBloom(items=10) | made


def test_unions_stay_with_their_maker():
    a, b = (gowk.ForeignFilter("guava", keys, items=100) for keys in (["a"], ["b"]))
    assert (a | b).contains_many(["a", "b"]).all()
    with pytest.raises((gowk.MergeError, TypeError)):
        a | gowk.ForeignFilter("spark-v2", items=100)


def test_guava_tells_ints_from_longs():
    ints = gowk.ForeignFilter("guava", [1, 2, 3], items=1000, fpp=1e-6, key_type="i32")
    longs = gowk.ForeignFilter("guava", [1, 2, 3], items=1000, fpp=1e-6)
    assert ints != longs and ints.key_type == "i32" and longs.key_type == "i64"
    assert (1).to_bytes(4, "little") in ints and (1).to_bytes(8, "little") in longs
    assert pickle.loads(pickle.dumps(ints)).key_type == "i32"
    assert "1" in gowk.ForeignFilter("redisbloom", [1], items=10)


def test_wrong_words_are_told(tmp_path):
    with pytest.raises(ValueError, match="there are guava"):
        gowk.ForeignFilter("other", items=5)
    with pytest.raises(ValueError, match="key type"):
        gowk.ForeignFilter("guava", items=5, key_type="i16")
    with pytest.raises(gowk.ParamsError, match="items=n"):
        gowk.ForeignFilter("guava")
    with pytest.raises(gowk.FormatError):
        gowk.ForeignFilter.from_bytes(b"nonsense")
    for format in FORMATS:
        with pytest.raises(gowk.FormatError):
            gowk.ForeignFilter.from_bytes(gowk.ForeignFilter(format, items=100).to_bytes()[:-9], format=format)


def test_goldens_of_other_systems_open():
    found = 0
    for path in sorted(GOLDEN.glob("guava*/*.bin")) + sorted(GOLDEN.glob("spark*/*.bin")) + sorted(GOLDEN.glob("dcso*/*.bloom")):
        made = gowk.open(path)
        assert type(made) is gowk.ForeignFilter and made.to_bytes() == path.read_bytes(), path
        found += 1
    assert found >= 3, sorted(GOLDEN.iterdir())


def test_filters_inside_parquet_files_are_asked(tmp_path):
    """What pyarrow writes, we ask."""
    table = pa.table({"id": pa.array(range(0, 10_000, 3), pa.int64()), "name": [f"n{i}" for i in range(0, 10_000, 3)]})
    path = tmp_path / "t.parquet"
    try:
        pq.write_table(table, path, bloom_filter_options={"id": {"ndv": 5000, "fpp": 0.01}, "name": {"ndv": 5000, "fpp": 0.01}})
    except TypeError:
        pytest.skip("this pyarrow writes no Bloom filters")
    ids = gowk.ForeignFilter.open(path, column="id")
    assert ids.contains_many(table["id"]).all() and ids.contains_many(np.arange(1, 10_000, 3)).mean() < 0.05
    assert gowk.ForeignFilter.open(path, column="name").contains_many(table["name"]).all()
    with pytest.raises(gowk.FormatError):
        gowk.ForeignFilter.open(path, column="none")
