"""Attacks on finished studies that were invented after the repairs: whole files in the place of
others. What a study that is run again claims must be what an undisturbed one does, or be refused.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import lyceum
from fuzz import Finding
from lyceum import datasets
from lyceum.errors import LyceumError
from lyceum.studies.report import page as _report

__all__ = ["case", "make"]

REQUEST = {"learners": ["NaiveBayes", "LinearDiscriminantAnalysis"], "folds": 2}


def make() -> Path:
    """Two finished studies of the same data with other seeds, without pictures."""
    _report.render = lambda study, problems=None, content=None: (
        f"<!doctype html><title>{study.answer}</title>"
    )  # type: ignore
    folder = Path(tempfile.mkdtemp())
    for seed in (1, 2):
        _study(folder / str(seed), seed)
    return folder


def _study(folder: Path, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = datasets.path("penguins")
        lyceum.study(data, "species", out=folder, seed=seed, **REQUEST)


def case(folder: Path, rng: np.random.Generator) -> str:
    """Disturb a copy of the first study, run it again, and compare with the first."""
    damaged = folder / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(folder / "1", damaged)
    attacks: list[Callable[[Path, Path, np.random.Generator], str]]
    attacks = [_other_study, _other_fold, _order_of_rows, _one_number, _odd_files, _cut]
    how = attacks[rng.integers(len(attacks))](damaged, folder / "2", rng)
    try:
        _study(damaged, 1)
    except (LyceumError, OSError):
        return "refused"
    except Exception as error:
        raise Finding(f"{how}: run again, it ended in {error!r}") from error
    for name in ("model.lyceum", "recipe.toml"):
        if (damaged / name).read_bytes() != (folder / "1" / name).read_bytes():
            raise Finding(f"{how}: {name} is not that of an undisturbed study")
    for path in sorted((folder / "1" / "predictions").iterdir()):
        copy = damaged / "predictions" / path.name
        if not copy.is_file() or pq.read_table(copy) != pq.read_table(path):
            raise Finding(f"{how}: {path.name} is not that of an undisturbed study")
    return "as undisturbed"


def _other_study(damaged: Path, other: Path, rng: np.random.Generator) -> str:
    """A whole file of another study, with its time of change."""
    names = ["model.lyceum", "results.json", "recipe.toml", "report.json"]
    names += [f"predictions/{path.name}" for path in (other / "predictions").iterdir()]
    name = sorted(names)[rng.integers(len(names))]
    shutil.copy2(other / name, damaged / name)
    return f"{name} of another study"


def _other_fold(damaged: Path, other: Path, rng: np.random.Generator) -> str:
    """The predictions of one fold, or learner, in the place of another's."""
    files = sorted((damaged / "predictions").iterdir())
    first, second = rng.permutation(len(files))[:2]
    shutil.copy2(files[first], files[second])
    return f"{files[first].name} in the place of {files[second].name}"


def _order_of_rows(damaged: Path, other: Path, rng: np.random.Generator) -> str:
    """The same rows of a file of predictions in another order."""
    files = sorted((damaged / "predictions").iterdir())
    path = files[rng.integers(len(files))]
    table = pq.read_table(path)
    pq.write_table(table.take(rng.permutation(len(table))), path)
    return f"rows of {path.name} in another order"


def _one_number(damaged: Path, other: Path, rng: np.random.Generator) -> str:
    """One byte of the model's arrays, or of a file of predictions."""
    files = [damaged / "model.lyceum", *sorted((damaged / "predictions").iterdir())]
    path = files[rng.integers(len(files))]
    content = bytearray(path.read_bytes())
    index = int(rng.integers(len(content)))
    content[index] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)
    return f"bit of byte {index} of {path.name}"


def _odd_files(damaged: Path, other: Path, rng: np.random.Generator) -> str:
    """A folder, a link to nowhere or to another study, or an empty file in the place of a file."""
    files = sorted(path for path in damaged.rglob("*") if path.is_file())
    path = files[rng.integers(len(files))]
    path.unlink()
    kind = ["folder", "link to nowhere", "link to another study", "empty file"]
    how = kind[rng.integers(4)]
    if how == "folder":
        path.mkdir()
    elif how == "empty file":
        path.touch()
    elif how == "link to nowhere":
        path.symlink_to("nowhere")
    else:
        # what is written through the link must not reach the next case
        copy = damaged.parent / "linked"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(other, copy)
        path.symlink_to(copy / path.relative_to(damaged))
    return f"a {how} in the place of {path.name}"


def _cut(damaged: Path, other: Path, rng: np.random.Generator) -> str:
    """A file that ends early, as after a full disk."""
    files = sorted(path for path in damaged.rglob("*") if path.is_file())
    path = files[rng.integers(len(files))]
    length = int(rng.integers(path.stat().st_size + 1))
    os.truncate(path, length)
    return f"{path.name} cut off after {length} bytes"
