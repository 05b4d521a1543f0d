"""`gowk.redis` on real servers: one node, and a cluster of three."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import gowk
from gowk import redis
from gowk.redis import asyncio as aredis

SERVER = shutil.which("redis-server") or shutil.which("valkey-server")
CLI = os.environ.get("GOWK_CLI")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(folder, *options):
    assert SERVER, "redis-server must be installed for these tests"
    folder.mkdir()
    port = free_port()
    command = [SERVER, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    say(port, "PING")
    return process, port


def say(port, line):
    """The first line of the answer; waits for a server that has just been started."""
    for _ in range(600):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as stream:
                stream.sendall(line.encode() + b"\r\n")
                return stream.makefile().readline().strip()
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"no server at {port}")


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    process, port = start(tmp_path_factory.mktemp("redis") / "one")
    yield f"redis://127.0.0.1:{port}"
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    # The bus of a node is 10,000 above its port unless said.
    nodes = [
        start(folder / str(node), "--cluster-enabled", "yes", "--cluster-port", str(free_port())) for node in range(3)
    ]
    share = 16384 // 3 + 1
    for at, (_, port) in enumerate(nodes):
        assert say(port, f"CLUSTER ADDSLOTSRANGE {at * share} {min(16383, at * share + share - 1)}") == "+OK"
        assert say(port, f"CLUSTER SET-CONFIG-EPOCH {at + 1}") == "+OK"
    first = nodes[0][1]
    for process, port in nodes[1:]:
        bus = process.args[process.args.index("--cluster-port") + 1]
        assert say(first, f"CLUSTER MEET 127.0.0.1 {port} {bus}") == "+OK"
    for _, port in nodes:
        for _ in range(1200):
            with socket.create_connection(("127.0.0.1", port)) as stream:
                stream.sendall(b"CLUSTER INFO\r\n")
                told = stream.recv(4096)
            if b"cluster_state:ok" in told and b"cluster_known_nodes:3" in told:
                break
            time.sleep(0.05)
        else:
            raise AssertionError(told)
    yield f"redis://127.0.0.1:{first}"
    for process, _ in nodes:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def servers(url):
    return redis.Servers(url)


@pytest.fixture
def name(request):
    return request.node.name


def test_what_one_puts_in_another_finds(url, name):
    ours = redis.create(url, name, items=10_000, fpp=0.001)
    assert ours.add("a") and not ours.add("a")
    theirs = redis.open(url, name)
    assert "a" in theirs and "b" not in theirs and theirs.contains(b"a")
    assert (theirs.name, theirs.items, theirs.seed) == (name, 10_000, ours.seed)
    assert name in repr(theirs)


@pytest.mark.parametrize(
    "keys",
    [
        np.arange(5000),
        np.array([f"k{i}" for i in range(5000)], "S8"),
        pa.chunked_array([[f"k{i}" for i in range(2500)], [f"k{i}" for i in range(2500, 5000)]]),
        [*range(2500), *(f"k{i}" for i in range(2500))],
    ],
    ids=["numpy ints", "numpy bytes", "arrow", "list"],
)
def test_arrays_go_in_and_are_found(servers, name, keys):
    seen = servers.create(name.replace(" ", ""), items=20_000, fpp=0.0001)
    new = seen.add_many(keys)
    assert new.dtype == bool and new.sum() > 4900
    assert seen.contains_many(keys).all()
    assert seen.contains_many([f"other{i}" for i in range(5000)]).sum() < 20
    assert 4800 < seen.info(exact=True).estimated_items < 5200


def test_nulls_are_said_or_left_out(servers, name):
    seen = servers.create(name, items=100)
    with pytest.raises(ValueError, match="1 of 3 keys are null"):
        seen.update(pa.array(["a", None, "b"]))
    seen.update(pa.array(["a", None, "b"]), nulls="skip")
    assert seen.contains_many(pa.array([None, "a", None, "b"]), nulls="skip").tolist() == [False, True, False, True]


def test_it_answers_as_the_filter_that_is_downloaded_and_uploaded_again(servers, name):
    seen = servers.create(name, items=5000, fpp=0.01, seed=7)
    seen.update(range(5000))
    local = seen.download()
    assert isinstance(local, gowk.BlockedBloom) and local.seed == seen.seed
    asked = np.arange(100_000)
    answers = local.contains_many(asked)
    assert (seen.contains_many(asked) == answers).all() and 5000 < answers.sum() < 7000
    again = servers.upload(name + "2", local)
    assert (again.contains_many(asked) == answers).all()
    more = local.copy()
    more.clear()
    more.update(["x", "y"])
    again.update(more, ["z"])
    assert again.contains_many(["x", "y", "z"]).all()


def test_a_counting_filter_forgets_what_is_removed(servers, name):
    counts = servers.create_counting(name, items=1000, fpp=0.001)
    counts.update(["a", "b", "b"])
    assert counts.count_many(["a", "b", "c"]) == [1, 2, 0] and counts.count("b") == 2
    counts.remove("a")
    assert "a" not in counts and "b" in counts
    with pytest.raises(KeyError):
        counts.remove("a")
    assert counts.remove_many(["b", "c"]).tolist() == [True, False] and not counts.discard("c")
    opened = servers.open(name)
    assert isinstance(opened, redis.Counting) and opened.count("b") == 1
    assert isinstance(counts.download(), gowk.CountingBloom)
    assert isinstance(servers.upload(name + "2", counts.download()), redis.Counting)
    assert servers.kind(name) == "counting"


def test_it_clears_expires_and_is_dropped(servers, name):
    seen = servers.create(name, items=1000)
    seen.add("a")
    seen.clear()
    assert "a" not in seen and seen.info().fill == 0
    seen.expire(1000)
    assert 900 < seen.info().expires_in <= 1000
    seen.expire(None)
    assert seen.info().expires_in is None
    servers.drop(name)
    assert servers.kind(name) is None
    with pytest.raises(redis.NotFoundError):
        servers.open(name)
    with pytest.raises(redis.RedisError):
        seen.add("a")


def test_mistakes_are_told(servers, url, name):
    with pytest.raises(redis.NotFoundError, match="no filter 'none'|no filter \"none\""):
        servers.open("none")
    servers.create(name, items=1000)
    with pytest.raises(redis.ExistsError, match="2000"):
        servers.create(name, items=2000)
    with pytest.raises(gowk.ParamsError):
        servers.create("other", items=0)
    with pytest.raises(ValueError, match="URL"):
        redis.Servers("http://127.0.0.1")
    with pytest.raises(ValueError, match="URL"):
        redis.Servers([])
    with pytest.raises(ValueError, match="patience"):
        redis.Servers(url, patience=-1)
    with pytest.raises(TypeError, match="a key is str, bytes or int, not float"):
        servers.open(name).add(1.5)
    with pytest.raises(TypeError, match="is one key"):
        servers.open(name).update("text")
    with pytest.raises(TypeError, match="BlockedBloom and CountingBloom, not Cuckoo"):
        servers.upload("cuckoo", gowk.Cuckoo(["a"]))
    with pytest.raises(gowk.MergeError):
        servers.open(name).update(gowk.BlockedBloom(["a"]))
    assert issubclass(redis.NoServerError, ConnectionError) and issubclass(redis.RedisError, OSError)


def test_nobody_there_is_a_connection_error():
    with pytest.raises(ConnectionError, match="no answer from 127.0.0.1") as told:
        redis.Servers(f"redis://:secret@127.0.0.1:{free_port()}", patience=0.2)
    assert isinstance(told.value, redis.NoServerError) and "secret" not in str(told.value)


def test_a_batch_that_fails_says_which_keys(tmp_path):
    process, port = start(tmp_path / "one")
    seen = redis.create(f"redis://127.0.0.1:{port}", "seen", items=1000, patience=0.2, response_timeout=1)
    process.kill()
    process.wait()
    with pytest.raises(redis.RedisError, match="3 of 3 keys failed") as told:
        seen.update(["a", "b", "c"])
    assert told.value.failed == [0, 1, 2]


def test_a_part_that_vanished_is_no_denial(servers, url, name):
    seen = servers.create(name, items=1000)
    seen.add("a")
    port = int(url.rsplit(":", 1)[1])
    say(port, "EVAL \"for _,k in ipairs(redis.call('KEYS','*')) do if redis.call('TYPE',k).ok=='string' and redis.call('STRLEN',k)>1000 "
        "then redis.call('DEL',k) end end\" 0")
    with pytest.raises(redis.LostError, match="vanished"):
        seen.contains("a")


def test_ctrl_c_ends_the_waiting(tmp_path):
    text = """
        import os, signal, socket, threading, time
        from gowk import redis
        silent = socket.create_server(("127.0.0.1", 0))
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        times = dict(connect_timeout=60, response_timeout=60, patience=60)
        try:
            redis.Servers("redis://127.0.0.1:%d" % silent.getsockname()[1], **times)
        except KeyboardInterrupt:
            print("stopped", time.monotonic() - start < 30)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=100)
    assert done.stdout.strip() == "stopped True", done.stderr


