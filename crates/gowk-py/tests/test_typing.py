"""The stubs say all that there is, nothing else, and mypy agrees with how it is used."""

import inspect
import subprocess
import sys
import textwrap

import gowk

USE = '''
    import numpy as np, pyarrow as pa, polars as pl
    import gowk

    seen = gowk.BlockedBloom(items=1000, fpp=0.01, seed=7)
    new: bool = seen.add("a") or seen.add(b"a") or seen.add(5) or seen.add(bytearray(b"x"))
    seen.update(["a", "b"], [b"b"], (5, 7), np.arange(5), pa.array([1]), pl.Series([1]), {"a": 1}, seen)
    seen.update([1, None], nulls="skip")
    answers: np.ndarray = seen.contains_many(np.arange(5))
    both: gowk.BlockedBloom = seen | seen.copy()
    both &= seen
    gowk.Cuckoo(["a"], items=10).remove("a")
    ids = gowk.Bitmap(range(100), [1, 2])
    largest: int = max(ids)
    counts = gowk.TopK(3, keys=int).top()[0].count + 1
    guava: gowk.ForeignFilter = gowk.ForeignFilter("guava", items=5, key_type="i32")
    stats: float = seen.stats().fpp_now
'''
MISUSE = '''
    import gowk

    gowk.BlockedBloom(1000)                    # items has a name
    gowk.BinaryFuse(["a"]).add("b")            # built once
    gowk.BlockedBloom(items=1).remove("a")     # cannot forget
    gowk.BlockedBloom(items=1).add(1.5)
    gowk.BlockedBloom(items=1).update(["a"], nulls="ignore")
    gowk.ForeignFilter("other", items=5)
'''


def mypy(folder, text):
    path = folder / "use.py"
    path.write_text(textwrap.dedent(text))
    lax = ["--disable-error-code=type-arg", "--disable-error-code=import-untyped"]
    command = [sys.executable, "-m", "mypy", "--strict", *lax, "--cache-dir", folder.parent / "mypy", path]
    return subprocess.run(command, capture_output=True, text=True).stdout


def test_mypy_accepts_what_works(tmp_path):
    assert "Success" in (told := mypy(tmp_path, USE)), told


def test_mypy_refuses_what_does_not(tmp_path):
    told = mypy(tmp_path, MISUSE)
    lines = [number for number, line in enumerate(textwrap.dedent(MISUSE).splitlines(), 1) if line.startswith("gowk.")]
    assert [int(line.split(":")[1]) for line in told.splitlines() if ": error:" in line] == lines, told


def test_the_package_itself_is_typed(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--disable-error-code=import-untyped", "--cache-dir", tmp_path.parent / "mypy", "-p", "gowk"]
    done = subprocess.run(command, capture_output=True, text=True)
    # Without pyspark what is made of it is not typed.
    told = [line for line in done.stdout.splitlines() if ": error:" in line and "pyspark" not in line]
    assert not told and ("no issues found" in done.stdout or "checked" in done.stdout), done.stdout


def test_stubs_and_module_say_the_same(tmp_path):
    # pyarrow and pyspark need not be there, nor be typed.
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
    config = ["--mypy-config-file", tmp_path / "mypy.ini"]
    command = [sys.executable, "-m", "mypy.stubtest", "gowk", "--ignore-missing-stub", "--concise", *config]
    done = subprocess.run(command, capture_output=True, text=True)
    # What is written in Python is its own stub; and what a Literal is at run time, stubtest does not know.
    python = ("gowk._types.", "gowk._gowk.", "gowk.jobs.", *(f"gowk.{name} " for name in gowk.jobs.__all__))
    told = [line for line in done.stdout.splitlines() if not line.startswith(python)]
    assert not told and "gowk" in done.stdout, done.stdout + done.stderr


def test_everything_has_a_docstring():
    for name in gowk.__all__:
        thing = getattr(gowk, name)
        if inspect.isclass(thing) or callable(thing):
            assert thing.__doc__, name
        if inspect.isclass(thing):
            for method, value in vars(thing).items():
                if not method.startswith("_"):
                    assert value.__doc__, f"{name}.{method}"
