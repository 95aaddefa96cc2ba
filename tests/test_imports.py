"""What is public is there, sorted, and nothing is imported before it is needed."""

import importlib
import json
import pkgutil
import subprocess
import sys
from functools import cache

import pytest

import lyceum

PACKAGES = [
    "lyceum",
    *(f"lyceum.{room.name}" for room in pkgutil.iter_modules(lyceum.__path__) if room.ispkg),
]
ROOMS = [*PACKAGES, "lyceum.catalog", "lyceum.errors", "lyceum.persist", "lyceum.report", "lyceum.syllabus"]
HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "pandas", "skops", "lyceum._native"}


def order(name):
    """Constants, classes, functions; each by the alphabet."""
    return not name.isupper(), not name[0].isupper(), name


def command(arguments):
    return (
        f"sys.argv = ['lyceum', *{arguments.split()!r}]\nfrom lyceum.cli import main\n"
        "try: main()\nexcept SystemExit as done: assert not done.code"
    )


LIGHT = [
    "import lyceum",
    "from lyceum import catalog; catalog.learners(); catalog.find('Ridge')",
    "from lyceum import syllabus; syllabus.rows()",
    "from lyceum import datasets; datasets.path('weather')",
    "from lyceum import cli",
]
COMMANDS = [*map(command, ["--help", "--version", "inspect --help", "learners --help", "syllabus"])]
SUMS = "import lyceum.cli._inspect, lyceum.statistics"
RIDGE = ["catalog.find('Ridge').missing", "catalog.types(['lyceum.linear.Ridge'])"]
STUDY = """
def forget():
    for name in [name for name in sys.modules if name.startswith("lyceum") and "_native" not in name]:
        del sys.modules[name]

def check():
    import lyceum
    from lyceum.studies import Recipe, Study, study
    from lyceum.studies._store import Store
    assert lyceum.study is study and callable(lyceum.study)
    assert lyceum.studies.Study is Study and lyceum.apply.fit_file and lyceum.syllabus.rows
    from lyceum import study as again
    assert again is study

forget()
from lyceum import study
check()
forget()
from lyceum.studies import Study, Recipe
import lyceum
assert lyceum.study is not study  # it is a second import
check()
"""


@cache
def loaded_after():
    """The modules that a fresh interpreter has after each of the codes, one after the other."""
    codes = [*LIGHT, *COMMANDS, SUMS, *RIDGE, STUDY]
    lines = [f"{code}\nfound.append(list(sys.modules))" for code in codes]
    code = "\n".join(["import json, sys\nfound = []", *lines, "print(json.dumps(found), file=sys.stderr)"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(codes, map(set, json.loads(done.stderr)), strict=True))


@pytest.mark.parametrize("name", ROOMS)
def test_public_names_are_sorted_and_importable(name):
    room = importlib.import_module(name)
    assert list(room.__all__) == sorted(room.__all__, key=order)
    assert len(set(room.__all__)) == len(room.__all__)
    assert all(hasattr(room, public) for public in room.__all__)


@pytest.mark.parametrize("name", PACKAGES[1:])
def test_a_package_exports_nothing_private(name):
    assert not [public for public in importlib.import_module(name).__all__ if public.startswith("_")]


def test_every_room_is_an_attribute_of_lyceum():
    for name in PACKAGES[1:]:
        room = name.removeprefix("lyceum.")
        if "." not in room:
            assert room in dir(lyceum)
            assert getattr(lyceum, room) is importlib.import_module(name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lyceum.nothing


def test_study_is_the_function_whatever_was_imported_before():
    assert "lyceum.studies._study" in loaded_after()[STUDY]


def test_light_things_import_nothing_heavy():
    assert {code: loaded_after()[code] & HEAVY for code in LIGHT} == {code: set() for code in LIGHT}


def test_light_commands_import_nothing_heavy():
    assert {code: loaded_after()[code] & HEAVY for code in COMMANDS} == {code: set() for code in COMMANDS}


def test_reading_and_summing_import_no_scikit_learn():
    assert not {"sklearn", "pandas", "skops", "lyceum.base"} & loaded_after()[SUMS]


def test_a_flag_and_the_learners_that_a_file_names_import_no_more_than_their_class():
    assert not {"lyceum.trees", "lyceum.bayes", "lyceum.neural"} & loaded_after()[RIDGE[-1]]
    assert "lyceum.linear" in loaded_after()[RIDGE[0]]