def test_after_a_fork_it_says_so_instead_of_waiting_for_ever(servers, name):
    seen = servers.create(name, items=100)
    child = os.fork()
    if child == 0:
        try:
            seen.add("a")
        except RuntimeError as error:
            os._exit(7 if "fork" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_threads_share_a_connection(servers, name):
    import concurrent.futures

    seen = servers.create(name, items=20_000, fpp=0.0001)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda part: seen.update(range(part * 1000, part * 1000 + 1000)), range(16)))
    assert seen.contains_many(range(16_000)).all()


@pytest.mark.skipif(CLI is None, reason="GOWK_CLI names the command line")
def test_the_command_line_finds_what_python_put_in(servers, url, name, tmp_path):
    seen = servers.create(name, items=1000, fpp=0.0001)
    seen.update(["a", "b"])
    (tmp_path / "asked").write_text("a\nx\nb\n")
    done = subprocess.run([CLI, "redis", "query", name, tmp_path / "asked", "--url", url], capture_output=True, text=True)
    assert done.stdout.split() == ["a", "b"], done.stderr


def test_a_cluster_is_one_filter(cluster, name):
    servers = redis.Servers(cluster)
    assert servers.masters == 3
    seen = servers.create(name, items=100_000, fpp=0.001)
    seen.update(np.arange(50_000))
    assert seen.contains_many(np.arange(50_000)).all()
    assert seen.contains_many(np.arange(50_000, 100_000)).mean() < 0.005
    assert redis.open([cluster], name).info().shards >= 4


