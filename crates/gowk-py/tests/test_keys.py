"""What is a key, what is not, and that equal keys are one key however they come."""

import array
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import MUTABLE, build

import gowk

INTS = [0, 1, 5, 127, 1000, 2**31 - 1, 2**40, 2**63 - 1]
TEXTS = ["", "a", "gowk", "phone:+44 20 7946 0958", "größer", "日本", "x" * 1000]

INT_CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "dict": dict.fromkeys,
    "numpy int64": lambda keys: np.array(keys, "int64"),
    "numpy uint64": lambda keys: np.array(keys, "uint64"),
    "numpy big-endian": lambda keys: np.array(keys, ">i8"),
    "numpy strided": lambda keys: np.repeat(np.array(keys, "int64"), 2)[::2],
    "numpy reversed": lambda keys: np.array(keys[::-1], "int64")[::-1],
    "numpy object": lambda keys: np.array(keys, object),
    "numpy read-only": lambda keys: np.frombuffer(np.array(keys, "int64").tobytes(), "int64"),
    "array": lambda keys: array.array("q", keys),
    "memoryview": lambda keys: memoryview(array.array("Q", keys)),
    "pyarrow": lambda keys: pa.array(keys, pa.int64()),
    "pyarrow uint64": lambda keys: pa.array(keys, pa.uint64()),
    "pyarrow sliced": lambda keys: pa.array([7, *keys, 7], pa.int64()).slice(1, len(keys)),
    "pyarrow chunked": lambda keys: pa.chunked_array([keys[:3], [], keys[3:]], pa.int64()),
    "pyarrow dictionary": lambda keys: pa.array(keys, pa.int64()).dictionary_encode(),
    "pandas": lambda keys: pd.Series(keys, dtype="int64"),
    "pandas Int64": lambda keys: pd.Series(keys, dtype="Int64"),
    "pandas arrow": lambda keys: pd.Series(keys, dtype="int64[pyarrow]"),
    "pandas index": pd.Index,
    "polars": lambda keys: pl.Series(keys, dtype=pl.Int64),
}

TEXT_CONTAINERS = {
    "list": list,
    "set": set,
    "generator": iter,
    "bytes": lambda keys: [key.encode() for key in keys],
    "bytearray": lambda keys: [bytearray(key.encode()) for key in keys],
    "numpy S": lambda keys: np.array([key.encode() for key in keys], "S"),
    "numpy U": lambda keys: np.array(keys, "U"),
    "numpy U big-endian": lambda keys: np.array(keys, ">U1000"),
    "numpy object": lambda keys: np.array(keys, object),
    "pyarrow string": lambda keys: pa.array(keys, pa.string()),
    "pyarrow large_string": lambda keys: pa.array(keys, pa.large_string()),
    "pyarrow string_view": lambda keys: pa.array(keys, pa.string_view()),
    "pyarrow binary": lambda keys: pa.array([key.encode() for key in keys], pa.binary()),
    "pyarrow large_binary": lambda keys: pa.array([key.encode() for key in keys], pa.large_binary()),
    "pyarrow binary_view": lambda keys: pa.array([key.encode() for key in keys], pa.binary_view()),
    "pyarrow sliced": lambda keys: pa.array(["no", *keys, "no"]).slice(1, len(keys)),
    "pyarrow chunked": lambda keys: pa.chunked_array([keys[:3], keys[3:]]),
    "pyarrow dictionary": lambda keys: pa.array(keys).dictionary_encode(),
    "pandas": pd.Series,
    "pandas string": lambda keys: pd.Series(keys, dtype="string[pyarrow]"),
    "pandas category": lambda keys: pd.Series(keys, dtype="category"),
    "polars": pl.Series,
    "polars category": lambda keys: pl.Series(keys, dtype=pl.Categorical),
}


@pytest.mark.parametrize("container", INT_CONTAINERS)
def test_integers_are_the_same_keys_in_every_container_and_family(family, container):
    pack = INT_CONTAINERS[container]
    made = build(family, pack(INTS), seed=1)
    assert made == build(family, INTS, seed=1)
    assert all(key in made for key in INTS)
    assert made.contains_many(pack(INTS)).all()


@pytest.mark.parametrize("container", TEXT_CONTAINERS)
def test_texts_are_the_same_keys_in_every_container_and_family(family, container):
    pack = TEXT_CONTAINERS[container]
    made = build(family, pack(TEXTS), seed=1)
    if container != "set" or family != "BinaryFuse":
        assert made == build(family, list(pack(TEXTS)) if container == "set" else TEXTS, seed=1)
    assert all(key in made and key.encode() in made for key in TEXTS)
    assert made.contains_many(pack(TEXTS)).all()


