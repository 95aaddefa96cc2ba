"""Recipes and loss files: understood, or refused by name."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from fuzz.mutations import mutate_bytes, mutate_json
from lyceum.errors import LyceumError
from lyceum.probability import LossMatrix
from lyceum.studies import Recipe

__all__ = ["case", "make"]

RECIPE: dict[str, Any] = {
    "data": "credit.csv",
    "target": "class",
    "kinds": {"age": "continuous", "job": "categorical"},
    "ignore": ["id"],
    "keep": ["name"],
    "weight": "w",
    "learners": [
        "NaiveBayes",
        {"name": "Ridge", "settings": {"alpha": 1.0}},
        {"name": "Lasso", "search": {"alpha": {"low": 0.01, "high": 10.0, "scale": "log"}}},
        {"name": "C45", "search": {"min_samples_leaf": [1, 2, 5]}},
    ],
    "loss": {"classes": ["bad", "good"], "costs": [[0.0, 5.0], [1.0, 0.0]]},
    "doubt": 0.3,
    "folds": 10,
    "repeats": 1,
    "inner_folds": 5,
    "holdout": 0.2,
    "bootstrap_632": True,
    "choose": "best",
    "seed": 3,
    "budget_minutes": 2.5,
    "memory_mb": 100,
}
LOSSES = ("true,bad,good\nbad,0,5\ngood,1,0\n", ",a,b,doubt\na,0,1,0.3\nb,2,0,0.3\n")


def make() -> Path:
    return Path(tempfile.mkdtemp())


def case(folder: Path, rng: np.random.Generator) -> str:
    """Change a recipe by its values or its text, or the text of a loss file, and read it."""
    try:
        if rng.random() < 0.3:
            (folder / "loss.csv").write_bytes(mutate_bytes(str(rng.choice(LOSSES)).encode(), rng))
            LossMatrix.read(folder / "loss.csv")
        else:
            (folder / "recipe.toml").write_bytes(recipe(rng))
            Recipe.read(folder / "recipe.toml")
    except LyceumError:
        return "refused"
    return "read"


def recipe(rng: np.random.Generator) -> bytes:
    """A recipe with some values replaced, or some bytes."""
    values = {name: _changed(value, rng) for name, value in RECIPE.items()}
    try:
        text = tomli_w.dumps(values).encode()
    except (TypeError, ValueError):  # None and the like, which TOML does not have
        text = tomli_w.dumps(RECIPE).encode()
    return mutate_bytes(text, rng) if rng.random() < 0.5 else text


def _changed(value: Any, rng: np.random.Generator, share: float = 0.01) -> Any:
    if rng.random() < share:
        return mutate_json(value, rng)
    if isinstance(value, dict):
        return {name: _changed(item, rng) for name, item in value.items()}
    if isinstance(value, list):
        return [_changed(item, rng) for item in value]
    return value
