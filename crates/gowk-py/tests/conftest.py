"""What all tests share: the families, and how one is made of keys."""

import pytest

import gowk


def maker(family, items):
    """Makes filters of this family, for so many keys unless told otherwise."""
    return lambda **more: family(**{"items": items, "fpp": 0.01, **more})


MUTABLE = {
    "BlockedBloom": maker(gowk.BlockedBloom, 2000),
    "Bloom": maker(gowk.Bloom, 2000),
    "SplitBlockBloom": maker(gowk.SplitBlockBloom, 2000),
    "ScalableBloom": maker(gowk.ScalableBloom, 100),
    "CountingBloom": maker(gowk.CountingBloom, 2000),
    "Cuckoo": maker(gowk.Cuckoo, 2000),
    "Window": maker(gowk.Window, 2000),
}


def build(family, keys, **more):
    """A filter of this family with these keys in it."""
    if family == "BinaryFuse":
        return gowk.BinaryFuse(keys, fpp=0.01, **more)
    made = MUTABLE[family](**more)
    made.update(keys)
    return made


@pytest.fixture(params=[*MUTABLE, "BinaryFuse"])
def family(request):
    return request.param


@pytest.fixture(params=list(MUTABLE))
def mutable(request):
    return request.param


@pytest.fixture
def empty(mutable):
    return MUTABLE[mutable]()


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also what takes minutes: clusters, millions of rows")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--long"):
        items[:] = [item for item in items if "long" not in item.keywords]


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; runs with --long only")
