"""What the parameters of gowk may be."""

from collections.abc import Iterable
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = bytes | bytearray | memoryview

Key: TypeAlias = str | Bytes | int
"""What a key may be: text (its UTF-8), bytes, or an integer of up to 128 bits."""


class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


Keys: TypeAlias = Iterable[Key] | Iterable[np.integer[Any]] | npt.NDArray[Any] | _ArrowStream | _ArrowArray
"""Many keys: arrays of numpy, pyarrow, pandas and polars, or any iterable."""

MaybeKeys: TypeAlias = Keys | Iterable[Key | None]
"""Many keys, and nulls among them."""

Path: TypeAlias = str | PathLike[str]
Nulls: TypeAlias = Literal["error", "skip"]
Seed: TypeAlias = int | bytes
Format: TypeAlias = Literal["guava", "spark", "spark-v1", "spark-v2", "parquet", "redisbloom", "redis-cuckoo", "dcso"]
KeyType: TypeAlias = Literal["i32", "i64", "u64"]
