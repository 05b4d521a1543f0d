"""What all tests share: the families, and how one is made of keys."""

import pytest

import gowk

MUTABLE = {
    "BlockedBloom": lambda **more: gowk.BlockedBloom(items=2000, fpp=0.01, **more),
    "Bloom": lambda **more: gowk.Bloom(items=2000, fpp=0.01, **more),
    "SplitBlockBloom": lambda **more: gowk.SplitBlockBloom(items=2000, fpp=0.01, **more),
    "ScalableBloom": lambda **more: gowk.ScalableBloom(items=100, fpp=0.01, **more),
    "CountingBloom": lambda **more: gowk.CountingBloom(items=2000, fpp=0.01, **more),
    "Cuckoo": lambda **more: gowk.Cuckoo(items=2000, fpp=0.01, **more),
    "Window": lambda **more: gowk.Window(items=2000, fpp=0.01, **more),
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
