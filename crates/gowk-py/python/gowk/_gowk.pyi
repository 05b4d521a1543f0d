"""The extension module. Its classes and functions are in the package; what is here is for its own modules."""

from collections.abc import Callable
from typing import Any

class Job:
    def __new__(cls, task: dict[str, Any]) -> Job: ...
    def next(self) -> list[tuple[bytes, int]] | None: ...
    def cancel(self) -> None: ...
    @property
    def progress(self) -> tuple[int, int | None]: ...

class RedisError(OSError):
    """What servers, or the way to them, did not do."""

    failed: list[int]
    """Of a batch: the places of the keys that failed. All others were done."""

class NotFoundError(RedisError):
    """There is no filter of that name: it was never created, was dropped, or has expired."""

class ExistsError(RedisError):
    """There is a filter of that name already, or one that differs from what was asked for."""

class LostError(RedisError):
    """A part of the filter has vanished, so that keys would be denied wrongly; it has to be built again."""

class NoServerError(RedisError, ConnectionError):
    """Nobody answers, for as long as we are to be patient."""

_Reply = Callable[[Any, BaseException | None], object] | None

class RedisServers:
    @staticmethod
    def connect(urls: list[str], manner: dict[str, Any], reply: _Reply) -> Any: ...
    def masters(self) -> int: ...
    def open(self, name: str, reply: _Reply) -> Any: ...
    def create(self, name: str, counting: bool, wanted: dict[str, Any], reply: _Reply) -> Any: ...
    def upload(self, name: str, filter: Any, shard_bytes: int | None, allow_eviction: bool, reply: _Reply) -> Any: ...
    def drop(self, name: str, reply: _Reply) -> Any: ...
    def kind(self, name: str, reply: _Reply) -> Any: ...

class RedisFilter:
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def promise(self) -> tuple[int, float]: ...
    @property
    def seed(self) -> bytes: ...
    def add(self, keys: Any, nulls: str, reply: _Reply) -> Any: ...
    def ask(self, keys: Any, nulls: str, reply: _Reply) -> Any: ...
    def remove(self, keys: Any, reply: _Reply) -> Any: ...
    def count(self, keys: Any, reply: _Reply) -> Any: ...
    def info(self, exact: bool, reply: _Reply) -> Any: ...
    def clear(self, reply: _Reply) -> Any: ...
    def expire(self, after: float | None, reply: _Reply) -> Any: ...
    def download(self, reply: _Reply) -> Any: ...
    def merge(self, other: Any, reply: _Reply) -> Any: ...

class RedisInfo:
    """What was promised, and what is."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def family(self) -> str:
        """What kind of filter it is."""
    @property
    def items(self) -> int:
        """The keys that it was made for."""
    @property
    def fpp(self) -> float:
        """The rate of false positives that was promised for that many."""
    @property
    def bits(self) -> int:
        """Its bits, over all shards."""
    @property
    def shards(self) -> int:
        """In how many parts it lies on the servers."""
    @property
    def fill(self) -> float:
        """The part of its bits that are set."""
    @property
    def estimated_items(self) -> float:
        """How many different keys have come, as far as the bits tell."""
    @property
    def fpp_now(self) -> float:
        """The rate at which it now answers "maybe" for keys that are not in it."""
    @property
    def sampled(self) -> int:
        """How many shards were looked at for the last three."""
    @property
    def rebuilding(self) -> bool:
        """Whether a new generation is being built beside it."""
    @property
    def expires_in(self) -> float | None:
        """In how many seconds it expires; None: never."""