# More than two chunks of keys, and a part of one; in the middle of them each seventh is left out.
MANY = 5000
LONG_COLUMNS = {
    "integers": (range(MANY), lambda keys: np.fromiter(keys, "int64")),
    "small integers": ([key % 251 for key in range(MANY)], lambda keys: np.array(keys, "uint8")),
    "texts": ([f"key {key}" for key in range(MANY)], pa.array),
    "texts of numpy": ([f"key {key}" for key in range(MANY)], np.array),
    "bytes of numpy": ([f"key {key}" for key in range(MANY)], lambda keys: np.array([key.encode() for key in keys])),
}


@pytest.mark.parametrize("column", LONG_COLUMNS)
def test_long_columns_are_the_same_keys_as_one_by_one(mutable, column, tmp_path):
    keys, pack = LONG_COLUMNS[column]
    one, bulk = MUTABLE[mutable](items=MANY, seed=3), MUTABLE[mutable](items=MANY, seed=3)
    for key in keys:
        one.add(key)
    bulk.update(pack(keys))
    assert one == bulk
    asked = [*keys[: MANY // 2], *(key + 1000 if isinstance(key, int) else key + "?" for key in keys[MANY // 2 :])]
    bulk.save(tmp_path / "bulk")
    for made in (bulk, gowk.open(tmp_path / "bulk")):
        answers = made.contains_many(np.array(asked) if isinstance(asked[0], int) else pack(asked))
        assert answers.tolist() == [key in made for key in asked]
        assert answers[: MANY // 2].all()


@pytest.mark.parametrize("encode", [False, True], ids=["plain", "dictionary"])
def test_nulls_keep_their_places_in_long_columns(mutable, encode):
    keys = [None if place % 7 == 3 else f"key {place}" for place in range(MANY)]
    array = pa.array(keys).dictionary_encode() if encode else pa.array(keys)
    made = MUTABLE[mutable](items=MANY, seed=3)
    made.update(array, nulls="skip")
    assert made.contains_many(array, nulls="skip").tolist() == [key is not None for key in keys]


def test_one_by_one_is_as_in_bulk(mutable):
    for keys in (INTS, TEXTS, [key.encode() for key in TEXTS]):
        one, bulk = MUTABLE[mutable](seed=3), MUTABLE[mutable](seed=3)
        for key in keys:
            one.add(key)
        bulk.update(keys)
        assert one == bulk


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_an_integer_is_one_key_in_every_width(dtype):
    made = gowk.BlockedBloom([5, 100], items=100, seed=1)
    assert made == gowk.BlockedBloom(np.array([5, 100], dtype), items=100, seed=1)
    assert made == gowk.BlockedBloom(pa.array([5, 100], dtype), items=100, seed=1)
    assert np.dtype(dtype).type(5) in made


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_negative_integers_are_extended(dtype):
    made = gowk.BlockedBloom([-1, -100], items=100, seed=1)
    assert made == gowk.BlockedBloom(np.array([-1, -100], dtype), items=100, seed=1)
    assert made == gowk.BlockedBloom(pa.array([-1, -100], dtype), items=100, seed=1)


def test_integers_up_to_128_bits_are_keys_and_larger_ones_are_not():
    made = gowk.Bloom(items=10, fpp=1e-6)
    keys = [2**64 - 1, -(2**63), 2**64, 2**128 - 1, -(2**127), -(2**63) - 1]
    made.update(keys)
    assert all(key in made for key in keys) and 2**100 not in made
    assert (2**64).to_bytes(16, "little") in made
    for key in (2**128, -(2**127) - 1):
        with pytest.raises(ValueError, match="128 bits.*to_bytes"):
            made.add(key)


def test_bool_is_an_integer_as_in_a_set():
    assert True in gowk.Bloom([1], fpp=1e-6)
    assert gowk.Bloom(np.array([True, False]), seed=1) == gowk.Bloom([1, 0], seed=1)
    assert gowk.Bloom(pa.array([True, False]), seed=1) == gowk.Bloom([1, 0], seed=1)


def test_text_and_its_utf8_are_one_key_and_digits_are_not_the_number():
    made = gowk.Bloom(["5"], fpp=1e-6)
    assert b"5" in made and 5 not in made


@pytest.mark.parametrize("key", [None, 1.0, 1.5, float("nan"), (1, 2), frozenset(), object(), [], {}, 1j, np.float64(1)])
def test_other_objects_are_no_keys(empty, key):
    for call in (lambda: key in empty, lambda: empty.add(key), lambda: empty.update([key])):
        with pytest.raises(TypeError, match="a key is str, bytes or int, not"):
            call()
    assert not empty


def test_lone_surrogates_have_no_bytes(empty):
    with pytest.raises(ValueError):
        empty.add("\ud800")
    with pytest.raises(ValueError, match="surrogates"):
        empty.update(np.array(["\ud800"]))


@pytest.mark.parametrize("keys", ["abc", b"abc", bytearray(b"abc")])
def test_one_key_is_not_taken_for_many(empty, keys):
    with pytest.raises(TypeError, match="is one key"):
        empty.update(keys)
    with pytest.raises(TypeError, match="is one key"):
        empty.contains_many(keys)


@pytest.mark.parametrize(
    "keys, says",
    [
        (np.array([1.5]), "float64.*astype"),
        (np.array(["2024-01-01"], "datetime64[s]"), "datetime64.*view"),
        (np.zeros((2, 2), "int64"), "2 dimensions.*ravel"),
        (np.ma.masked_array([1, 2], [True, False]), "masked.*compressed"),
        (np.array([1j]), "complex128"),
        (pa.array([1.5]), "Float64"),
        (pa.array([[1]]), "List"),
        (pa.table({"a": [1]}), "one of its columns"),
        (pl.DataFrame({"a": [1]}), "one of its columns"),
        (pd.Series([1.5]), "float64"),
        (5, "not iterable"),
        (None, "not iterable"),
    ],
)
def test_containers_of_something_else_are_refused_with_a_hint(empty, keys, says):
    for call in (empty.update, empty.contains_many):
        with pytest.raises((TypeError, ValueError), match=says):
            call(keys)
    assert not empty


NULLS = {
    "pyarrow": pa.array(["a", None, "b", None]),
    "pyarrow ints": pa.array([1, None, 2, None]),
    "pyarrow chunked": pa.chunked_array([["a", None], ["b", None]]),
    "pyarrow dictionary": pa.array(["a", None, "b", None]).dictionary_encode(),
    "pandas string": pd.Series(["a", None, "b", None], dtype="string[pyarrow]"),
    "pandas Int64": pd.Series([1, None, 2, None], dtype="Int64"),
    "polars": pl.Series(["a", None, "b", None]),
}


@pytest.mark.parametrize("container", NULLS)
def test_nulls_are_said_and_skipped_on_request(empty, container):
    keys = NULLS[container]
    with pytest.raises(ValueError, match="2 of 4 keys are null.*skip"):
        empty.update(keys)
    assert not empty
    empty.update(keys, nulls="skip")
    assert empty.contains_many(keys, nulls="skip").tolist() == [True, False, True, False]
    assert "" not in empty
    with pytest.raises(ValueError, match="nulls="):
        empty.update(keys, nulls="ignore")


@pytest.mark.parametrize("null", [None, float("nan"), pd.NA, pd.NaT])
def test_nulls_among_objects_are_skipped_on_request(empty, null):
    keys = ["a", null, "b"]
    with pytest.raises(TypeError):
        empty.update(keys)
    empty.clear()
    empty.update(keys, nulls="skip")
    assert empty.contains_many(keys, nulls="skip").tolist() == [True, False, True]


def test_arrays_of_nothing_but_nulls_and_of_nothing(empty):
    empty.update(pa.nulls(5), nulls="skip")
    assert not empty
    assert empty.contains_many(pa.nulls(5), nulls="skip").tolist() == [False] * 5
    for nothing in ([], np.array([], "int64"), np.array([], "S5"), pa.array([], "string"), pl.Series([], dtype=pl.String), iter(())):
        empty.update(nothing)
        assert empty.contains_many(nothing).tolist() == []
    assert not empty
    empty.update(np.zeros(3, "S0"))
    assert empty.contains_many([""]).all()


def test_a_generator_that_asks_the_filter_it_feeds_is_fine():
    made = gowk.BlockedBloom(items=20_000)
    made.update(key for key in range(20_000) if key % 7 or key not in made)
    assert made.contains_many(range(20_000)).all()


def test_a_generator_that_fails_raises_its_error(empty):
    def keys():
        yield 1
        raise RuntimeError("from within")

    with pytest.raises(RuntimeError, match="from within"):
        empty.update(keys())


def test_answers_are_a_numpy_array_of_bool_that_can_be_written():
    answers = gowk.BlockedBloom([1, 2], items=100).contains_many([1, 2])
    assert answers.dtype == np.bool_ and answers.flags.writeable
    answers[0] = False


def test_answers_are_the_same_in_every_process():
    script = "import gowk, sys; sys.stdout.write(gowk.Bloom(['a', b'b', 3, -4, 2**70], items=100, seed=5).to_bytes().hex())"
    texts = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1] == gowk.Bloom(["a", b"b", 3, -4, 2**70], items=100, seed=5).to_bytes().hex()


def test_string_dtypes_of_numpy_2_are_keys():
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("this numpy has no StringDType")
    made = gowk.Bloom(np.array(["a", "bb"], np.dtypes.StringDType()), fpp=1e-6)
    assert "a" in made and "bb" in made


def test_keys_beyond_64_bits_leave_nothing_behind():
    """One by one, nothing of PyO3 stands around a call that would clear up after it."""
    import sys

    made = gowk.BlockedBloom(items=100)
    add = made.add

    def work():
        for _ in range(20_000):
            add(2**63 + 5)
            add(2**100)
            assert 2**63 + 5 in made and 2**100 in made

    work()
    before = sys.getallocatedblocks()
    work()
    assert sys.getallocatedblocks() - before < 1000
