"""Is it in the set? Filters that answer "surely not" or "maybe", from 10 bits a key."""

from collections.abc import Iterator
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, disjoint_base

from ._types import Bytes, Format, Key, Keys, KeyType, MaybeKeys, Nulls, Path, Seed
from .jobs import distinct as distinct
from .jobs import intersect as intersect
from .jobs import once as once
from .jobs import subtract as subtract
from .jobs import topk as topk
from .jobs import union as union

__version__: str

class ParamsError(ValueError):
    """A filter that cannot be built as asked."""

class FullError(ValueError):
    """The filter has no place for the key, and is as it was before."""

class MergeError(ValueError):
    """Two filters that do not fit each other."""

class FormatError(ValueError):
    """Bytes or a file that are not what they should be."""

class RangeError(ValueError):
    """An integer that the set was not made for."""

class ReadOnlyError(TypeError):
    """A change to a filter that cannot be changed."""

@final
class Stats:
    """What was promised, and what is."""

    @property
    def family(self) -> str: ...
    @property
    def items(self) -> int: ...
    @property
    def fpp(self) -> float: ...
    @property
    def bits(self) -> int: ...
    @property
    def fill(self) -> float: ...
    @property
    def estimated_items(self) -> float: ...
    @property
    def fpp_now(self) -> float: ...
    @property
    def room(self) -> int: ...
    @property
    def is_overfull(self) -> bool: ...

@disjoint_base
class Filter:
    """A set that says "surely not" or "maybe". What all filters can do."""

    def __contains__(self, key: Key, /) -> bool: ...
    def contains_many(self, keys: MaybeKeys, /, *, nulls: Nulls = "error") -> npt.NDArray[np.bool_]:
        """Whether each of these keys may be in the set, as a numpy array of bool."""
    def approx_len(self) -> int:
        """About how many different keys have come. Reads the whole filter."""
    def stats(self) -> Stats:
        """What the filter holds and how well. Reads the whole filter."""
    @property
    def size_in_bytes(self) -> int:
        """The memory that the bits take, in bytes."""
    @property
    def items(self) -> int:
        """The keys that the filter was made for."""
    @property
    def fpp(self) -> float:
        """The rate of false positives that it keeps with that many."""
    @property
    def hash_name(self) -> str:
        """The name of the hash function."""
    @property
    def seed(self) -> bytes | None:
        """The 16 bytes of the seed; whoever knows them can prepare keys that are false positives."""
    @property
    def is_mapped(self) -> bool:
        """Whether the bits are in a mapped file, which can be asked but not changed."""
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def __or__(self, other: Filter, /) -> Self: ...
    def __and__(self, other: Filter, /) -> Self: ...
    def union(self, *others: Filter) -> Self:
        """A filter of the keys of all of them."""
    def intersection(self, *others: Filter) -> Self:
        """A filter of what all of them may hold."""
    def copy(self) -> Self:
        """Another filter of the same bits, in memory, which can be changed."""
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    def save(self, path: Path) -> None:
        """Writes the filter to a file: whole or not at all."""
    def to_bytes(self) -> bytes:
        """The bytes of the file."""
    @classmethod
    def from_bytes(cls, data: Bytes) -> Self:
        """The filter in these bytes of a file, every one of them checked."""
    @classmethod
    def open(cls, path: Path) -> Self:
        """Maps a file, whose bits are then read as they are asked for."""
    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a file into memory, every byte of it checked."""

class MutableFilter(Filter):
    """A filter that takes keys."""

    def add(self, key: Key, /) -> bool:
        """Puts a key in. True if it was surely not there before."""
    def update(self, *keys: MaybeKeys | Filter, nulls: Nulls = "error") -> None:
        """Puts many keys in, from arrays and iterables; those of another filter as well."""
    def __ior__(self, other: Filter, /) -> Self: ...
    def __iand__(self, other: Filter, /) -> Self: ...
    def clear(self) -> None:
        """Forgets all keys."""

class BlockedBloom(MutableFilter):
    """Insert and ask, fastest: one cache line a key."""

    def __new__(
        cls,
        keys: Keys | None = None,
        /,
        *,
        items: int | None = None,
        fpp: float | None = None,
        bits: int | None = None,
        seed: Seed | None = None,
        hardened: bool = False,
        hasher: Filter | None = None,
    ) -> Self: ...
    def fold_to_fit(self) -> None:
        """Halves and halves again, while the rate that was promised is kept for the keys that have come."""

class Bloom(MutableFilter):
    """The classic Bloom filter: the least bits of those that take inserts."""

    def __new__(
        cls,
        keys: Keys | None = None,
        /,
        *,
        items: int | None = None,
        fpp: float | None = None,
        bits: int | None = None,
        seed: Seed | None = None,
        hardened: bool = False,
        hasher: Filter | None = None,
    ) -> Self: ...

class SplitBlockBloom(MutableFilter):
    """Parquet's split-block filter."""

    def __new__(
        cls,
        keys: Keys | None = None,
        /,
        *,
        items: int | None = None,
        fpp: float | None = None,
        bits: int | None = None,
        seed: Seed | None = None,
        hardened: bool = False,
        hasher: Filter | None = None,
    ) -> Self: ...