def test_asyncio_does_all_of_it(url, cluster, name):
    async def use(url):
        servers = await aredis.connect(url)
        seen = await servers.create(name, items=10_000, fpp=0.0001)
        assert await seen.add("a") and not await seen.add("a")
        # All on their way at once.
        assert all(await asyncio.gather(*(seen.add(f"k{i}") for i in range(500))))
        assert all(await asyncio.gather(*(seen.contains(f"k{i}") for i in range(500))))
        await seen.update(np.arange(3000), ["x"])
        assert (await seen.contains_many(np.arange(3000))).all() and not await seen.contains("never")
        assert (await seen.info(exact=True)).estimated_items > 3000
        local = await seen.download()
        assert "x" in local and seen.seed == local.seed and name in repr(seen)
        again = await servers.upload(name + "2", local)
        await again.update(local)
        assert await again.contains("x")
        await again.clear()
        await again.expire(100)
        assert not await again.contains("x") and (await again.info()).expires_in <= 100
        counts = await servers.create_counting(name + "3", items=100)
        await counts.update(["a", "a"])
        await counts.remove("a")
        assert await counts.count("a") == 1 and await counts.discard("a") and not await counts.discard("a")
        with pytest.raises(KeyError):
            await counts.remove("a")
        assert isinstance(await servers.open(name + "3"), aredis.Counting)
        for more in ("", "2", "3"):
            await servers.drop(name + more)
        assert await servers.kind(name) is None
        with pytest.raises(aredis.NotFoundError):
            await servers.open(name)
        with pytest.raises(TypeError, match="not float"):
            await seen.add(1.5)

    asyncio.run(use(url))
    asyncio.run(use(cluster))


def test_a_loop_that_has_ended_is_not_told(url, name):
    async def leave():
        servers = await aredis.connect(url)
        seen = await servers.create(name, items=100)
        asyncio.ensure_future(seen.update(range(50)))
        await asyncio.sleep(0)

    for _ in range(5):
        asyncio.run(leave())
    assert redis.open(url, name).info().items == 100


def test_the_page_names_what_there_is():
    text = (Path(__file__).parents[3] / "docs" / "python.md").read_text()
    for word in ("redis.create(", "redis.Servers(", "create_counting(", "upload(", "download(", "aredis.connect(", "RedisError"):
        assert word in text, word
    assert {*redis.__all__} - {*aredis.__all__} == {"create", "open"}
    for ours, theirs in ((redis.Bloom, aredis.Bloom), (redis.Counting, aredis.Counting), (redis.Servers, aredis.Servers)):
        words = {word for word in dir(ours) if not word.startswith("_")}
        assert words == {word for word in dir(theirs) if not word.startswith("_")}
        assert all(getattr(ours, word).__doc__ and getattr(theirs, word).__doc__ for word in words)
