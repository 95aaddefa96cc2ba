"""A column with a category for every row names the rows: learners warn, and trees make no split by
it."""

import warnings

import numpy as np
import pandas as pd
import pytest

from lyceum.bayes import NaiveBayes
from lyceum.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from lyceum.linear import LogisticRegression
from lyceum.trees import (
    C45,
    CART,
    ID3,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ModelTreeRegressor,
)

N = 101
TREES = [
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(max_bins=32, random_state=0),
    DecisionTreeRegressor(random_state=0),
    ModelTreeRegressor(),
    ID3(),
    C45(),
    CART(random_state=0),
    RandomForestClassifier(n_estimators=5, random_state=0),
    RandomForestRegressor(n_estimators=5, random_state=0),
    ExtraTreesClassifier(n_estimators=5, random_state=0),
    HistGradientBoostingClassifier(max_iter=5, random_state=0),
    HistGradientBoostingRegressor(max_iter=5, random_state=0),
    AdaBoostClassifier(n_estimators=5, random_state=0),
    BaggingClassifier(n_estimators=5, random_state=0),
]


def zoo():
    """A table like Zoo: a name for every row, of which two are the same, and columns that tell the
    class."""
    rng = np.random.default_rng(3)
    legs, milk = rng.choice([0, 2, 4, 6], N), rng.choice(["no", "yes"], N)
    kind = np.where(milk == "yes", "mammal", np.where(legs == 6, "insect", "bird"))
    frame = pd.DataFrame(
        {
            "name": [f"animal {max(i, 1):03d}" for i in range(N)],
            "legs": legs,
            "milk": milk,
        }
    )
    return frame, kind


def target_for(learner, kind):
    return (
        kind
        if hasattr(learner, "predict_proba")
        else (kind == "mammal") * 2.0 + (kind == "insect")
    )


@pytest.mark.parametrize("learner", TREES, ids=lambda learner: repr(learner)[:40])
def test_a_tree_with_names_is_the_tree_without_them(learner):
    frame, kind = zoo()
    y = target_for(learner, kind)
    # a name that was seen, of a row of another kind
    new = frame.assign(name="animal 007")
    with pytest.warns(
        UserWarning, match="'name' has 100 categories in 101 rows and so names the rows"
    ):
        named = learner.fit(frame, y).predict(new)
    plain = learner.fit(frame.drop(columns="name"), y).predict(
        frame.drop(columns="name")
    )
    error = np.mean(plain != y) if y.dtype.kind == "U" else np.mean((plain - y) ** 2)
    named_error = (
        np.mean(named != y) if y.dtype.kind == "U" else np.mean((named - y) ** 2)
    )
    # forests draw other columns when there is one more; single trees are the same
    assert named_error <= error + (
        0.1
        if hasattr(learner, "n_estimators") or hasattr(learner, "max_iter")
        else 1e-12
    )


@pytest.mark.parametrize("learner", [NaiveBayes(), LogisticRegression()])
def test_other_learners_warn(learner):
    frame, kind = zoo()
    with pytest.warns(
        UserWarning,
        match=f"{type(learner).__name__} learns from it what holds for no other",
    ):
        learner.fit(frame, kind)


def test_no_warning_where_categories_repeat_or_rows_are_few():
    frame, kind = zoo()
    repeated = frame.assign(name=[f"group {i % 50}" for i in range(N)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DecisionTreeClassifier().fit(repeated, kind)
        ID3().fit(frame.head(14), kind[:14])  # the textbook's days


def test_categories_that_no_row_has_do_not_count():
    frame, kind = zoo()
    wide = pd.Categorical(
        ["a", "b"] * 50 + ["a"], categories=["a", "b", *map(str, range(200))]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DecisionTreeClassifier().fit(frame.assign(name=wide), kind)
