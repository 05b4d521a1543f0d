"""The same files as Rust and the command line; damaged ones are errors, never crashes."""

import multiprocessing
import os
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import build

import gowk

GOLDEN = Path(__file__).parents[3] / "golden"
ALL = {
    "Bitmap": lambda: gowk.Bitmap(1000, range(0, 1000, 7)),
    "RoaringSet": lambda: gowk.RoaringSet([1, 5, 10**12]),
    "TwoBitMap": lambda: gowk.TwoBitMap(100, [1, 1, 2]),
    "CountMin": lambda: gowk.CountMin(["a", "a", "b"]),
    "TopK": lambda: gowk.TopK(3, ["a", "a", "b"]),
}


def test_a_saved_filter_is_the_same_mapped_loaded_and_from_bytes(family, tmp_path):
    made = build(family, range(1000))
    path = tmp_path / "f.gowk"
    made.save(path)
    assert path.read_bytes() == made.to_bytes()
    mapped, loaded, parsed = gowk.open(path), gowk.load(str(path)), gowk.from_bytes(made.to_bytes())
    for twin in (mapped, loaded, parsed, type(made).open(path), type(made).load(path), gowk.Filter.open(path)):
        assert type(twin) is type(made) and twin == made == twin.copy()
        assert twin.contains_many(range(2000)).tolist() == made.contains_many(range(2000)).tolist()
        assert twin.items == made.items and twin.fpp == made.fpp
    assert mapped.is_mapped and not loaded.is_mapped and not mapped.copy().is_mapped
    assert "mapped" in repr(mapped)
    assert type(made).from_bytes(bytearray(made.to_bytes())) == made
    mapped.save(tmp_path / "again.gowk")
    assert (tmp_path / "again.gowk").read_bytes() == path.read_bytes()


def test_a_mapped_filter_is_only_read(family, tmp_path):
    made = build(family, range(100))
    made.save(tmp_path / "f")
    mapped = gowk.open(tmp_path / "f")
    before = (tmp_path / "f").read_bytes()
    for change in ("add", "discard", "remove"):
        if hasattr(mapped, change):
            with pytest.raises(gowk.ReadOnlyError, match="copy"):
                getattr(mapped, change)(5)
    if hasattr(mapped, "update"):
        for change in (lambda: mapped.update([5]), mapped.clear, lambda: mapped.update(np.arange(5))):
            with pytest.raises(TypeError, match="mapped"):
                change()
        mapped.copy().add(5)
        gowk.load(tmp_path / "f").add(5)
    assert (tmp_path / "f").read_bytes() == before


@pytest.mark.parametrize("kind", ALL)
def test_sets_and_sketches_are_files_as_well(kind, tmp_path):
    made = ALL[kind]()
    made.save(tmp_path / "f")
    for twin in (gowk.open(tmp_path / "f"), gowk.load(tmp_path / "f")):
        assert type(twin) is type(made) and twin == made
    assert (tmp_path / "f").read_bytes() == made.to_bytes()
    if kind != "RoaringSet":
        assert gowk.from_bytes(made.to_bytes()) == made
    assert type(made).from_bytes(made.to_bytes()) == made
    if kind == "Bitmap":
        mapped = gowk.open(tmp_path / "f")
        assert mapped.is_mapped and list(mapped) == list(made)
        with pytest.raises(gowk.ReadOnlyError):
            mapped.add(5)
        with pytest.raises(gowk.ReadOnlyError):
            mapped.add_range(0, 5)


def test_the_class_of_a_file_is_asked_for(tmp_path):
    gowk.Cuckoo([1], items=100).save(tmp_path / "f")
    with pytest.raises(TypeError, match="a Cuckoo, not a BlockedBloom"):
        gowk.BlockedBloom.open(tmp_path / "f")


