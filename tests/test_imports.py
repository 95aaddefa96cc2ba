"""What is public is there, sorted, and nothing is imported before it is needed."""

import importlib
import json
import pkgutil
import subprocess
import sys

import pytest

import lyceum

PACKAGES = [
    "lyceum",
    *(f"lyceum.{room.name}" for room in pkgutil.iter_modules(lyceum.__path__) if room.ispkg),
]
ROOMS = [*PACKAGES, "lyceum.catalog", "lyceum.errors", "lyceum.persist", "lyceum.report", "lyceum.syllabus"]
HEAVY = ("numpy", "scipy", "sklearn", "pyarrow", "pandas", "skops", "lyceum._native")


def order(name):
    """Constants, classes, functions; each by the alphabet."""
    return not name.isupper(), not name[0].isupper(), name


def loaded_after(codes):
    """The heavy modules that a fresh interpreter has after each of the codes, one after the other."""
    loaded = f"[name for name in {HEAVY!r} if name in sys.modules]"
    lines = [f"{code}\nfound.append({loaded})" for code in codes]
    code = "\n".join(["import json, sys\nfound = []", *lines, "print(json.dumps(found), file=sys.stderr)"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(zip(codes, json.loads(done.stderr), strict=True))


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
    code = """
import sys
def check():
    import lyceum
    from lyceum.studies import Recipe, Study, study
    from lyceum.studies._store import Store
    assert lyceum.study is study and callable(lyceum.study)
    assert lyceum.studies.Study is Study and lyceum.apply.fit_file and lyceum.syllabus.rows
    from lyceum import study as again
    assert again is study

from lyceum import study
check()
for name in [name for name in sys.modules if name.startswith("lyceum") and "_native" not in name]:
    del sys.modules[name]
from lyceum.studies import Study, Recipe
import lyceum
assert lyceum.study is not study  # it is a second import
check()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_light_things_import_nothing_heavy():
    codes = [
        "import lyceum",
        "from lyceum import catalog; catalog.learners(); catalog.find('Ridge')",
        "from lyceum import syllabus; syllabus.rows()",
        "from lyceum import datasets; datasets.path('weather')",
        "from lyceum import cli",
    ]
    assert loaded_after(codes) == {code: [] for code in codes}


def test_light_commands_import_nothing_heavy():
    commands = ["--help", "--version", "inspect --help", "learners --help", "syllabus"]
    codes = [
        f"sys.argv = ['lyceum', *{arguments.split()!r}]\nfrom lyceum.cli import main\n"
        "try: main()\nexcept SystemExit as done: assert not done.code"
        for arguments in commands
    ]
    assert loaded_after(codes) == {code: [] for code in codes}
