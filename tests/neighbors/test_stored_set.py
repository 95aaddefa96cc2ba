"""Growing, condensing and editing the stored rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import lyceum
from lyceum.distances import pairwise
from lyceum.errors import ModelFileError
from lyceum.neighbors import KNeighborsClassifier, KNeighborsRegressor, condense, edit

pytestmark = pytest.mark.syllabus("10.8")


def overlapping(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 2)) + 2.0 * y[:, None], y


@pytest.mark.syllabus("10.8.2")
def test_condensed_rows_classify_all_rows_right():
    X, y = overlapping()
    kept = condense(X, y)
    assert 10 < len(kept) < 200
    near = pairwise(X, X[kept]).argmin(axis=1)
    assert (y[kept][near] == y).all()
    model = KNeighborsClassifier(1, prototypes="condensed").fit(X, y)
    np.testing.assert_array_equal(model.rows_, X[kept])
    assert (model.predict(X) == y).all()
    assert model.n_rows_ == 300


def test_condensing_goes_through_the_rows_in_order_as_hart_does():
    X, y = overlapping(80, seed=2)
    kept = list(np.unique(y, return_index=True)[1])
    changed = True
    while changed:
        changed = False
        for i in range(len(X)):
            d = ((X[sorted(kept)] - X[i]) ** 2).sum(axis=1)
            if i not in kept and y[sorted(kept)][d.argmin()] != y[i]:
                kept.append(i)
                changed = True
    assert condense(X, y).tolist() == sorted(kept)


def test_equal_rows_of_different_classes_do_not_loop():
    assert condense([[0.0], [0.0], [1.0]], [0, 1, 0]).tolist() == [0, 1]


def test_edited_rows_are_those_that_their_neighbors_classify_right():
    X, y = overlapping(150, seed=3)
    d = pairwise(X)
    np.fill_diagonal(d, np.inf)
    near = np.argsort(d, axis=1, kind="stable")[:, :3]
    right = np.flatnonzero((y[near].mean(axis=1) > 0.5) == y)
    assert edit(X, y).tolist() == right.tolist()
    model = KNeighborsClassifier(1, prototypes="edited").fit(X, y)
    np.testing.assert_array_equal(model.rows_, X[right])
    both = KNeighborsClassifier(1, prototypes="edited_condensed").fit(X, y)
    assert len(both.rows_) < len(model.rows_) / 3
    assert "edited and condensed" in str(both.summary())


@pytest.mark.syllabus("10.8.1")
def test_a_condensed_set_grows_only_by_rows_that_it_misclassifies():
    X, y = overlapping(200, seed=4)
    model = KNeighborsClassifier(1, prototypes="condensed")
    for rows in np.array_split(np.arange(200), 10):
        before = len(model.rows_) if hasattr(model, "rows_") else 0
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
        assert len(model.rows_) - before < len(rows)
        assert (model.predict(X[rows]) == y[rows]).all()
    assert model.n_rows_ == 200


def test_metrics_that_learn_are_learned_again_when_rows_come():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"a": rng.normal(size=60), "town": rng.choice(["Ulm", "Bonn", "Köln"], 60)}
    )
    frame = frame.sort_values("town", ignore_index=True)
    frame.loc[::7, "a"] = np.nan
    y, t = rng.integers(0, 2, 60), rng.normal(size=60)
    for kind, target in ((KNeighborsClassifier, y), (KNeighborsRegressor, t)):
        for metric in ("gower", "value_difference"):
            whole, parts = kind(metric=metric).fit(frame, target), kind(metric=metric)
            for rows in np.array_split(np.arange(60), 3):
                parts.partial_fit(frame.iloc[rows], target[rows])
            np.testing.assert_allclose(parts.predict(frame), whole.predict(frame))


@pytest.mark.parametrize(
    "metric", ["gower", "value_difference", "mahalanobis", "cosine"]
)
def test_a_model_file_keeps_the_metric(metric, tmp_path):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    model = KNeighborsClassifier(3, metric=metric).fit(X, y)
    loaded = lyceum.load(lyceum.save(model, tmp_path / "m.skops"))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    loaded.targets_ = np.full(50, 7, dtype=np.int32)
    with pytest.raises(ModelFileError, match="no classes"):
        loaded._check_model()
    loaded.targets_, loaded.rows_ = model.targets_, model.rows_[:3]
    with pytest.raises(ModelFileError):
        loaded._check_model()


@pytest.mark.parametrize("select", [condense, edit])
def test_sparse_rows_are_selected_like_dense_ones(select):
    X, y = overlapping(60)
    np.testing.assert_array_equal(select(csr_array(X), y), select(X, y))