def test_what_is_not_there_or_not_ours_is_told(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        gowk.open(tmp_path / "none")
    assert raised.value.filename == str(tmp_path / "none") or raised.value.filename == tmp_path / "none"
    with pytest.raises(IsADirectoryError):
        gowk.load(tmp_path)
    (tmp_path / "text").write_text("heron\ngowk\n")
    (tmp_path / "empty").write_bytes(b"")
    for name in ("text", "empty"):
        with pytest.raises(gowk.FormatError, match=name):
            gowk.open(tmp_path / name)
    with pytest.raises(gowk.FormatError):
        gowk.from_bytes(b"")
    with pytest.raises(TypeError):
        gowk.from_bytes("text")
    with pytest.raises(OSError):
        gowk.BlockedBloom(items=1).save(tmp_path / "no such folder" / "f")


def test_damaged_bytes_are_errors_and_never_crash(family):
    whole = build(family, range(500), seed=1).to_bytes()
    dice = random.Random(1)
    for _ in range(300):
        data = bytearray(whole)
        what = dice.randrange(3)
        if what == 0:
            del data[dice.randrange(len(data)) :]
        elif what == 1:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        else:
            data += bytes([dice.randrange(256)])
        with pytest.raises((gowk.FormatError, gowk.ParamsError)):
            gowk.from_bytes(bytes(data))


def test_damaged_files_are_errors_and_never_crash(family, tmp_path):
    whole = build(family, range(500), seed=1).to_bytes()
    dice = random.Random(2)
    path = tmp_path / "f"
    for _ in range(100):
        data = bytearray(whole)
        data[dice.randrange(min(len(data), 400))] ^= 1 << dice.randrange(8)
        path.write_bytes(data[: dice.choice([len(data), len(data), dice.randrange(len(data))])])
        for opening in (gowk.open, gowk.load):
            try:
                opening(path).contains_many(range(100))
            except (gowk.FormatError, gowk.ParamsError, MemoryError):
                pass
            else:
                # Only the head of a mapped file is checked: a flipped bit of its body is an answer that may be wrong.
                assert opening is gowk.open


def test_a_full_disk_leaves_the_old_file(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk takes root")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        gowk.BlockedBloom(["old"], items=100).save(disk / "f")
        with pytest.raises(OSError) as raised:
            gowk.BlockedBloom(items=1_000_000).save(disk / "f")
        assert raised.value.errno == 28
        assert "old" in gowk.open(disk / "f") and os.listdir(disk) == ["f"]
    finally:
        subprocess.run(["umount", disk], check=True)


def ask(path, keys, answers):
    answers.put(gowk.open(path).contains_many(keys).tolist())


def test_another_process_maps_the_same_bits(tmp_path):
    made = gowk.BlockedBloom(np.arange(1000))
    made.save(tmp_path / "f")
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=ask, args=(tmp_path / "f", list(range(2000)), answers))
    process.start()
    assert answers.get(timeout=60) == made.contains_many(range(2000)).tolist()
    process.join()


def test_pickle_goes_to_another_process():
    made = gowk.Cuckoo(["a", "b"], items=100)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(type(made).copy, (made,)) == made


def test_files_of_version_1_are_read():
    files = sorted((GOLDEN / "gowk-v1").glob("*.gowk"))
    assert len(files) > 5
    for path in files:
        made = gowk.open(path)
        assert made == gowk.load(path), path
        # A summary keeps its keys in the order in which they came, not that of an older file.
        assert path.stem == "top_k" or made.to_bytes() == path.read_bytes(), path


def cli():
    """The command, where it has been built."""
    path = os.environ.get("GOWK_CLI") or shutil.which("gowk")
    if not path:
        pytest.skip("no gowk command: set GOWK_CLI")
    return path


@pytest.mark.parametrize("kind", ["BlockedBloom", "Bloom", "SplitBlockBloom", "ScalableBloom", "CountingBloom", "Cuckoo", "Window", "BinaryFuse"])
def test_the_command_line_answers_as_python_does(kind, tmp_path):
    words = [f"word {i}" for i in range(500)]
    made = build(kind, words[:250])
    made.save(tmp_path / "f.gowk")
    (tmp_path / "asked").write_text("".join(f"{word}\n" for word in words))
    answered = subprocess.run([cli(), "query", tmp_path / "f.gowk", tmp_path / "asked"], capture_output=True, text=True)
    assert answered.stdout.splitlines() == [word for word in words if word in made]
    numbers = build(kind, np.arange(250))
    numbers.save(tmp_path / "n.gowk")
    (tmp_path / "ids").write_text("".join(f"{i}\n" for i in range(500)))
    answered = subprocess.run(
        [cli(), "query", "--key-type", "i64", tmp_path / "n.gowk", tmp_path / "ids"], capture_output=True, text=True
    )
    assert answered.stdout.split() == [str(i) for i in range(500) if i in numbers]


def test_python_answers_as_the_command_line_does(tmp_path):
    (tmp_path / "keys").write_text("heron\ngowk\n")
    for family in ("blocked", "bloom", "cuckoo", "fuse", "counting"):
        path = tmp_path / f"{family}.gowk"
        subprocess.run([cli(), "build", tmp_path / "keys", "--family", family, "-o", path], check=True, capture_output=True)
        made = gowk.open(path)
        assert "heron" in made and b"gowk" in made
