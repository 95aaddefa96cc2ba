"""What is public is there, sorted, and nothing is imported before it is needed."""

import gc
import importlib
import json
import pkgutil
import subprocess
import sys
from functools import cache

import pytest

import lyceum
from lyceum import catalog, datasets
from lyceum._core.first_use import import_on_first_use

DOORS = (
    "base",
    "data",
    "distances",
    "probability",
    "solvers",
    "statistics",
)  # of the private floor


def is_room(module):
    return (module.ispkg or module.name in DOORS) and not module.name.startswith("_")


PACKAGES = [
    "lyceum",
    *(
        f"lyceum.{room.name}"
        for room in pkgutil.iter_modules(lyceum.__path__)
        if is_room(room)
    ),
]
ROOMS = [
    *PACKAGES,
    "lyceum.catalog",
    "lyceum.errors",
    "lyceum.persist",
    "lyceum.report",
    "lyceum.syllabus",
]
HEAVY = {
    "numpy",
    "scipy",
    "sklearn",
    "pyarrow",
    "pandas",
    "rich",
    "skops",
    "lyceum._core.native",
}
PICTURES = {"matplotlib", "jinja2"}
# pandas is not here: pyarrow and scikit-learn import it themselves, where it is installed
OPTIONAL = {
    *PICTURES,
    "dask",
    "distributed",
    "duckdb",
    "gymnasium",
    "polars",
    "skops",
    "statsmodels",
}
# what scikit-learn takes a quarter of a second for, beyond sklearn.base
SLOW = {
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.pipeline",
}  # sklearn.preprocessing takes 0.02 s
# they inherit from scikit-learn's, whose sklearn.impute takes 0.06 s
IMPUTERS = {
    "from lyceum.prepare import KNNImputer",
    "from lyceum.prepare import SimpleImputer",
}


def order(name):
    """Constants, classes, functions; each by the alphabet."""
    return not name.isupper(), not name[0].isupper(), name


def command(words):
    return (
        f"sys.argv = ['lyceum', *{words!r}]\nfrom lyceum.cli import main\n"
        "try: main()\nexcept SystemExit as done: assert not done.code"
    )


LIGHT = [
    "import lyceum",
    "from lyceum import catalog; catalog.learners(); catalog.find('Ridge')",
    "from lyceum import syllabus; syllabus.rows()",
    "from lyceum import datasets; datasets.path('weather')",
    "from lyceum import cli",
]
COMMANDS = [
    command(words.split())
    for words in ("--help", "--version", "inspect --help", "learners --help")
]
SUMS = "import lyceum.cli.commands.inspect, lyceum.statistics"
RIDGE = ["catalog.find('Ridge').missing", "catalog.types(['lyceum.linear.Ridge'])"]
STUDY = """
def forget():
    for name in list(sys.modules):
        if name.startswith("lyceum") and "_native" not in name:
            del sys.modules[name]

def check():
    import lyceum
    from lyceum.studies import Recipe, Study, study
    from lyceum.studies.run.store import Store
    assert lyceum.study is study and callable(lyceum.study)
    assert lyceum.studies.Study is Study and lyceum.workflows.fit_file and lyceum.syllabus.rows
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
    # what stands for a module that was put off is none
    loaded = (
        "[n for n, m in sys.modules.items() if type(m).__name__ != 'DeferredModule']"
    )
    lines = [f"{code}\nfound.append({loaded})" for code in codes]
    code = "\n".join(
        [
            "import json, sys\nfound = []",
            *lines,
            "print(json.dumps(found), file=sys.stderr)",
        ]
    )
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
    assert not [
        public
        for public in importlib.import_module(name).__all__
        if public.startswith("_")
    ]


def test_every_room_is_an_attribute_of_lyceum():
    for name in PACKAGES[1:]:
        room = name.removeprefix("lyceum.")
        if "." not in room:
            assert room in dir(lyceum)
            assert getattr(lyceum, room) is importlib.import_module(name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lyceum.nothing


def test_study_is_the_function_whatever_was_imported_before():
    assert "lyceum.studies.main" in loaded_after()[STUDY]


def test_light_things_import_nothing_heavy():
    assert {code: loaded_after()[code] & HEAVY for code in LIGHT} == {
        code: set() for code in LIGHT
    }


def test_light_commands_import_nothing_heavy():
    assert {code: loaded_after()[code] & HEAVY for code in COMMANDS} == {
        code: set() for code in COMMANDS
    }


def test_reading_and_summing_import_no_scikit_learn():
    assert not {"sklearn", "pandas", "skops", "lyceum.base"} & loaded_after()[SUMS]


def test_a_flag_and_the_learners_that_a_file_names_import_no_more_than_their_class():
    assert (
        not {"lyceum.trees", "lyceum.bayes", "lyceum.neural"}
        & loaded_after()[RIDGE[-1]]
    )
    assert "lyceum.linear" in loaded_after()[RIDGE[0]]


def test_the_command_puts_off_what_scikit_learn_imports_for_itself():
    """A server starts without pandas and scipy.stats, and whoever uses them has the real ones."""
    code = """
