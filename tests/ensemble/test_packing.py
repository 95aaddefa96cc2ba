"""Many trees in one file: joined and parted to the bit, small, quick to read, and checked."""

import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import lyceum
from lyceum._core.trees import ARRAYS, pack_trees, unpack_trees
from lyceum.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from lyceum.errors import ModelFileError
from lyceum.trees import C45, DecisionTreeClassifier

SIZES = {"n_estimators": 12, "random_state": 0}
ROUNDS = {"max_iter": 12, "random_state": 0}
LEARNERS = [
    RandomForestClassifier(**SIZES),
    RandomForestRegressor(**SIZES, max_bins=None),
    ExtraTreesRegressor(**SIZES),
    HistGradientBoostingClassifier(**ROUNDS),
    HistGradientBoostingRegressor(**ROUNDS),
]


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "c": pd.Categorical(rng.choice(["u", "v", "w", "x"], n)),
        }
    )
    z = X["a"] + (X["c"] == "u") + 0.5 * rng.normal(size=n)
    return X, np.digitize(z, [-0.3, 0.8]), z.to_numpy()


def fitted(learner):
    X, classes, z = table()
    learner = clone(learner)
    return X, learner.fit(X, classes if "Classifier" in type(learner).__name__ else z)


def of_size(learner, n, again=False):
    """A copy with this number of trees per output, or the fitted learner itself."""
    name = "max_iter" if "max_iter" in learner.get_params() else "n_estimators"
    return (learner if again else clone(learner)).set_params(**{name: n})


def same(a, b):
    """Whether two trees are the same to the bit and the type."""
    pairs = [(getattr(a, name), getattr(b, name)) for name in ARRAYS]
    return all(
        x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
        for x, y in pairs
    )


def trees(seed=0, **options):
    X, y, _ = table(seed=seed)
    multiway = C45(**options).fit(X, y).tree_
    learners = [
        DecisionTreeClassifier(**way).fit(X, y)
        for way in ({}, {"max_depth": 1}, {"min_samples_leaf": 200})
    ]
    intervals = DecisionTreeClassifier(continuous_split="multi_way").fit(X, y)
    return [multiway, intervals.tree_, *(learner.tree_ for learner in learners)]


def test_trees_of_every_kind_come_back_to_the_bit():
    before = trees()
    assert any(len(tree.cuts) for tree in before)
    assert any(len(tree.branches) for tree in before)
    after = unpack_trees(pack_trees(before))
    assert len(after) == len(before)
    assert all(map(same, before, after))


def test_weights_that_are_not_whole_and_negative_zeros_come_back_to_the_bit():
    one = trees()[0]
    odd = replace(
        one,
        weight=one.weight + 0.1,
        gain=np.full(one.n_nodes, -0.0),
        threshold=one.threshold * np.inf,
    )
    assert same(unpack_trees(pack_trees([odd, one]))[0], odd)


def test_counts_take_few_bytes():
    arrays = pack_trees(trees()[1:])  # without the fractions of C4.5
    assert arrays["node_values"].dtype.itemsize <= 2
    assert arrays["feature"].dtype.itemsize == 1
    assert arrays["impurity"].dtype == np.float64


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_pickles_and_files_predict_alike_and_hold_the_same_trees(learner, tmp_path):
    X, model = fitted(learner)
    loaded = lyceum.load(lyceum.save(model, tmp_path / "model"))
    for other in (pickle.loads(pickle.dumps(model)), loaded):
        assert type(other.trees_) is type(model.trees_)
        assert all(map(same, model.trees_, other.trees_))
        np.testing.assert_array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_files_do_not_grow_in_members_with_the_trees(learner, tmp_path):
    members = []
    for n in (3, 12):
        path = lyceum.save(fitted(of_size(learner, n))[1], tmp_path / f"{n}")
        members.append(len(zipfile.ZipFile(path).namelist()))
    # arrays of the same content are one member
    assert abs(members[1] - members[0]) <= 3
    assert members[1] < 40


@pytest.mark.parametrize("learner", LEARNERS[::2], ids=lambda one: type(one).__name__)
def test_a_loaded_ensemble_goes_on_growing(learner, tmp_path):
    X, classes, z = table()
    y = classes if "Classifier" in type(learner).__name__ else z
    whole = of_size(learner, 9).fit(X, y)
    half = of_size(learner, 4).set_params(warm_start=True).fit(X, y)
    half = of_size(
        lyceum.load(lyceum.save(half, tmp_path / "half")), 9, again=True
    ).fit(X, y)
    np.testing.assert_array_equal(half.predict(X), whole.predict(X))


def test_an_ensemble_that_is_not_fitted_is_saved_too(tmp_path):
    model = lyceum.load(
        lyceum.save(RandomForestClassifier(n_estimators=7), tmp_path / "new")
    )
    assert model.n_estimators == 7
    assert not hasattr(model, "trees_")


@pytest.mark.parametrize(
    "sizes",
    [
        [[2, 0, 0]],
        [[0, 0, 0]],
        [[1, -1, 0]],
        [[1, 0]],
        [[1.0, 0.0, 0.0]],
        np.zeros((0, 3), int),
    ],
)
def test_lengths_that_are_not_those_of_the_arrays_are_refused(sizes):
    arrays = pack_trees([trees()[-1]])
    assert len(arrays["feature"]) == 1
    with pytest.raises(ValueError, match="packed trees"):
        unpack_trees(arrays | {"sizes": np.array(sizes)})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"child": np.int32(10_000)}, "leads nowhere"),
        ({"feature": np.int32(3)}, "test unknown columns"),
        ({"child": np.int32(0)}, "leads nowhere"),
        ({"missing": np.int32(7)}, "leads nowhere"),
    ],
)
def test_files_whose_trees_lead_outside_are_refused(
    change, complaint, tmp_path, monkeypatch
):
    _, model = fitted(RandomForestClassifier(**SIZES, max_depth=2))
    first = model.trees_[0]
    arrays = {
        name: np.where(first.kind > 0, value, getattr(first, name))
        for name, value in change.items()
    }
    model.trees_ = (replace(first, **arrays), *model.trees_[1:])
    with monkeypatch.context() as patch:
        patch.setattr("lyceum.persist.model_checks.check_model", lambda model: None)
        path = lyceum.save(model, tmp_path / "evil")
    with pytest.raises(ModelFileError, match=complaint):
        lyceum.load(path)


def test_a_forest_of_counts_takes_less_than_half_of_its_arrays():
    _, model = fitted(RandomForestClassifier(n_estimators=60, random_state=0))
    arrays = sum(getattr(tree, name).nbytes for tree in model.trees_ for name in ARRAYS)
    assert 2 * len(pickle.dumps(model)) < arrays
