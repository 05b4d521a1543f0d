"""Filters on Redis, Valkey and their clusters, of any size, for all who can reach the servers; no module is needed there.

They are the filters of `gowk redis` on the command line and of the Rust library: whatever one of them put in, the others find.

>>> from gowk import redis                                                                  # doctest: +SKIP
>>> seen = redis.create("redis://127.0.0.1:6379", "seen", items=100_000_000, fpp=0.001)     # doctest: +SKIP
>>> seen.add("10.0.0.1")                                                                    # doctest: +SKIP
True
>>> "10.0.0.1" in seen                                                                      # doctest: +SKIP
True

A call waits for the servers, without the interpreter; Ctrl-C ends it. Send many keys at once where you can: a call for one costs a round trip, and
so does one for thousands. `gowk.redis.asyncio` has the same to await.

What servers do not do is a `RedisError`, which is an OSError; where a batch fails in part, its attribute `failed` has the places of
the keys that failed, and all others were done.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import BlockedBloom, CountingBloom
from .. import Filter as _Filter
from .._gowk import (
    ExistsError,
    LostError,
    NoServerError,
    NotFoundError,
    RedisError,
)
from .._gowk import RedisFilter as _RedisFilter
from .._gowk import RedisInfo as Info
from .._gowk import RedisServers as _RedisServers
from .._types import Key, MaybeKeys, Nulls, Seed

__all__ = [
    "Bloom",
    "Counting",
    "ExistsError",
    "Info",
    "LostError",
    "NoServerError",
    "NotFoundError",
    "RedisError",
    "Servers",
    "create",
    "open",
]


class Servers:
    """Connections to one server, or to all nodes of a cluster. Threads may share them; processes that fork may not.

    `url` is redis://, rediss:// (TLS) or unix://, with user, password and database as in redis://user:password@host:6379/0; several are several
    ways into one cluster. Times are seconds: for a connection (3), for an answer (10), and to try again while nothing gets through (`patience`, 40).
    With `read_replicas`, questions go to replicas, which may be behind. With `wait_replicas`, an add is done when so many have confirmed it, or
    fails after `wait_timeout`. Whether the servers are a `cluster` is asked of the first unless said.
    """

    def __init__(
        self,
        url: str | Iterable[str],
        *,
        connect_timeout: float | None = None,
        response_timeout: float | None = None,
        patience: float | None = None,
        read_replicas: bool = False,
        wait_replicas: int = 0,
        wait_timeout: float = 1.0,
        cluster: bool | None = None,
    ) -> None:
        manner = {
            "connect_timeout": connect_timeout,
            "response_timeout": response_timeout,
            "patience": patience,
            "read_replicas": read_replicas,
            "wait_replicas": wait_replicas,
            "wait_timeout": wait_timeout,
            "cluster": cluster,
        }
        self._servers: _RedisServers = _RedisServers.connect(_urls(url), manner, None)

    @property
    def masters(self) -> int:
        """How many nodes take keys."""
        return self._servers.masters()

    def create(
        self,
        name: str,
        *,
        items: int,
        fpp: float = 0.01,
        seed: Seed | None = None,
        hardened: bool = False,
        shard_bytes: int | None = None,
        allow_eviction: bool = False,
    ) -> Bloom:
        """A new filter for so many keys; or the one that is there, if it is as asked for.

        `shard_bytes`, from 4 KB to 1 MB, is what a part of it takes on a server. Servers that throw keys away when memory is short are refused
        unless `allow_eviction`: keys of a part that was thrown away are a `LostError` from then on.
        """
        return Bloom(self._servers.create(name, False, _wanted(items, fpp, seed, hardened, shard_bytes, allow_eviction), None))

    def create_counting(
        self,
        name: str,
        *,
        items: int,
        fpp: float = 0.01,
        seed: Seed | None = None,
        hardened: bool = False,
        shard_bytes: int | None = None,
        allow_eviction: bool = False,
    ) -> Counting:
        """The same for a filter that counts, four times as large, from which keys can be removed."""
        return Counting(self._servers.create(name, True, _wanted(items, fpp, seed, hardened, shard_bytes, allow_eviction), None))

    def open(self, name: str) -> Bloom:
        """The filter of this name: a `Counting` if it counts."""
        return _wrapped(self._servers.open(name, None))

    def upload(
        self, name: str, filter: BlockedBloom | CountingBloom, *, shard_bytes: int | None = None, allow_eviction: bool = False
    ) -> Bloom:
        """Brings a filter from memory or a file onto the servers: as a new one, or into one of the same size and seed."""
        return _wrapped(self._servers.upload(name, filter, shard_bytes, allow_eviction, None))

    def kind(self, name: str) -> str | None:
        """What the filter of this name is, "bloom" or "counting"; None if there is none."""
        kind: str | None = self._servers.kind(name, None)
        return kind

    def drop(self, name: str) -> None:
        """Removes the filter of this name, of whatever kind and in whatever state."""
        self._servers.drop(name, None)


class Bloom:
    """A filter on servers. `Servers.create` and `Servers.open` make them."""

    def __init__(self, filter: _RedisFilter, /) -> None:
        self._filter = filter

    @property
    def name(self) -> str:
        """Its name."""
        return self._filter.name

    @property
    def items(self) -> int:
        """The keys that it was made for."""
        return self._filter.promise[0]

    @property
    def fpp(self) -> float:
        """The rate of false positives that it keeps with that many."""
        return self._filter.promise[1]

    @property
    def seed(self) -> bytes:
        """The 16 bytes of the seed; whoever knows them can prepare keys that are false positives."""
        return self._filter.seed

    def __repr__(self) -> str:
        return f"<gowk.redis.{type(self).__name__} {self.name!r} items={self.items} fpp={self.fpp}>"

    def add(self, key: Key, /) -> bool:
        """Puts a key in. True if it was surely not there before."""
        return bool(self._filter.add([key], "error", None)[0])

    def add_many(self, keys: MaybeKeys, /, *, nulls: Nulls = "error") -> npt.NDArray[np.bool_]:
        """Puts many keys in, from arrays and iterables. Which of them were surely not there before, nulls left out."""
        answers: npt.NDArray[np.bool_] = self._filter.add(keys, nulls, None)
        return answers

    def update(self, *keys: MaybeKeys | BlockedBloom, nulls: Nulls = "error") -> None:
        """Puts many keys in; those of a filter in memory or a file as well, if it has the same size and seed."""
        for more in keys:
            if isinstance(more, _Filter):
                self._filter.merge(more, None)
            else:
                self._filter.add(more, nulls, None)

    def __contains__(self, key: Key, /) -> bool:
        return bool(self._filter.ask([key], "error", None)[0])

    def contains(self, key: Key, /) -> bool:
        """Whether a key may be in the set, as `key in filter`."""
        return key in self

    def contains_many(self, keys: MaybeKeys, /, *, nulls: Nulls = "error") -> npt.NDArray[np.bool_]:
        """Whether each of these keys may be in the set, as a numpy array of bool."""
        answers: npt.NDArray[np.bool_] = self._filter.ask(keys, nulls, None)
        return answers

    def info(self, *, exact: bool = False) -> Info:
        """What it holds and how well: from some of its parts, or (`exact`) from all."""
        info: Info = self._filter.info(exact, None)
        return info

    def clear(self) -> None:
        """Forgets all keys, for all who use the filter, at once."""
        self._filter.clear(None)

    def expire(self, seconds: float | None, /) -> None:
        """Lets the whole filter expire in so many seconds; None: never."""
        self._filter.expire(seconds, None)

    def download(self) -> BlockedBloom | CountingBloom:
        """The filter in memory: to ask without the servers, to save as a file."""
        filter: BlockedBloom | CountingBloom = self._filter.download(None)
        return filter


class Counting(Bloom):
    """A filter on servers from which keys can be removed. `Servers.create_counting` and `Servers.open` make them.

    What was counted more than 14 times stays. An add that fails is not repeated as other calls are, since it would count twice: its error says
    that it may have been carried out.
    """

    def remove(self, key: Key, /) -> None:
        """Takes a key out; KeyError if it is surely not there. Only take out what was put in: other keys may share its counters."""
        if not self.discard(key):
            raise KeyError(key)

    def discard(self, key: Key, /) -> bool:
        """Takes a key out if it may be there, and tells whether."""
        return bool(self._filter.remove([key], None)[0])

    def remove_many(self, keys: MaybeKeys, /) -> npt.NDArray[np.bool_]:
        """Takes many keys out: which of them may have been there."""
        answers: npt.NDArray[np.bool_] = self._filter.remove(keys, None)
        return answers

    def count(self, key: Key, /) -> int:
        """How often a key was put in, at most; 15 is 15 or more."""
        return self.count_many([key])[0]

    def count_many(self, keys: MaybeKeys, /) -> list[int]:
        """How often each of these keys was put in, at most."""
        counts: list[int] = self._filter.count(keys, None)
        return counts


def open(url: str | Iterable[str], name: str, **options: Any) -> Bloom:
    """The filter of this name on these servers; options are those of `Servers`."""
    return Servers(url, **options).open(name)


def create(
    url: str | Iterable[str],
    name: str,
    *,
    items: int,
    fpp: float = 0.01,
    seed: Seed | None = None,
    hardened: bool = False,
    shard_bytes: int | None = None,
    allow_eviction: bool = False,
    **options: Any,
) -> Bloom:
    """A new filter on these servers, or the one that is there and is as asked for; other options are those of `Servers`."""
    return Servers(url, **options).create(
        name, items=items, fpp=fpp, seed=seed, hardened=hardened, shard_bytes=shard_bytes, allow_eviction=allow_eviction
    )


def _urls(url: str | Iterable[str]) -> list[str]:
    return [url] if isinstance(url, str) else list(url)


def _wanted(
    items: int, fpp: float, seed: Seed | None, hardened: bool, shard_bytes: int | None, allow_eviction: bool
) -> dict[str, Any]:
    return {
        "items": items,
        "fpp": fpp,
        "seed": seed,
        "hardened": hardened,
        "shard_bytes": shard_bytes,
        "allow_eviction": allow_eviction,
    }


def _wrapped(filter: _RedisFilter) -> Bloom:
    return Counting(filter) if filter.kind == "counting" else Bloom(filter)