import sys, threading
from lyceum.cli.deferred_imports import defer_imports
defer_imports()
import lyceum.serve.serving
names = ("pandas", "scipy.stats")
kinds = {type(sys.modules[name]).__name__ for name in names}
assert kinds == {"DeferredModule"}, kinds
import pandas as first
import scipy.stats
stand_in = sys.modules["scipy.stats"]
asked = []
threads = [threading.Thread(target=lambda: asked.append(stand_in.norm)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(asked) == 4 and len(set(map(id, asked))) == 1
import pandas.api.types
import pandas as second
from scipy.stats import norm
assert norm is asked[0] and abs(norm.cdf(1.96) - 0.975) < 1e-4
assert first.DataFrame is second.DataFrame is sys.modules["pandas"].DataFrame
assert type(second).__name__ == type(sys.modules["scipy.stats"]).__name__ == "module"
defer_imports()
assert sys.modules["pandas"] is second
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_command_takes_a_preparation_without_the_packages_beside_it():
    """SimpleImputer brings no metrics, and the pipeline no splines; all are there when asked."""
    code = """
import sys
from lyceum.cli.deferred_imports import defer_imports
defer_imports()
import sklearn.pipeline
from lyceum.prepare import SimpleImputer
for name in ("sklearn.metrics", "scipy.interpolate", "scipy.stats._stats_py"):
    assert name not in sys.modules, name
before = sklearn.impute.SimpleImputer
import sklearn.impute, sklearn.preprocessing
from sklearn.impute import KNNImputer
from sklearn.preprocessing import scale, PolynomialFeatures
assert sklearn.impute.SimpleImputer is before and issubclass(SimpleImputer, before)
assert "KNNImputer" in sklearn.impute.__all__
assert type(sys.modules["sklearn.impute"]).__name__ == "module"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# -- what only some commands and learners need -----------------------------------------

TABLE = str(datasets.path("penguins"))
STUDY_COMMAND = [
    "study",
    TABLE,
    "-t",
    "species",
    "--learners",
    "NaiveBayes",
    "--folds",
    "2",
]
STUDY_COMMAND += ["--settings", "1", "--no-committees", "-o", "out"]
ORDINARY = [
    ["--help"],
    ["inspect", TABLE],
    ["fit", TABLE, "-t", "species", "-l", "NaiveBayes", "-o", "model.lyceum"],
    ["predict", "model.lyceum", TABLE, "-o", "predicted.csv"],
    ["explain", "model.lyceum", TABLE],
    ["evaluate", "model.lyceum", TABLE],
    ["learners"],
    ["syllabus"],
    ["bayesnet", "query", "asia", "lung"],
    ["reduce", TABLE],
]
WITH_PICTURES = [["cluster", TABLE, "-k", "2"], STUDY_COMMAND]
# What the codes share is imported once; each of them goes on from there in a process of its own.
# So are packages that any code may import
IN_TURN = """
import json, os, sys
codes = json.loads(sys.stdin.read())
import sklearn.base
import pandas, pyarrow.parquet
import scipy.linalg, scipy.optimize, scipy.sparse.csgraph, scipy.spatial, scipy.special, scipy.stats
before = set(sys.modules)
import lyceum._core.base
for code in codes:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        exec(code)
        os.write(writing, json.dumps(sorted(set(sys.modules) - before)).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:
        print(pipe.read(), flush=True)
    os.waitpid(child, 0)
"""


def beyond_scikit_learn(codes, folder=None):
    """What each of the codes has imported beyond sklearn.base when it has run."""
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN],
        input=json.dumps(codes),
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert all(lines), done.stderr
    return dict(zip(codes, map(json.loads, lines), strict=True))


@pytest.mark.parametrize(
    ("commands", "needed"), [(ORDINARY, set()), (WITH_PICTURES, PICTURES)]
)
def test_commands_import_only_the_packages_that_they_need(commands, needed, tmp_path):
    codes = [f"import sys\n{command(words)}" for words in commands]
    for code, names in beyond_scikit_learn(codes, tmp_path).items():
        assert OPTIONAL & {name.partition(".")[0] for name in names} == needed, code
        if "'predict'" in code:  # half of its time are imports
            rare = {"sklearn.calibration", "sklearn.model_selection", "sklearn.svm"}
            assert not rare.intersection(names)


def test_a_learner_imports_what_it_needs():
    """200 modules take 0.15 s; the whole of Lyceum has 500. benchmarks/imports.py has the times."""
    rooms = [f"import {name}" for name in ROOMS if name != "lyceum"]
    # learners of one module bring the same, and one stands for them
    modules = {
        entry.load().__module__: f"from {entry.package} import {entry.name}"
        for entry in reversed(catalog.learners())
        if f"from {entry.package} import {entry.name}" not in IMPUTERS
    }
    learners = [*modules.values(), *sorted(IMPUTERS)]
    for code, names in beyond_scikit_learn([*rooms, *learners]).items():
        assert not OPTIONAL.intersection(name.partition(".")[0] for name in names), code
        assert sum(name.startswith("lyceum.") for name in names) <= 260, code
        if code not in IMPUTERS:
            assert not SLOW.intersection(names), code
        if code == "from lyceum.bayes import NaiveBayes":
            others = {
                "lyceum.linear",
                "lyceum.trees",
                "lyceum.cluster",
                "lyceum.ensemble",
            }
            assert not others.intersection(names)


def test_every_name_of_the_top_level_is_there():
    for name in dir(lyceum):
        assert getattr(lyceum, name) is not None


@pytest.mark.parametrize("is_on", [True, False])
def test_the_collector_is_after_an_import_as_it_was_before(is_on):
    find, _, _ = import_on_first_use(lyceum.linear.__name__)
    was_on = gc.isenabled()
    try:
        (gc.enable if is_on else gc.disable)()
        find("Ridge")
        assert gc.isenabled() is is_on
    finally:
        (gc.enable if was_on else gc.disable)()
