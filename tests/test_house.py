"""How the code reads, in numbers that `make house` shows: a law for those that we follow."""

import importlib.util
import sys
from pathlib import Path

import pytest

import lyceum

SOURCE = Path(lyceum.__file__).parent
SCRIPT = SOURCE.parents[1] / "tools/house.py"

# docs/design/decisions.md says why these, and why not others
MOST = {
    "tokens per line of code, mean": 8.5,
    "tokens per line of code, p90": 18,
    "conditional expressions per 1,000 lines": 7.5,
    "private functions called once per 1,000 lines": 5,
    "typed arguments that are Any, %": 8,
    "files per folder, most": 20,
    "lines of code in repeated runs of six, %": 4,
}
LEAST = {"comments, % of lines": 1.5, "functions with a return type, %": 95}


@pytest.fixture(scope="module")
def figures():
    if not SCRIPT.is_file():
        pytest.skip("an installed package has no tools")
    spec = importlib.util.spec_from_file_location("house", SCRIPT)
    house = importlib.util.module_from_spec(spec)
    sys.modules["house"] = house  # dataclasses look their module up
    spec.loader.exec_module(house)
    return house.figures(house.measure(SOURCE))


def test_lines_are_not_full_and_helpers_are_used(figures):
    assert {
        name: figures[name] for name, most in MOST.items() if figures[name] > most
    } == {}


def test_dense_phases_have_a_sentence(figures):
    assert {
        name: figures[name] for name, least in LEAST.items() if figures[name] < least
    } == {}
