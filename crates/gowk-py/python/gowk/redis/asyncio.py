"""`gowk.redis` to await, for programs of asyncio: the same filters, with the same words.

>>> from gowk.redis import asyncio as aredis                                      # doctest: +SKIP
>>> servers = await aredis.connect("redis://127.0.0.1:6379")                      # doctest: +SKIP
>>> seen = await servers.create("seen", items=100_000_000, fpp=0.001)             # doctest: +SKIP
>>> await seen.add("10.0.0.1"), await seen.contains("10.0.0.1")                   # doctest: +SKIP
(True, True)

No thread waits for an answer: calls that are awaited together are on their way together. Keys are hashed where the call is made; of millions at
once the event loop notices. A call that is cancelled may have been carried out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import BlockedBloom, CountingBloom
from .. import Filter as _Filter
from .._gowk import RedisFilter as _RedisFilter
from .._gowk import RedisServers as _RedisServers
from .._types import Key, MaybeKeys, Nulls, Seed
from . import ExistsError, Info, LostError, NoServerError, NotFoundError, RedisError, _urls, _wanted

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
    "connect",
]

_Reply = Callable[[Any, BaseException | None], object]


def _awaited(start: Callable[[_Reply], Any]) -> asyncio.Future[Any]:
    """The outcome of what `start` begins and tells, from a thread of its own, to the function that it is given."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    start(lambda value, error: loop.call_soon_threadsafe(settle, value, error))
    return future


async def connect(
    url: str | Iterable[str],
    *,
    connect_timeout: float | None = None,
    response_timeout: float | None = None,
    patience: float | None = None,
    read_replicas: bool = False,
    wait_replicas: int = 0,
    wait_timeout: float = 1.0,
    cluster: bool | None = None,
) -> Servers:
    """Connections to one server, or to all nodes of a cluster; see `gowk.redis.Servers`."""
    manner = {
        "connect_timeout": connect_timeout,
        "response_timeout": response_timeout,
        "patience": patience,
        "read_replicas": read_replicas,
        "wait_replicas": wait_replicas,
        "wait_timeout": wait_timeout,
        "cluster": cluster,
    }
    return Servers(await _awaited(lambda reply: _RedisServers.connect(_urls(url), manner, reply)))


class Servers:
    """Connections to servers. `connect` makes them."""

    def __init__(self, servers: _RedisServers, /) -> None:
        self._servers = servers

    @property
    def masters(self) -> int:
        """How many nodes take keys."""
        return self._servers.masters()

    async def create(
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
        """A new filter, or the one that is there and is as asked for; see `gowk.redis.Servers.create`."""
        wanted = _wanted(items, fpp, seed, hardened, shard_bytes, allow_eviction)
        return Bloom(await _awaited(lambda reply: self._servers.create(name, False, wanted, reply)))

    async def create_counting(
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
        """The same for a filter that counts, from which keys can be removed."""
        wanted = _wanted(items, fpp, seed, hardened, shard_bytes, allow_eviction)
        return Counting(await _awaited(lambda reply: self._servers.create(name, True, wanted, reply)))

    async def open(self, name: str) -> Bloom:
        """The filter of this name: a `Counting` if it counts."""
        return _wrapped(await _awaited(lambda reply: self._servers.open(name, reply)))

    async def upload(
        self, name: str, filter: BlockedBloom | CountingBloom, *, shard_bytes: int | None = None, allow_eviction: bool = False
    ) -> Bloom:
        """Brings a filter from memory or a file onto the servers: as a new one, or into one of the same size and seed."""
        return _wrapped(
            await _awaited(lambda reply: self._servers.upload(name, filter, shard_bytes, allow_eviction, reply))
        )

    async def kind(self, name: str) -> str | None:
        """What the filter of this name is, "bloom" or "counting"; None if there is none."""
        kind: str | None = await _awaited(lambda reply: self._servers.kind(name, reply))
        return kind

    async def drop(self, name: str) -> None:
        """Removes the filter of this name, of whatever kind and in whatever state."""
        await _awaited(lambda reply: self._servers.drop(name, reply))


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
        return f"<gowk.redis.asyncio.{type(self).__name__} {self.name!r} items={self.items} fpp={self.fpp}>"

    async def add(self, key: Key, /) -> bool:
        """Puts a key in. True if it was surely not there before."""
        return bool((await self.add_many([key]))[0])

    async def add_many(self, keys: MaybeKeys, /, *, nulls: Nulls = "error") -> npt.NDArray[np.bool_]:
        """Puts many keys in, from arrays and iterables. Which of them were surely not there before, nulls left out."""
        answers: npt.NDArray[np.bool_] = await _awaited(lambda reply: self._filter.add(keys, nulls, reply))
        return answers

    async def update(self, *keys: MaybeKeys | BlockedBloom, nulls: Nulls = "error") -> None:
        """Puts many keys in; those of a filter in memory or a file as well, if it has the same size and seed."""
        for more in keys:
            if isinstance(more, _Filter):
                await _awaited(lambda reply, other=more: self._filter.merge(other, reply))  # type: ignore[misc]
            else:
                await self.add_many(more, nulls=nulls)

    async def contains(self, key: Key, /) -> bool:
        """Whether a key may be in the set."""
        return bool((await self.contains_many([key]))[0])

    async def contains_many(self, keys: MaybeKeys, /, *, nulls: Nulls = "error") -> npt.NDArray[np.bool_]:
        """Whether each of these keys may be in the set, as a numpy array of bool."""
        answers: npt.NDArray[np.bool_] = await _awaited(lambda reply: self._filter.ask(keys, nulls, reply))
        return answers

    async def info(self, *, exact: bool = False) -> Info:
        """What it holds and how well: from some of its parts, or (`exact`) from all."""
        info: Info = await _awaited(lambda reply: self._filter.info(exact, reply))
        return info

    async def clear(self) -> None:
        """Forgets all keys, for all who use the filter, at once."""
        await _awaited(lambda reply: self._filter.clear(reply))

    async def expire(self, seconds: float | None, /) -> None:
        """Lets the whole filter expire in so many seconds; None: never."""
        await _awaited(lambda reply: self._filter.expire(seconds, reply))

    async def download(self) -> BlockedBloom | CountingBloom:
        """The filter in memory: to ask without the servers, to save as a file."""
        filter: BlockedBloom | CountingBloom = await _awaited(lambda reply: self._filter.download(reply))
        return filter


class Counting(Bloom):
    """A filter on servers from which keys can be removed; see `gowk.redis.Counting`."""

    async def remove(self, key: Key, /) -> None:
        """Takes a key out; KeyError if it is surely not there. Only take out what was put in."""
        if not await self.discard(key):
            raise KeyError(key)

    async def discard(self, key: Key, /) -> bool:
        """Takes a key out if it may be there, and tells whether."""
        return bool((await self.remove_many([key]))[0])

    async def remove_many(self, keys: MaybeKeys, /) -> npt.NDArray[np.bool_]:
        """Takes many keys out: which of them may have been there."""
        answers: npt.NDArray[np.bool_] = await _awaited(lambda reply: self._filter.remove(keys, reply))
        return answers

    async def count(self, key: Key, /) -> int:
        """How often a key was put in, at most; 15 is 15 or more."""
        return (await self.count_many([key]))[0]

    async def count_many(self, keys: MaybeKeys, /) -> list[int]:
        """How often each of these keys was put in, at most."""
        counts: list[int] = await _awaited(lambda reply: self._filter.count(keys, reply))
        return counts


def _wrapped(filter: _RedisFilter) -> Bloom:
    return Counting(filter) if filter.kind == "counting" else Bloom(filter)
