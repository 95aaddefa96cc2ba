"""The perceptron: mistakes, their bound, and the verdict on separability."""

import warnings

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as Theirs

from lyceum.linear import Perceptron

# as on paper: rows in their order, until no mistake is left
PAPER = {"shuffle": False, "tol": None}


def separable(seed=0, n=80, d=3, classes=2, gap=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, d))
    X[np.arange(n), y % d] += 4 + gap
    return X, y


def by_hand(X, y, passes):
    """Row after row in plain Python."""
    Z = np.column_stack([X, np.ones(len(X))])
    w, mistakes = np.zeros(Z.shape[1]), []
    for _ in range(passes):
        count = 0
        for z, side in zip(Z, np.where(y == 1, 1, -1)):
            if side * (w @ z) <= 0:
                w, count = w + side * z, count + 1
        mistakes.append(count)
    return w, mistakes


@pytest.mark.syllabus("7.7")
@pytest.mark.parametrize("thin", [False, True])
def test_passes_are_those_made_by_hand(thin):
    rng = np.random.default_rng(0)
    X, y = rng.normal(3, 1, (60, 4)), rng.integers(0, 2, 60)
    model = Perceptron(**PAPER, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="overlap"):
        model.fit(sparse.csr_array(X) if thin else X, y)
    w, mistakes = by_hand(X, y, 3)
    assert model.history_ == mistakes
    assert model.mistakes_ == sum(mistakes)
    assert not model.separable_
    assert np.isnan(model.margin_)
    assert_allclose(model.coef_[0], w[:-1], rtol=1e-9)
    assert_allclose(model.intercept_, w[-1], rtol=1e-9)
    assert model.t_ == 181.0


@pytest.mark.syllabus("7.7")
@given(
    st.integers(0, 1000),
    st.sampled_from([2, 3]),
    st.sampled_from(["ovr", "joint"]),
    st.booleans(),
)
def test_separable_classes_are_separated_within_the_mistake_bound(
    seed, classes, multi_class, shuffle
):
    X, y = separable(seed, classes=classes)
    model = Perceptron(
        multi_class=multi_class,
        center=True,
        tol=None,
        shuffle=shuffle,
        max_iter=100_000,
    ).fit(X, y)
    assert model.separable_
    assert_array_equal(model.predict(X), y)
    assert model.mistakes_ <= model.mistake_bound_
    assert model.history_[-1] == 0


@pytest.mark.syllabus("7.7")
def test_margin_and_radius_are_those_of_the_rows():
    X, y = separable()
    model = Perceptron(**PAPER, center=True).fit(X, y)
    length = np.hypot(
        np.linalg.norm(model.coef_), model.intercept_ + model.coef_ @ X.mean(axis=0)
    )
    margins = np.where(y == 1, 1, -1) * model.decision_function(X) / length
    assert_allclose(model.margin_, margins.min(), rtol=1e-9)
    lengths = np.sqrt(1 + ((X - X.mean(axis=0)) ** 2).sum(axis=1))
    assert_allclose(model.radius_, lengths.max(), rtol=1e-12)
    assert_allclose(
        model.mistake_bound_, (lengths.max() / margins.min()) ** 2, rtol=1e-9
    )


def test_the_learning_rate_scales_the_weights_and_changes_no_decision():
    X, y = separable()
    one = Perceptron(**PAPER).fit(X, y)
    half = Perceptron(**PAPER, eta0=0.5).fit(X, y)
    assert_allclose(half.coef_, one.coef_ / 2)
    assert half.history_ == one.history_
    assert half.mistake_bound_ == pytest.approx(one.mistake_bound_)


def test_an_offset_of_a_million_changes_nothing():
    X, y = separable()
    model = Perceptron(**PAPER, center=True)
    before = model.fit(X, y).history_
    moved = model.fit(X + 1e6, y)
    assert moved.history_ == before
    assert_array_equal(moved.predict(X + 1e6), y)


def test_rows_of_no_weight_are_passed_over():
    X, y = separable()
    extra, w = np.vstack([X, -X]), np.repeat([1.0, 0.0], len(y))
    model = Perceptron(**PAPER, max_iter=10_000)
    model.fit(extra, np.concatenate([y, y]), w)
    assert model.separable_
    assert_array_equal(model.predict(X), y)


def test_the_record_keeps_every_pass():
    X, y = separable()
    model = Perceptron(**PAPER, center=True, record=True).fit(X, y)
    assert [step["mistakes"] for step in model.record_] == model.history_
    assert_array_equal(model.record_[-1]["coef"], model.coef_)
    for word in ("separable", "yes", "mistakes at most", "(intercept)"):
        assert word in str(model.summary())
    assert_allclose(model.explain(X).scores, model.decision_function(X), rtol=1e-9)


def test_one_class_needs_no_pass():
    model = Perceptron().fit([[1.0], [2.0]], ["a", "a"])
    assert model.predict([[5.0]]).tolist() == ["a"]
    assert model.mistakes_ == 0


