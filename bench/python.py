#!/usr/bin/env python3
"""gowk beside the filters that Python has: rbloom, abloom, fastbloom-rs, pyfusefilter, pyprobables, and set itself.

    maturin build --release -m crates/gowk-py/Cargo.toml && pip install target/wheels/gowk-*.whl
    pip install rbloom abloom fastbloom-rs pyfusefilter 'xxhash<4' pyprobables pyarrow
    python bench/python.py [keys]                    10 million unless said

Each row is the CPU time of a key in ns, the best of several rounds in which all take turns; a call of a method for each key includes the loop.
Rivals that take minutes get a part of the keys. Answers are checked: no key that was put in is denied.
"""

import importlib
import random
import sys
import time

import numpy as np
import pyarrow as pa

import gowk

KEYS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
ROUNDS = 3
# What is measured one by one, and what is slow, gets no more keys than this.
FEW = min(KEYS, 1_000_000)
SLOW = min(KEYS, 50_000)


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"left out: {name} is not installed")
        return None


def each(method, keys):
    for key in keys:
        method(key)


def ask_each(filter, keys):
    found = 0
    for key in keys:
        found += key in filter
    assert found == len(keys)


def rivals(kind, keys, array):
    """(name, how it is built of all keys at first, {what is measured: (function of the filter, keys)})."""
    few = keys[:FEW]
    slow = keys[:SLOW]
    rows = []

    def add(name, make, fill, **tasks):
        rows.append((name, make, fill, tasks))

    gowk_tasks = {
        "bulk add": (lambda f: f.update(array), KEYS),
        "bulk ask": (lambda f: all_true(f.contains_many(array)), KEYS),
        "list add": (lambda f: f.update(keys), KEYS),
        "one add": (lambda f: each(f.add, few), FEW),
        "one ask": (lambda f: ask_each(f, few), FEW),
    }
    add("gowk.BlockedBloom", lambda: gowk.BlockedBloom(items=KEYS, fpp=0.01), lambda f: f.update(array), **gowk_tasks)
    add("gowk.Bloom", lambda: gowk.Bloom(items=KEYS, fpp=0.01), lambda f: f.update(array), **gowk_tasks)
    # Keys that are put in again would fill it up: only asked.
    asks = {what: task for what, task in gowk_tasks.items() if what.endswith("ask")}
    add("gowk.Cuckoo", lambda: gowk.Cuckoo(items=KEYS, fpp=0.01), lambda f: f.update(array), **asks)
    add(
        "gowk.BinaryFuse",
        lambda: [gowk.BinaryFuse(array, fpp=0.01)],
        lambda f: None,
        **{
            "bulk add": (lambda f: f.__setitem__(0, gowk.BinaryFuse(array, fpp=0.01)), KEYS),
            "bulk ask": (lambda f: all_true(f[0].contains_many(array)), KEYS),
            "one ask": (lambda f: ask_each(f[0], few), FEW),
        },
    )
    if abloom := library("abloom"):
        add(
            "abloom",
            lambda: abloom.BloomFilter(KEYS, 0.01),
            lambda f: f.update(keys),
            **{
                "list add": (lambda f: f.update(keys), KEYS),
                "one add": (lambda f: each(f.add, few), FEW),
                "one ask": (lambda f: ask_each(f, few), FEW),
            },
        )
    if rbloom := library("rbloom"):
        add(
            "rbloom",
            lambda: rbloom.Bloom(KEYS, 0.01),
            lambda f: f.update(keys),
            **{
                "list add": (lambda f: f.update(keys), KEYS),
                "one add": (lambda f: each(f.add, few), FEW),
                "one ask": (lambda f: ask_each(f, few), FEW),
            },
        )
    if fastbloom := library("fastbloom_rs"):
        one = "add_int" if kind == "int" else "add_str"
        ask = "contains_int" if kind == "int" else "contains_str"
        batch = "add_int_batch" if kind == "int" else "add_str_batch"
        add(
            "fastbloom-rs",
            lambda: fastbloom.BloomFilter(KEYS, 0.01),
            lambda f: getattr(f, batch)(keys),
            **{
                "list add": (lambda f: getattr(f, batch)(keys), KEYS),
                "one add": (lambda f: each(getattr(f, one), few), FEW),
                "one ask": (lambda f: each(getattr(f, ask), few), FEW),
            },
        )
    if fuse := library("pyfusefilter"):
        add(
            "pyfusefilter Fuse8",
            lambda: [fuse.Fuse8(few)],
            lambda f: None,
            **{
                "list add": (lambda f: f.__setitem__(0, fuse.Fuse8(few)), FEW),
                "one ask": (lambda f: ask_each(f[0], few), FEW),
            },
        )
    if probables := library("probables"):
        texts = [str(key) for key in slow]
        add(
            "pyprobables",
            lambda: probables.BloomFilter(est_elements=SLOW, false_positive_rate=0.01),
            lambda f: each(f.add, texts),
            **{"one add": (lambda f: each(f.add, texts), SLOW), "one ask": (lambda f: ask_each(f, texts), SLOW)},
        )
    add(
        "set",
        set,
        lambda f: f.update(keys),
        **{
            "list add": (lambda f: f.update(keys), KEYS),
            "one add": (lambda f: each(f.add, few), FEW),
            "one ask": (lambda f: ask_each(f, few), FEW),
        },
    )
    return rows


def all_true(answers):
    assert answers.all()


def measure(kind, keys, array):
    best = {}
    rows = rivals(kind, keys, array)
    filters = []
    for row in list(rows):
        try:
            made = row[1]()
            row[2](made)
            filters.append(made)
        except Exception as error:
            print(f"left out: {row[0]} fails: {type(error).__name__}: {error}")
            rows.remove(row)
    for _ in range(ROUNDS):
        for (name, _, _, tasks), made in zip(rows, filters):
            for what, (work, count) in tasks.items():
                start = time.process_time()
                work(made)
                spent = (time.process_time() - start) / count * 1e9
                best[name, what] = min(best.get((name, what), spent), spent)
    columns = ["bulk add", "bulk ask", "list add", "one add", "one ask"]
    print(f"\n{kind} keys, {KEYS:,}; ns of CPU a key\n")
    print(f"| {'filter':20} |" + "".join(f" {column:>8} |" for column in columns))
    print("|---|" + "--:|" * len(columns))
    for name, *_ in rows:
        cells = (f"{best[name, column]:8.1f}" if (name, column) in best else " " * 8 for column in columns)
        print(f"| {name:20} |" + "".join(f" {cell} |" for cell in cells))
    if ("abloom", "list add") in best:
        rival = best["abloom", "list add"]
        for column in ("bulk add", "bulk ask"):
            print(f"{column}: {rival / best['gowk.BlockedBloom', column]:.1f} times as fast as abloom's update")
        for column in ("one add", "one ask"):
            print(f"{column}: {best['abloom', column] / best['gowk.BlockedBloom', column]:.2f} times as fast as abloom's")


def main():
    dice = random.Random(1)
    ints = [dice.getrandbits(62) for _ in range(KEYS)]
    measure("int", ints, np.array(ints, "int64"))
    texts = [f"user:{number}" for number in ints]
    del ints
    measure("str", texts, pa.array(texts))


if __name__ == "__main__":
    main()
