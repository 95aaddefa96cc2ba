"""Extreme cells, targets, weights and rows asked about, put to every learner: a finite answer, or a
refusal by name."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from sklearn.base import clone
from tests.checks.cases import learner_named
from tests.checks.extremes import EXTREMES, Extreme, examine
from tests.checks.source_laws import cut_short
from tests.checks.tables import Data

from fuzz import Finding, fitted
from lyceum import catalog

__all__ = ["case", "make"]

LARGEST = 1.7e308


def make() -> list[Any]:
    """Every cataloged learner, with settings for few rows."""
    names = [entry.name for entry in catalog.learners()[:: fitted.EVERY]]
    return [cut_short(learner_named(name)) for name in names]


def case(learners: list[Any], rng: np.random.Generator) -> Counter[str]:
    """Put some changes to one learner."""
    learner = learners[rng.integers(len(learners))]
    counts = Counter[str]()
    for _ in range(5):
        changes = [_draw(rng) for _ in range(rng.integers(1, 4))]
        name = " and ".join(change.name for change in changes)
        seed = int(rng.integers(1000))
        extreme = Extreme(name, _one_after_the_other(changes))
        outcomes, broken = examine(clone(learner), extreme, seed)
        if broken:
            raise Finding(f"{learner} on {name}, data {seed}: {'; '.join(broken)}")
        counts["cases"] += 1
        counts += outcomes
    return counts


def _draw(rng: np.random.Generator) -> Extreme:
    """One of the grid, or cells at random powers of ten, or fewer classes."""
    which = rng.integers(4)
    if which == 0:
        names = list(EXTREMES)
        return EXTREMES[names[rng.integers(len(names))]]
    if which == 1:
        return Extreme("cells at random powers", _random_powers)
    if which == 2:
        return Extreme("two classes", _two_classes)
    return Extreme("random weights", _random_weights)


def _one_after_the_other(changes: list[Extreme]) -> Any:
    def change(data: Data, rng: np.random.Generator) -> tuple[Data, np.ndarray]:
        w = np.ones(len(data.X))
        asked = data.X[:7]
        for extreme in changes:
            data, asked = extreme.change(data, rng)
            if (data.w != 1.0).any() and len(data.w) == len(data.X):
                w = data.w
        if len(w) != len(data.X):
            w = np.ones(len(data.X))
        return Data(_bounded(data.X), data.y, w), _bounded(asked)

    return change


def _bounded(X: np.ndarray) -> np.ndarray:
    return np.clip(np.nan_to_num(X, nan=0.0), -LARGEST, LARGEST)


def _random_powers(data: Data, rng: np.random.Generator) -> tuple[Data, np.ndarray]:
    X = data.X.copy()
    some = rng.random(X.shape) < rng.choice([0.02, 0.2, 1.0])
    X[some] = np.sign(X[some]) * 10.0 ** rng.uniform(-320, 308, some.sum())
    return Data(X, data.y, data.w), X[rng.integers(len(X), size=7)]


def _two_classes(data: Data, rng: np.random.Generator) -> tuple[Data, np.ndarray]:
    y = data.y
    if y is not None and y.dtype.kind != "f":
        y = np.where(y == "ant", "ant", "bee")
    return Data(data.X, y, data.w), data.X[:7]


def _random_weights(data: Data, rng: np.random.Generator) -> tuple[Data, np.ndarray]:
    w = 10.0 ** rng.uniform(*rng.choice([(-320, 100), (-5, 5), (-150, 0)]), len(data.X))
    w[rng.random(len(w)) < 0.3] = 0.0
    w[rng.integers(len(w))] = 1.0
    return Data(data.X, data.y, w), data.X[:7]
