"""Folders of finished studies with damaged files: opened and gone on with, or refused by a
sentence."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import warnings
from contextlib import closing
from pathlib import Path

import numpy as np

import lyceum
from fuzz import Finding
from fuzz.mutations import mutate_bytes
from lyceum import datasets
from lyceum.errors import LyceumError
from lyceum.studies import Study
from lyceum.studies.report import page as _report

__all__ = ["case", "make"]

REQUEST = {"learners": ["NaiveBayes"], "folds": 2, "seed": 1}


def make() -> Path:
    """A finished study, without pictures, and a copy to damage beside it."""
    _report.render = lambda study, problems=None, content=None: (
        f"<!doctype html><title>{study.answer}</title>"
    )  # type: ignore
    folder = Path(tempfile.mkdtemp())
    lyceum.study(datasets.path("penguins"), "species", out=folder / "whole", **REQUEST)
    return folder


def case(folder: Path, rng: np.random.Generator) -> str:
    """Damage one file, or one cell of the store, then open the study and run it again."""
    shutil.rmtree(folder / "damaged", ignore_errors=True)
    shutil.copytree(folder / "whole", folder / "damaged")
    how = damage(folder / "damaged", rng)
    outcome = "opened"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for use in (_open, _run_again):
            try:
                use(folder / "damaged")
            except (LyceumError, OSError):
                outcome = "refused"
            except Exception as error:
                raise Finding(f"{how}: {use.__name__} ended in {error!r}") from error
    return outcome


def _open(folder: Path) -> None:
    Study.open(folder).as_dict()


def _run_again(folder: Path) -> None:
    lyceum.study(datasets.path("penguins"), "species", out=folder, **REQUEST)


def damage(folder: Path, rng: np.random.Generator) -> str:
    """Change a file of the study at random; what was changed."""
    if rng.random() < 0.5:
        return _change_cell(folder / "study.sqlite", rng)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = files[rng.integers(len(files))]
    if rng.random() < 0.2:
        path.unlink()
        return f"{path.name} removed"
    path.write_bytes(mutate_bytes(path.read_bytes(), rng))
    return f"{path.name} changed"


def _change_cell(path: Path, rng: np.random.Generator) -> str:
    with closing(sqlite3.connect(path)) as connection, connection:
        records = connection.execute(
            "select kind, learner, value from record where value not null"
        )
        stored = records.fetchall()
        kind, learner, text = stored[rng.integers(len(stored))]
        changed = mutate_bytes(text.encode(), rng).decode("utf8", "replace")
        value = [changed, "null", "[]", "{}", "3", '"x"'][rng.integers(6)]
        connection.execute(
            "update record set value = ? where (kind, learner) = (?, ?)",
            (value, kind, learner),
        )
    return f"record {kind} from {text[:60]!r} to {value[:60]!r}"
