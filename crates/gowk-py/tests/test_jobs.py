"""Set jobs on files: the answers of Python's own sets, as iterators and as files, stopped at any time."""

import collections
import gzip
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import gowk


@pytest.fixture
def words(tmp_path):
    dice = random.Random(1)
    many = [f"word {int(dice.paretovariate(0.5)) % 5000}" for _ in range(50_000)]
    (tmp_path / "words").write_text("".join(f"{word}\n" for word in many))
    return tmp_path / "words", many


@pytest.mark.parametrize("memory", [1 << 30, 1 << 20])
def test_distinct_is_as_dict_fromkeys(words, memory):
    path, many = words
    assert list(gowk.distinct(path, memory=memory)) == list(dict.fromkeys(many))
    assert list(gowk.union([path, str(path)], memory=memory)) == list(dict.fromkeys(many))
    counts = collections.Counter(many)
    assert dict(gowk.distinct(path, counts=True, memory=memory)) == counts
    assert set(gowk.distinct(path, which="duplicates", memory=memory)) == {word for word in many if counts[word] > 1}
    assert set(gowk.once(path, memory=memory, any_order=True)) == {word for word in many if counts[word] == 1}


def test_topk_is_as_most_common(words):
    path, many = words
    expected = sorted(collections.Counter(many).items(), key=lambda pair: (-pair[1], pair[0].encode()))[:7]
    assert list(gowk.topk(path, 7)) == expected


def test_intersect_and_subtract_keep_the_order_of_the_first(tmp_path):
    (tmp_path / "a").write_text("c,1\nb,2\na,3\nb,4\n")
    (tmp_path / "b").write_text("b\na\n")
    a, b = tmp_path / "a", tmp_path / "b"
    by = dict(field=1, delimiter=",")
    assert list(gowk.intersect(a, b, **by)) == ["b", "a"]
    assert list(gowk.intersect(a, b, keep_lines=True, **by)) == ["b,2", "a,3", "b,4"]
    assert list(gowk.subtract(a, b, keep_lines=True, **by)) == ["c,1"]
    assert list(gowk.distinct(a, regex=",([0-9])")) == ["c,1", "b,2", "a,3", "b,4"]


def test_answers_go_to_a_file_whole_or_not_at_all(words, tmp_path):
    path, many = words
    out = tmp_path / "out"
    assert gowk.distinct(path, output=out) == str(out)
    assert out.read_text().splitlines() == list(dict.fromkeys(many))
    gowk.topk(path, 1, output=out)
    (count, word), = [line.split("\t") for line in out.read_text().splitlines()]
    assert int(count) == many.count(word)
    with pytest.raises(FileNotFoundError):
        gowk.distinct(tmp_path / "none", output=out)
    (tmp_path / "letters").write_text("1\nx\n")
    before = out.read_text()
    with pytest.raises(ValueError, match="x.*not an integer"):
        gowk.once(tmp_path / "letters", ints=True, output=out)
    assert out.read_text() == before and not list(tmp_path.glob(".gowk*"))
    with pytest.raises(OSError):
        gowk.distinct(path, output=tmp_path / "no folder" / "out")


def test_integers_that_come_once_ascend(tmp_path):
    (tmp_path / "ids").write_text("7\n-3\n+7\n12\n")
    assert list(gowk.once(tmp_path / "ids", ints=True)) == ["-3", "12"]


def test_compressed_files_bytes_and_odd_text(tmp_path):
    with gzip.open(tmp_path / "a.gz", "wb") as file:
        file.write(b"a\n\xff\na\n")
    assert list(gowk.distinct(tmp_path / "a.gz", text=False)) == [b"a", b"\xff"]
    assert [line.encode("utf-8", "surrogateescape") for line in gowk.distinct(tmp_path / "a.gz")] == [b"a", b"\xff"]
    (tmp_path / "zero").write_bytes(b"x\ny\0x\ny\0z\0")
    assert list(gowk.distinct(tmp_path / "zero", null=True)) == ["x\ny", "z"]
    (tmp_path / "empty").write_bytes(b"")
    assert list(gowk.distinct(tmp_path / "empty")) == [] == list(gowk.topk(tmp_path / "empty"))
    (tmp_path / "cut.gz").write_bytes((tmp_path / "a.gz").read_bytes()[:15])
    with pytest.raises(OSError, match="cut"):
        list(gowk.distinct(tmp_path / "cut.gz"))


def test_wrong_options_are_told(tmp_path):
    for wrong, kind in [
        (lambda: gowk.distinct(tmp_path / "none"), FileNotFoundError),
        (lambda: gowk.distinct(tmp_path), OSError),
        (lambda: gowk.distinct([]), ValueError),
        (lambda: gowk.distinct(__file__, which="some"), ValueError),
        (lambda: gowk.distinct(__file__, regex="("), ValueError),
        (lambda: gowk.distinct(__file__, field=1, delimiter="ab"), ValueError),
        (lambda: gowk.distinct(__file__, field=0), ValueError),
        (lambda: gowk.distinct(__file__, field=1, regex="x"), ValueError),
        (lambda: gowk.distinct(__file__, feild=1), TypeError),
        (lambda: gowk.distinct(__file__, memory="1G"), TypeError),
    ]:
        with pytest.raises(kind):
            wrong()


def test_progress_is_told_and_ends_at_the_whole(words):
    path, _ = words
    calls = []
    list(gowk.distinct(path, progress=lambda read, total: calls.append((read, total))))
    assert calls[-1][0] == path.stat().st_size == calls[-1][1]
    assert calls == sorted(calls)

    def fails(read, total):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        list(gowk.distinct(path, progress=fails))


def test_an_iterator_that_is_dropped_stops_its_job(words):
    path, _ = words
    before = threading.active_count()
    rows = gowk.distinct([path] * 50)
    next(rows)
    rows.close()
    with pytest.raises(StopIteration):
        next(rows)
    assert threading.active_count() == before
    tasks = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
    assert str(path) not in tasks


def test_ctrl_c_stops_a_job(tmp_path):
    # A pipe that nobody writes to: without an interrupt the job would wait for ever.
    os.mkfifo(tmp_path / "pipe")
    script = f"""
        import gowk
        print("begun", flush=True)
        try:
            gowk.distinct({str(tmp_path / "pipe")!r}, output={str(tmp_path / "out")!r})
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    with open(tmp_path / "pipe", "w") as pipe:
        pipe.write("a\n" * 10)
        pipe.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        # What it waits for in the middle of a read comes, and it sees that it is to stop.
        try:
            pipe.write("a\n" * 100_000)
        except BrokenPipeError:
            pass
    assert process.stdout.readline() == "stopped\n"
    assert process.wait(30) == 0
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".gowk*"))


def test_plans_rank_families():
    best = gowk.plan(10_000_000, 0.01)
    assert best[0].family == "blocked bloom" and 9.5 < best[0].bits_per_key < 10 and best[0].bytes == pytest.approx(12.4e6, rel=0.02)
    assert [choice.family for choice in gowk.plan(1000, deletes=True)] == ["cuckoo", "counting bloom"]
    assert gowk.plan(1_000_000, is_static=True, cost_miss=1.0)[0].family == "binary fuse"
    assert "binary fuse" in repr(gowk.plan(1_000_000, is_static=True, cost_miss=1.0)[0])
    for wrong in (dict(items=0), dict(items=10, fpp=2.0)):
        with pytest.raises(gowk.ParamsError):
            gowk.plan(**wrong)