class ScalableBloom(MutableFilter):
    """A chain that keeps its rate however many keys come."""

    def __new__(
        cls,
        keys: Keys | None = None,
        /,
        *,
        items: int = 1024,
        fpp: float = 0.01,
        growth: float | None = None,
        seed: Seed | None = None,
        hardened: bool = False,
        hasher: Filter | None = None,
    ) -> Self: ...
    @property
    def links(self) -> int:
        """How many filters the chain has."""

class CountingBloom(MutableFilter):
    """Insert, ask and remove; "seen at least t times"."""

    def __new__(
        cls,
        keys: Keys | None = None,
        /,
        *,
        items: int | None = None,
        fpp: float | None = None,
        bits: int | None = None,
        seed: Seed | None = None,
        hardened: bool = False,
        hasher: Filter | None = None,
    ) -> Self: ...
    def discard(self, key: Key, /) -> bool:
        """Takes a key out, if a trace of it is there; whether it was. Only for keys that were put in."""
    def remove(self, key: Key, /) -> None:
        """Takes a key out; KeyError if it was surely not there. Only for keys that were put in."""
    def count(self, key: Key, /) -> int:
        """How often the key came, at most; counts stop at 15."""
    def seen_at_least(self, key: Key, times: int, /) -> bool:
        """Whether the key may have come so many times."""

class Cuckoo(MutableFilter):
    """Insert, ask and remove, at 95 % load; counts duplicates; grows."""

    def __new__(
        cls,
        keys: Keys | None = None,
        /,
        *,
        items: int | None = None,
        fpp: float | None = None,
        bits: int | None = None,
        seed: Seed | None = None,
        hardened: bool = False,
        hasher: Filter | None = None,
    ) -> Self: ...
    def discard(self, key: Key, /) -> bool:
        """Takes a key out, if a trace of it is there; whether it was. Only for keys that were put in."""
    def remove(self, key: Key, /) -> None:
        """Takes a key out; KeyError if it was surely not there. Only for keys that were put in."""
    def count(self, key: Key, /) -> int:
        """How often the key came, at most."""
    def __len__(self) -> int: ...
    @property
    def load_factor(self) -> float:
        """The part of the slots that are used."""
    def grow(self) -> None:
        """Doubles the slots; the rate that stats() tells is then twice as high."""
    def shrink_to_fit(self) -> bool:
        """Halves the slots as often as the keys allow; whether it did."""

