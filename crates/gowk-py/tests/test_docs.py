"""What the docstrings and the pages show is so."""

import doctest
import re
from pathlib import Path

import gowk

PAGE = Path(__file__).parents[3] / "docs" / "python.md"


def test_the_examples_of_docstrings_run():
    tests = [test for test in doctest.DocTestFinder().find(gowk, "gowk", globs=vars(gowk).copy()) if test.examples]
    assert len(tests) >= 12, [test.name for test in tests]
    runner = doctest.DocTestRunner()
    for test in tests:
        runner.run(test)
    assert runner.summarize().failed == 0


def test_the_page_names_what_there_is():
    text = PAGE.read_text()
    for name in re.findall(r"\bgowk\.([A-Za-z_]+)\(", text):
        assert hasattr(gowk, name), name
    from gowk import spark

    for name in re.findall(r"\bgs\.([a-z_]+)\(", text):
        assert name in spark.__all__, name
    for name in gowk.__all__:
        if name[0].isupper() and name not in ("Filter", "MutableFilter", "IntegerSet", "Stats", "Heavy", "Choice"):
            assert name in text, f"{name} is not in the page"
