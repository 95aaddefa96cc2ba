"""Without packages that only some parts need the rest works, and one sentence says what is
lacking."""

import json
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest
from tests.forks import COMMAND, Forks, by_command

import lyceum
from lyceum import datasets
from lyceum._core import packages as _packages
from lyceum.cli.commands import doctor as _doctor

ROOT = Path(__file__).parents[1]
ABSENT = [
    "matplotlib",
    "jinja2",
    "markupsafe",
    "pandas",
    "polars",
    "duckdb",
    "skops",
    "dask",
    "distributed",
]
REPORT = 'pip install "lyceum-ml[report]"'
BLOCKER = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
{COMMAND}"""
PENGUINS = str(datasets.path("penguins"))


@pytest.fixture(scope="module")
def run():
    """A command where the packages are absent."""
    with Forks(BLOCKER) as forks:
        yield lambda folder, *words: forks.run("main()", *words, folder=folder)


@pytest.fixture(scope="module")
def answer(run):
    """What it says, where it succeeds."""

    def said(folder, *words):
        done = run(folder, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return said


@pytest.fixture(scope="module")
def folder(tmp_path_factory, answer):
    folder = tmp_path_factory.mktemp("plain")
    answer(
        folder,
        "fit",
        PENGUINS,
        "-t",
        "species",
        "-l",
        "NaiveBayes",
        "-o",
        "model.lyceum",
    )
    return folder


def test_a_model_is_used_without_them(folder, answer):
    answer(
        folder, "predict", "model.lyceum", PENGUINS, "-o", "predicted.csv", "--proba"
    )
    assert (
        len((folder / "predicted.csv").read_text(encoding="utf-8").splitlines()) == 345
    )
    assert "posterior" in answer(
        folder, "explain", "model.lyceum", PENGUINS, "--row", "0"
    )
    measured = json.loads(
        answer(folder, "evaluate", "model.lyceum", PENGUINS, "--json")
    )
    assert measured


@pytest.mark.parametrize(
    "command",
    [
        ["inspect", PENGUINS],
        ["learners"],
        ["syllabus"],
        ["doctor", "--json"],
        ["reduce", PENGUINS],
        ["bayesnet", "query", "asia", "lung"],
        ["bayesnet", "draw", "asia", "-o", "asia.dot"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_other_commands_work_without_them(command, folder, run):
    done = run(folder, *command)
    assert done.returncode in ((0, 1) if command[0] == "doctor" else (0,)), done.stderr
    assert done.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["reduce", PENGUINS, "--report", "page.html"],
        ["bayesnet", "draw", "asia", "-o", "asia.png"],
        ["segment", "photo.png"],
    ],
    ids=lambda command: command[0],
)
def test_a_picture_is_refused_before_the_work_in_one_sentence(command, folder, run):
    done = run(folder, *command)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert f"needs matplotlib, which is not installed: {REPORT}" in done.stderr


def test_clusters_are_written_without_their_report(folder, run):
    done = run(folder, "cluster", PENGUINS, "--clusters", "2")
    assert done.returncode == 0
    assert REPORT in done.stderr
    assert (folder / "clusters.csv").exists()
    assert not (folder / "clusters.html").exists()


def test_a_study_finishes_without_its_report_and_writes_it_when_it_is_run_again(
    folder, run
):
    command = [
        "study",
        PENGUINS,
        "-t",
        "species",
        "--learners",
        "NaiveBayes",
        "--folds",
        "2",
        "-o",
        "out",
    ]
    command += ["--settings", "1", "--no-committees"]
    done = run(folder, *command)
    assert done.returncode == 0, done.stderr
    assert f"jinja2, which are not installed: {REPORT}" in done.stderr.splitlines()[0]
    assert "The report was left out" in " ".join(done.stdout.split())
    out = folder / "out"
    assert (out / "model.lyceum").exists()
    assert (out / "results.json").exists()
    assert not (out / "report.html").exists()
    again = by_command(["lyceum", *command], folder)
    assert (out / "report.html").exists()
    assert "left out" not in again


def test_a_file_of_duckdb_names_the_package(folder, run):
    (folder / "x.duckdb").write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 100)
    assert (
        "needs duckdb, which is not installed: pip install duckdb"
        in run(folder, "inspect", "x.duckdb").stderr
    )


def test_a_plot_names_the_extra_and_is_an_import_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match="needs matplotlib, which is not installed"
    ) as raised:
        from lyceum.plot import roc  # noqa: F401
    assert REPORT in str(raised.value)
    assert isinstance(raised.value, lyceum.errors.LyceumError)


def test_the_extras_are_those_of_the_project():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]["optional-dependencies"]
    for extra, packages in _packages.EXTRAS.items():
        listed = " ".join(extras[extra])
        assert all(package.replace("_", "-") in listed for package in packages)
        assert extra in extras["all"][0]
    required = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]["dependencies"]
    assert not [line for line in required if line.split(">")[0] in ABSENT]


# -- the name --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "warns"),
    [
        ("lyceum-0.3.dist-info", True),
        ("lyceum_ml-0.1.0.dist-info", False),
        ("lyceum-0.3.txt", False),
    ],
)
def test_another_distribution_of_the_name_is_said_at_import(other, warns, tmp_path):
    (tmp_path / other).mkdir()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lyceum._warn_of_namesake(str(tmp_path))
    assert [str(warning.message) for warning in caught] == [_packages.NAMESAKE] * warns


def test_the_import_looks_beside_the_package(tmp_path):
    (tmp_path / "lyceum").symlink_to(Path(lyceum.__file__).parent)
    (tmp_path / "lyceum-0.3.dist-info").mkdir()
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import lyceum, lyceum.catalog"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("pip uninstall lyceum, then pip install") == 1


def test_a_folder_that_cannot_be_listed_is_no_fault(tmp_path):
    lyceum._warn_of_namesake(str(tmp_path / "nothing"))


def test_the_doctor_names_another_distribution(monkeypatch):
    monkeypatch.setattr(_doctor, "_version_of", lambda name: "0.3")
    monkeypatch.setattr(
        _doctor, "_kernels", lambda: {"picked": None, "error": "", "self-check": {}}
    )
    found = _doctor.examine()
    assert found["namesake"] == _packages.NAMESAKE
    assert any("pip uninstall lyceum" in text for _, text in _doctor._lines(found))


def test_every_document_installs_lyceum_ml():
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").glob("*.md"),
    ]:
        text = path.read_text(encoding="utf8")
        assert "pip install lyceum\n" not in text
        assert "pip install lyceum " not in text
        assert "pip install lyceum`" not in text
        assert 'pip install "lyceum[' not in text
    assert "pip install lyceum-ml" in (ROOT / "README.md").read_text(encoding="utf8")