class Window(MutableFilter):
    """Forgets what is old: the last `items` inserts, or the last `lasting` ticks of a clock."""

    def __new__(
        cls,
        keys: Keys | None = None,
        /,
        *,
        items: int | None = None,
        fpp: float | None = None,
        bits: int | None = None,
        lasting: int | None = None,
        seed: Seed | None = None,
        hardened: bool = False,
        hasher: Filter | None = None,
    ) -> Self: ...
    def add_at(self, now: int, key: Key, /) -> bool:
        """Puts a key in at this time of the clock, which does not go back. True if it was surely not there before."""
    def advance(self, now: int, /) -> None:
        """Moves the clock on, and forgets what is too old by then."""
    @property
    def now(self) -> int:
        """Where the clock stands: inserts, or ticks."""
    @property
    def remembers(self) -> int:
        """A key is surely remembered for so long."""
    @property
    def forgets(self) -> int:
        """A key is surely forgotten after so long."""

class BinaryFuse(Filter):
    """Built once of all its keys; small."""

    def __new__(
        cls,
        keys: Keys,
        /,
        *,
        fpp: float | None = None,
        width: int | None = None,
        arity: Literal[3, 4] = 3,
        seed: Seed | None = None,
        hardened: bool = False,
        hasher: Filter | None = None,
    ) -> Self: ...
    def __len__(self) -> int: ...

class ForeignFilter(MutableFilter):
    """A filter of another system, which reads what save() and to_bytes() write."""

    def __new__(
        cls,
        format: Format,
        keys: Keys | None = None,
        /,
        *,
        items: int | None = None,
        fpp: float = 0.01,
        key_type: KeyType | None = None,
        seed: int = 0,
    ) -> Self: ...
    @property
    def format(self) -> str:
        """Whose filter it is: guava, spark-v1, spark-v2, parquet, redisbloom, redis-cuckoo or dcso."""
    @property
    def key_type(self) -> str:
        """What its integers are: i32, i64 or u64."""
    @staticmethod
    def from_bytes(
        data: Bytes, /, *, format: Format | None = None, key_type: KeyType | None = None
    ) -> ForeignFilter:
        """The filter in these bytes, as its maker writes them."""
    @staticmethod
    def open(
        path: Path, *, format: Format | None = None, key_type: KeyType | None = None, column: str | None = None
    ) -> ForeignFilter:
        """The filter in a file, as its maker writes it; of a Parquet file, that of a column."""
    @staticmethod
    def load(
        path: Path, *, format: Format | None = None, key_type: KeyType | None = None, column: str | None = None
    ) -> ForeignFilter:
        """As open(): these filters are copied into memory when they are changed."""