@pytest.mark.syllabus("7.7.1")
def test_an_exercise_comes_out_row_by_row_as_on_paper():
    """AND from the weights (1, 1) and -1/2 with steps of 1/2: a mistake where y (w x + b) is not
    above 0."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [-1, -1, -1, 1]
    start = {"coef_init": [1.0, 1.0], "intercept_init": -0.5}
    model = Perceptron(**PAPER, eta0=0.5, record="steps").fit(X, y, **start)
    first = [[1, 1, -0.5], [1, 0.5, -1], [0.5, 0.5, -1.5], [1, 1, -1]]
    second = [[1, 1, -1], [1, 0.5, -1.5], [1, 0.5, -1.5], [1.5, 1, -1]]
    third = [[1.5, 1, -1], [1.5, 0.5, -1.5], [1, 0.5, -2], [1.5, 1, -1.5]]
    for step, want in zip(model.record_, (first, second, third)):
        assert_array_equal(step["rows"], want)
    assert model.history_[:3] == [3, 2, 3]
    assert model.separable_
    assert np.isnan(model.mistake_bound_)
    assert_array_equal(model.predict(X), y)
    plain = Perceptron(**PAPER, eta0=0.5).fit(X, y, **start)
    assert_array_equal(plain.coef_, model.coef_)
    assert_array_equal(plain.intercept_, model.intercept_)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("center", [True, False])
def test_a_start_goes_on_where_another_stopped(multi_class, center):
    X, y = separable(3, classes=3, gap=-3.5)
    settings = {**PAPER, "center": center, "multi_class": multi_class}
    with pytest.warns(ConvergenceWarning, match="Perceptron made"):
        whole = Perceptron(max_iter=4, record="steps", **settings).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        half = Perceptron(max_iter=2, warm_start=True, **settings).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        rest = Perceptron(max_iter=2, **settings).fit(
            X, y, coef_init=half.coef_, intercept_init=half.intercept_
        )
    with pytest.warns(ConvergenceWarning):
        half.fit(X, y)
    for model in (rest, half):
        assert_allclose(model.coef_, whole.coef_, rtol=1e-9)
        assert_allclose(model.intercept_, whole.intercept_, rtol=1e-9)
    last = whole.record_[-1]["rows"][-1].reshape(-1, X.shape[1] + 1)
    assert_allclose(last, np.column_stack([whole.coef_, whole.intercept_]), rtol=1e-9)


def test_a_start_that_does_not_fit_is_refused():
    X, y = separable()
    with pytest.raises(ValueError, match=r"shape \(1, 3\) and 1 intercepts"):
        Perceptron().fit(X, y, coef_init=[1.0, 2.0])


# -- beside scikit-learn's -------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"tol": 1e-3},
        {"tol": 0.2, "n_iter_no_change": 2},
        {"penalty": "l2", "alpha": 0.01},
        {"penalty": "l1", "alpha": 0.02, "eta0": 0.1},
        {"penalty": "l2", "alpha": 0.05, "tol": 1e-2},
        {"penalty": "elasticnet", "alpha": 0.05, "l1_ratio": 0.4},
        {"fit_intercept": False},
        {"class_weight": {0: 0.5, 1: 3.0}},
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_those_of_scikit_learn(settings, classes):
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, 70)
    X = rng.normal(size=(70, 4)) + np.eye(4)[y]
    w = rng.uniform(0.5, 2.0, 70)
    settings = {"tol": None, "max_iter": 12, "shuffle": False} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = Perceptron(**settings).fit(X, y, w)
        theirs = Theirs(**settings).fit(X, y, sample_weight=w)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.t_ == theirs.t_


def test_the_order_of_rows_is_drawn_by_the_seed_and_does_not_depend_on_the_source():
    X, y = separable(gap=-2.0)
    first, again, other = (
        Perceptron(random_state=seed).fit(X, y).coef_ for seed in (0, 0, 1)
    )
    assert_array_equal(first, again)
    assert (first != other).any()
    sparse_rows = Perceptron().fit(sparse.csr_array(X), y)
    assert_allclose(sparse_rows.coef_, first, rtol=1e-12)
    streamed = Perceptron().fit(da.from_array(X, (7, 3)), da.from_array(y, 7))
    assert_allclose(streamed.coef_, first, rtol=1e-12)


def test_early_stopping_judges_by_rows_that_were_not_learned_from():
    X, y = separable(gap=-2.5, n=200)
    settings = {"early_stopping": True, "validation_fraction": 0.3, "tol": 0.5}
    model = Perceptron(**settings).fit(X, y)
    # 140 rows a pass; no pass is better than the first by half of all rows
    assert model.n_iter_ == 6
    assert model.t_ == 6 * 140 + 1
    with pytest.raises(ValueError, match="early_stopping should be False"):
        model.partial_fit(X, y)
