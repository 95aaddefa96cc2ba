"""Models answer where nothing but NumPy, SciPy and scikit-learn is installed; the rest says what it
needs."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from lyceum.errors import MissingPackageError

SCRIPT = Path(__file__).parents[1] / "packaging" / "try_small.py"
NEEDS_ARROW = """
import numpy as np
from lyceum import datasets, scan
from lyceum.workflows import predict_file
from lyceum.bayes import NaiveBayes
from lyceum.errors import MissingPackageError

def refused(function, *arguments):
    try:
        function(*arguments)
    except MissingPackageError as error:
        return str(error)

model = NaiveBayes().fit(np.array([[1.5], [2.5], [4.0]]), np.array(["no", "no", "yes"]))
assert model.predict([[1.0]]).tolist() == ["no"]
path = datasets.path("penguins")
for function, arguments in ((scan, (path,)), (predict_file, (model, path, "out.csv"))):
    print(refused(function, *arguments))
"""


@pytest.fixture(scope="module")
def small():
    spec = importlib.util.spec_from_file_location("try_small", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def models(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    small.make(folder)
    return folder


def run(*arguments, folder=None):
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_models_answer_without_arrow(models):
    done = run(SCRIPT, "check", models, "--absent")
    assert done.returncode == 0, done.stderr
    assert "7 models answer as they did" in done.stdout


def test_the_blocker_blocks(models):
    done = run(SCRIPT, "make", models, "--absent")
    assert done.returncode == 1
    assert (
        "MissingPackageError: a table, a frame or a file needs pyarrow" in done.stderr
    )


def test_another_answer_is_noticed(small):
    with pytest.raises(AssertionError, match="predict of tree"):
        small.compare([1.0, 2.0], [1.0, 2.1], "predict of tree")
    with pytest.raises(AssertionError, match="predict of tree"):
        small.compare(["a"], ["b"], "predict of tree")


def test_what_needs_arrow_says_how_to_install_it(small, tmp_path):
    folder = str(SCRIPT.parent)
    blocker = (
        f"import sys\nsys.path.insert(0, {folder!r})\nfrom try_small import Absent\n"
    )
    done = run(
        "-c",
        f"{blocker}sys.meta_path.insert(0, Absent())\n{NEEDS_ARROW}",
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    sentence = (
        "a table, a frame or a file needs pyarrow, which is not installed: "
        "pip install pyarrow"
    )
    assert done.stdout.splitlines() == [sentence, sentence]


def test_a_module_of_arrow_is_imported_by_its_first_name(monkeypatch):
    from lyceum._core import lazy_arrow as _lazy_arrow

    module = _lazy_arrow._Module("pyarrow.compute")
    assert not hasattr(module, "__wrapped__")
    assert list(vars(module)) == ["__name__"]  # inspecting has imported nothing
    import pyarrow.compute as pc

    assert module.unique is pc.unique
    assert "unique" in vars(module)
    monkeypatch.setattr("lyceum._core.packages._is_installed", lambda package: False)
    with pytest.raises(MissingPackageError, match="pip install pyarrow"):
        _ = module.index_in
