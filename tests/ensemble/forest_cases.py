"""Tables and forests for the tests of random forests."""

import numpy as np
import pandas as pd

from lyceum._core.trees import Tree
from lyceum.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]


def table(n=300, seed=0, gaps=0.0):
    """A mixed frame, classes and numbers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.normal(1e6, 2.0, size=n),
            "noise": rng.normal(size=n),
            "color": pd.Categorical(
                rng.choice(["red", "green", "blue", "gray"], size=n)
            ),
        }
    )
    score = (
        frame.a
        + (frame.b - 1e6) / 2
        + 2 * (frame.color == "red")
        + 0.5 * rng.normal(size=n)
    )
    lost = rng.random(frame.shape) < gaps
    labels = np.array(["low", "mid", "top"])[np.digitize(score, [0, 1.5])]
    return (
        frame.mask(pd.DataFrame(lost, columns=frame.columns)),
        labels,
        score.to_numpy(),
    )


def target_of(kind, labels, score):
    return score if kind in REGRESSORS else labels


def assert_same(a, b):
    assert len(a.trees_) == len(b.trees_)
    for one, other in zip(a.trees_, b.trees_):
        for name in Tree.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
