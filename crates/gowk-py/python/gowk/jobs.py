"""Set jobs on files larger than memory: exact, inside a memory limit, on all cores.

All take paths (also of .gz, .zst and .xz files) and give an iterator over the answer, or write it to `output` and give that path. A job that is
no longer wanted stops: when its iterator is closed, and on Ctrl-C.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeVar, overload

from ._gowk import Job as _Job

__all__ = ["distinct", "intersect", "once", "subtract", "topk", "union"]

Path = str | os.PathLike[str]
Paths = Path | Iterable[Path]
Progress = Callable[[int, int | None], object]
"""Called with the bytes read so far, and how many there are, if that is known."""
T = TypeVar("T")


@overload
def distinct(paths: Paths, *, output: None = None, counts: Literal[False] = False, **options: Any) -> Iterator[str]: ...
@overload
def distinct(paths: Paths, *, output: None = None, counts: Literal[True], **options: Any) -> Iterator[tuple[str, int]]: ...
@overload
def distinct(paths: Paths, *, output: Path, counts: bool = False, **options: Any) -> Path: ...
def distinct(
    paths: Paths,
    *,
    output: Path | None = None,
    counts: bool = False,
    which: Literal["all", "duplicates", "once"] = "all",
    any_order: bool = False,
    **options: Any,
) -> Any:
    """Each line once, in the order of first appearance; with `counts`, pairs of a line and how often it came.

    `which="duplicates"` gives only those that came more than once, `which="once"` only those that did not.

    Options of all jobs: `field` (from 1) and `delimiter`, or `regex`, to take the key out of a line; `null` for records that end with a zero
    byte; `memory` in bytes, `threads`, `temp_dir`; `progress`, a function that is called with the bytes read and to be read; `text=False` for
    bytes instead of str.
    """
    if which not in ("all", "duplicates", "once"):
        raise ValueError('which= is "all", "duplicates" or "once"')
    task = _task("distinct", paths, output, options, which=which, counts=counts, any_order=any_order)
    return _run(task, options, lambda line, count: (line, count) if counts else line)


@overload
def union(paths: Paths, *, output: None = None, **options: Any) -> Iterator[str]: ...
@overload
def union(paths: Paths, *, output: Path, **options: Any) -> Path: ...
def union(paths: Paths, *, output: Path | None = None, any_order: bool = False, **options: Any) -> Any:
    """The lines of several files as one set: each once, in the order of first appearance."""
    return _run(_task("distinct", paths, output, options, any_order=any_order), options, _line)


@overload
def intersect(a: Path, b: Path, *, output: None = None, **options: Any) -> Iterator[str]: ...
@overload
def intersect(a: Path, b: Path, *, output: Path, **options: Any) -> Path: ...
def intersect(
    a: Path, b: Path, *, output: Path | None = None, keep_lines: bool = False, any_order: bool = False, **options: Any
) -> Any:
    """What is in both files, in the order of the first; with `keep_lines` every line of the first whose key is in the second.

    `field_b` is the field of the second file, if it is another.
    """
    task = _task("intersect", a, output, options, b=b, keep_lines=keep_lines, any_order=any_order)
    return _run(task, options, _line)


@overload
def subtract(a: Path, b: Path, *, output: None = None, **options: Any) -> Iterator[str]: ...
@overload
def subtract(a: Path, b: Path, *, output: Path, **options: Any) -> Path: ...
def subtract(
    a: Path, b: Path, *, output: Path | None = None, keep_lines: bool = False, any_order: bool = False, **options: Any
) -> Any:
    """What is in the first file and not in the second, in the order of the first."""
    task = _task("subtract", a, output, options, b=b, keep_lines=keep_lines, any_order=any_order)
    return _run(task, options, _line)


@overload
def topk(paths: Paths, k: int = 10, *, output: None = None, **options: Any) -> Iterator[tuple[str, int]]: ...
@overload
def topk(paths: Paths, k: int = 10, *, output: Path, **options: Any) -> Path: ...
def topk(paths: Paths, k: int = 10, *, output: Path | None = None, **options: Any) -> Any:
    """The k most frequent lines with exact counts, the highest first; equal ones in the order of their bytes."""
    task = _task("topk", paths, output, options, k=k, counts=True)
    return _run(task, options, lambda line, count: (line, count))


@overload
def once(paths: Paths, *, output: None = None, **options: Any) -> Iterator[str]: ...
@overload
def once(paths: Paths, *, output: Path, **options: Any) -> Path: ...
def once(
    paths: Paths, *, output: Path | None = None, ints: bool = False, any_order: bool = False, **options: Any
) -> Any:
    """What occurs exactly once. With `ints` lines are integers, two bits for each value of their range, and the answer ascends."""
    return _run(_task("once", paths, output, options, which="once", ints=ints, any_order=any_order), options, _line)


_DEFAULTS: dict[str, Any] = {
    "b": [],
    "k": 0,
    "which": "all",
    "counts": False,
    "any_order": False,
    "keep_lines": False,
    "ints": False,
    "field": None,
    "field_b": None,
    "delimiter": "\t",
    "regex": None,
    "null": False,
    "memory": 1 << 30,
    "threads": None,
    "temp_dir": None,
}
_OPTIONS = ["field", "field_b", "delimiter", "regex", "null", "memory", "threads", "temp_dir", "progress", "text"]


def _line(line: Any, count: int) -> Any:
    return line


def _paths(paths: Paths) -> list[str]:
    many = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not many:
        raise ValueError("there are no files to read")
    return [os.fspath(path) for path in many]


def _task(kind: str, a: Paths, output: Path | None, options: dict[str, Any], **more: Any) -> dict[str, Any]:
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"there is no option {name}; there are {', '.join(_OPTIONS)}")
    task = {**_DEFAULTS, **{name: value for name, value in options.items() if name in _DEFAULTS}, **more}
    task["kind"], task["a"] = kind, _paths(a)
    task["b"] = _paths(task["b"]) if task["b"] else []
    task["output"] = None if output is None else os.fspath(output)
    for name in ("field", "field_b", "threads", "memory"):
        number = task[name]
        if number is not None and not isinstance(number, int):
            raise TypeError(f"{name}= is a whole number, not {type(number).__name__}")
        if number is not None and number < 1:
            raise ValueError(f"{name}= is {number}, but must be 1 or more")
    delimiter = task["delimiter"].encode()
    if len(delimiter) != 1:
        raise ValueError("a delimiter is one ASCII character; for more take regex=")
    task["delimiter"] = delimiter[0]
    return task


def _run(task: dict[str, Any], options: dict[str, Any], shape: Callable[[Any, int], Any]) -> Any:
    rows = _rows(_Job(task), options.get("progress"), options.get("text", True), shape)
    if task["output"] is None:
        return rows
    for _ in rows:
        pass
    return task["output"]


def _rows(job: _Job, progress: Progress | None, text: bool, shape: Callable[[Any, int], T]) -> Iterator[T]:
    try:
        while (rows := job.next()) is not None:
            if progress is not None:
                progress(*job.progress)
            for line, count in rows:
                yield shape(line.decode("utf-8", "surrogateescape") if text else line, count)
        if progress is not None:
            progress(*job.progress)
    finally:
        job.cancel()