@disjoint_base
class IntegerSet:
    """An exact set of integers from 0 on."""

    def __contains__(self, id: int | np.integer[Any], /) -> bool: ...
    def contains_many(self, ids: MaybeKeys, /, *, nulls: Nulls = "error") -> npt.NDArray[np.bool_]:
        """Whether each of these ids is in the set, as a numpy array of bool."""
    def add(self, id: int, /) -> bool:
        """Puts an id in. True if it was not there before."""
    def update(self, *ids: MaybeKeys | IntegerSet, nulls: Nulls = "error") -> None:
        """Puts many ids in, from arrays and iterables."""
    def discard(self, id: int, /) -> bool:
        """Takes an id out, if it is there; whether it was."""
    def remove(self, id: int, /) -> None:
        """Takes an id out; KeyError if it is not there."""
    def clear(self) -> None:
        """Forgets all ids."""
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[int]: ...
    def to_numpy(self) -> npt.NDArray[np.uint64]:
        """All ids in ascending order, as a numpy array of uint64."""
    def rank(self, id: int, /) -> int:
        """How many ids of the set are smaller."""
    def select(self, n: int, /) -> int:
        """The id with n smaller ones in the set; IndexError if there is none."""
    def count_in(self, start: int, stop: int, /) -> int:
        """How many ids from start to stop, without it, are in the set."""
    @property
    def size_in_bytes(self) -> int:
        """The memory that the set takes, in bytes."""
    @property
    def is_mapped(self) -> bool:
        """Whether the bits are in a mapped file, which can be asked but not changed."""
    @property
    def range(self) -> range:
        """The ids that the set has a place for."""
    def __or__(self, other: IntegerSet, /) -> Self: ...
    def __and__(self, other: IntegerSet, /) -> Self: ...
    def __sub__(self, other: IntegerSet, /) -> Self: ...
    def __xor__(self, other: IntegerSet, /) -> Self: ...
    def __ior__(self, other: IntegerSet, /) -> Self: ...
    def __iand__(self, other: IntegerSet, /) -> Self: ...
    def __isub__(self, other: IntegerSet, /) -> Self: ...
    def __ixor__(self, other: IntegerSet, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def copy(self) -> Self:
        """Another set of the same ids, in memory, which can be changed."""
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    def save(self, path: Path) -> None:
        """Writes the set to a file: whole or not at all."""
    def to_bytes(self) -> bytes:
        """The bytes of the file."""

class Bitmap(IntegerSet):
    """A bit for each id of a range: Bitmap(range(0, 1000)), or Bitmap(1000)."""

    def __new__(cls, range: range | int, ids: Keys | None = None, /) -> Self: ...
    @classmethod
    def from_bytes(cls, data: bytes, /) -> Bitmap:
        """The set in these bytes of a file, every one of them checked."""
    def add_range(self, start: int, stop: int, /) -> None:
        """Puts all ids from start to stop, without it, in."""

class RoaringSet(IntegerSet):
    """A compressed set, for ids that lie far apart; its bytes are Roaring's portable format."""

    def __new__(cls, ids: Keys | None = None, /) -> Self: ...
    @classmethod
    def from_bytes(cls, data: bytes, /) -> RoaringSet:
        """The set in these bytes of Roaring's portable format, for 32 or 64 bits."""
    def optimize(self) -> bool:
        """Finds runs, which take less where ids follow each other; whether there were any."""

@final
class TwoBitMap:
    """Which values of a range occur never, once, or more often; exact."""

    def __new__(cls, range: range | int, values: Keys | None = None, /) -> Self: ...
    def add(self, value: int, /) -> int:
        """Notes a value. How often it had come before: 0, 1, or 2 for more."""
    def update(self, values: MaybeKeys, /, *, nulls: Nulls = "error") -> None:
        """Notes many values, from arrays and iterables."""
    def count(self, value: int, /) -> int:
        """How often a value has come: 0, 1, or 2 for more."""
    def __contains__(self, value: int, /) -> bool: ...
    def once(self) -> npt.NDArray[np.uint64]:
        """The values that came once, in ascending order."""
    def more(self) -> npt.NDArray[np.uint64]:
        """The values that came more often, in ascending order."""
    def counts(self) -> tuple[int, int, int]:
        """How many values came never, once, and more often."""
    @property
    def range(self) -> range:
        """The values that the map has a place for."""
    @property
    def size_in_bytes(self) -> int:
        """The memory that the map takes, in bytes."""
    def clear(self) -> None:
        """Forgets all values."""
    def __ior__(self, other: TwoBitMap, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def copy(self) -> TwoBitMap:
        """Another map of the same values."""
    def save(self, path: Path) -> None:
        """Writes the map to a file: whole or not at all."""
    def to_bytes(self) -> bytes:
        """The bytes of the file."""
    @classmethod
    def from_bytes(cls, data: bytes, /) -> TwoBitMap:
        """The map in these bytes of a file, every one of them checked."""

@final
class CountMin:
    """How often each key came; never too low, and too high by at most a part `error` of all, but with the chance `miss`."""

    def __new__(
        cls,
        keys: Keys | None = None,
        /,
        *,
        error: float = 0.0001,
        miss: float = 0.01,
        seed: Seed | None = None,
        hardened: bool = False,
    ) -> Self: ...
    def add(self, key: Key, times: int = 1, /) -> None:
        """Counts a key."""
    def update(self, keys: MaybeKeys, /, *, nulls: Nulls = "error") -> None:
        """Counts many keys, from arrays and iterables."""
    def count(self, key: Key, /) -> int:
        """How often the key came, at most."""
    def __getitem__(self, key: Key, /) -> int: ...
    def count_many(self, keys: MaybeKeys, /, *, nulls: Nulls = "error") -> npt.NDArray[np.uint64]:
        """How often each of these keys came, at most."""
    @property
    def total(self) -> int:
        """How many keys were counted, each as often as it came."""
    @property
    def error(self) -> float:
        """By how much a count may now be too high, but with the chance that was given."""
    @property
    def size_in_bytes(self) -> int:
        """The memory that the table takes, in bytes."""
    def clear(self) -> None:
        """Forgets all counts."""
    def __ior__(self, other: CountMin, /) -> Self: ...
    def __or__(self, other: CountMin, /) -> CountMin: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def copy(self) -> CountMin:
        """Another table of the same counts."""
    def save(self, path: Path) -> None:
        """Writes the table to a file: whole or not at all."""
    def to_bytes(self) -> bytes:
        """The bytes of the file."""
    @classmethod
    def from_bytes(cls, data: bytes, /) -> CountMin:
        """The table in these bytes of a file, every one of them checked."""

@final
class Heavy:
    """A key that came often."""

    @property
    def key(self) -> Any: ...
    @property
    def count(self) -> int: ...
    @property
    def error(self) -> int: ...
    @property
    def sure(self) -> bool: ...

@final
class TopK:
    """The keys that came most often, with counts whose error is known. Keys are of one type: str, bytes or int."""

    def __new__(
        cls,
        k: int,
        values: Keys | None = None,
        /,
        *,
        keys: type[str] | type[bytes] | type[int] | None = None,
        seed: Seed | None = None,
    ) -> Self: ...
    def add(self, key: Key, times: int = 1, /) -> None:
        """Counts a key."""
    def update(self, keys: MaybeKeys, /, *, nulls: Nulls = "error") -> None:
        """Counts many keys, from arrays and iterables."""
    def top(self) -> list[Heavy]:
        """The k keys that came most often, the highest count first."""
    def count(self, key: Key, /) -> tuple[int, int]:
        """How often the key came, at most, and by how much that may be over."""
    @property
    def total(self) -> int:
        """How many keys were counted, each as often as it came."""
    @property
    def error(self) -> int:
        """The most by which a count may be over."""
    @property
    def k(self) -> int:
        """How many keys are wanted."""
    @property
    def size_in_bytes(self) -> int:
        """The memory that the summary takes, in bytes."""
    def clear(self) -> None:
        """Forgets all keys."""
    def __ior__(self, other: TopK, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def copy(self) -> TopK:
        """Another summary of the same counts."""
    def save(self, path: Path) -> None:
        """Writes the summary to a file: whole or not at all."""
    def to_bytes(self) -> bytes:
        """The bytes of the file."""
    @staticmethod
    def from_bytes(data: bytes, keys: type[str] | type[bytes] | type[int] | None = None, /) -> TopK:
        """The summary in these bytes of a file, every one of them checked; what its keys are, the file does not say."""

def open(path: Path, *, key_type: KeyType | None = None) -> Any:
    """Maps a filter or set of any kind, told by the bytes of its file: one of gowk's own, or another system's."""

def load(path: Path, *, key_type: KeyType | None = None) -> Any:
    """Reads a filter or set of any kind into memory, every byte of it checked; it can be changed."""

def from_bytes(data: Bytes, /) -> Any:
    """The filter or set of any kind in these bytes of a file, every one of them checked."""

@final
class Choice:
    """A family as an answer to some needs."""

    @property
    def family(self) -> str: ...
    @property
    def bits_per_key(self) -> float: ...
    @property
    def bytes(self) -> int: ...
    @property
    def probes(self) -> float: ...
    @property
    def fpp(self) -> float: ...
    @property
    def false_positive_cost(self) -> float: ...
    @property
    def check_cost(self) -> float: ...

def plan(
    items: int,
    fpp: float = 0.01,
    *,
    deletes: bool = False,
    grows: bool = False,
    is_static: bool = False,
    window: bool = False,
    counts: bool = False,
    cost_check: float = 1e-7,
    cost_miss: float = 1e-3,
    absent: float = 0.5,
) -> list[Choice]:
    """The families that do what is needed, the best first, with their sizes and costs."""
