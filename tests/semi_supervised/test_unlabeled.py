"""Rows without a label: self-training, EM and label propagation."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn.semi_supervised
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as SkLogistic

import lyceum
from lyceum.bayes import (
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from lyceum.data import scan
from lyceum.errors import DataError, SettingError
from lyceum.kernels import LinearSVC
from lyceum.linear import LogisticRegression
from lyceum.semi_supervised import (
    LabelPropagation,
    LabelSpreading,
    SelfTrainingClassifier,
    SemiSupervisedEM,
)
from lyceum.semi_supervised.label_graph import neighbor_graph, propagate, spread


def two_groups(n=200, known=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3)) + 3.5 * y[:, None]
    given = np.full(n, -1)
    for k in (0, 1):
        given[np.flatnonzero(y == k)[: known // 2]] = k
    return X, y, given


ALL = [
    SelfTrainingClassifier(),
    SemiSupervisedEM(),
    LabelPropagation("nearest", gamma=None),
    LabelSpreading("nearest", gamma=None),
]


@pytest.mark.syllabus("15.1")
@pytest.mark.parametrize("learner", ALL, ids=lambda one: type(one).__name__)
def test_unlabeled_is_minus_one_none_nan_or_a_missing_cell(learner, tmp_path):
    X, y, given = two_groups()
    expected = learner.fit(X, given).predict(X)
    assert (expected == y).mean() > 0.97
    for missing in (
        np.where(given < 0, np.nan, given),
        [None if k < 0 else int(k) for k in given],
    ):
        np.testing.assert_array_equal(
            learner.fit(X, missing).predict(X).astype(int), expected
        )
    names = [None if k < 0 else ["no", "yes"][k] for k in given]
    told = learner.fit(pd.DataFrame(X, columns=list("abc")), names)
    frame = pd.DataFrame(X, columns=list("abc"))
    np.testing.assert_array_equal(
        told.predict(frame), np.array(["no", "yes"])[expected]
    )
    table = pa.table(
        {**{name: X[:, j] for j, name in enumerate("abc")}, "y": pa.array(names)}
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    read = learner.fit(scan(tmp_path / "rows.parquet", target="y", memory=0))
    np.testing.assert_array_equal(
        read.predict(frame), np.array(["no", "yes"])[expected]
    )


@pytest.mark.parametrize("learner", ALL, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("marked", [np.nan, -1])
def test_labels_may_be_missing_in_dask_collections(learner, marked):
    da = pytest.importorskip("dask.array")
    X, _, given = two_groups()
    y = np.where(given < 0, marked, given)  # a partition may have no label at all
    model = learner.fit(da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50))
    np.testing.assert_array_equal(
        model.predict(X).astype(int), learner.fit(X, given).predict(X)
    )


@pytest.mark.parametrize("learner", ALL, ids=lambda one: type(one).__name__)
def test_classes_may_be_called_minus_one_and_one(learner):
    X, y, _ = two_groups()
    model = learner.fit(X, 2 * y - 1)
    assert model.classes_.tolist() == [-1, 1]
    with pytest.raises(DataError, match="no row has a label"):
        learner.fit(X, [None] * len(y))


@pytest.mark.syllabus("15.1.2")
@pytest.mark.parametrize(
    "estimator",
    [NaiveBayes(estimate="raw", var_smoothing=0.0), QuadraticDiscriminantAnalysis()],
)
def test_the_likelihood_of_em_never_falls(estimator):
    X, _, given = two_groups(known=16)
    model = SemiSupervisedEM(estimator, tol=0.0, max_iter=30).fit(X, given)
    history = np.array(model.history_)
    assert len(history) > 3
    assert (np.diff(history[1:]) >= -1e-8 * np.abs(history[1:-1])).all()


@pytest.mark.syllabus("15.1")
def test_one_step_of_em_is_a_weighted_fit_by_hand():
    X, _, given = two_groups(known=10)
    first = NaiveBayes().fit(X[given >= 0], given[given >= 0])
    model = SemiSupervisedEM(max_iter=1, unlabeled_weight=0.3).fit(X, given)
    hidden, known = given < 0, given >= 0
    proba = first.predict_proba(X[hidden])
    rows = np.vstack([X[known], X[hidden], X[hidden]])
    labels = np.concatenate(
        [given[known], np.zeros(hidden.sum(), int), np.ones(hidden.sum(), int)]
    )
    w = np.concatenate([np.ones(known.sum()), 0.3 * proba[:, 0], 0.3 * proba[:, 1]])
    by_hand = NaiveBayes().fit(rows, labels, w)
    np.testing.assert_allclose(model.estimator_.means_, by_hand.means_, rtol=1e-10)
    np.testing.assert_allclose(
        model.predict_proba(X), by_hand.predict_proba(X), atol=1e-12
    )


@pytest.mark.syllabus("15.1")
def test_unlabeled_rows_help_over_twenty_seeds():
    alone, together = [], []
    for seed in range(20):
        X, y, given = two_groups(known=4, seed=seed)
        alone.append(NaiveBayes().fit(X[given >= 0], given[given >= 0]).score(X, y))
        together.append(SemiSupervisedEM().fit(X, given).score(X, y))
    assert np.mean(together) > np.mean(alone) + 0.05


@pytest.mark.syllabus("15.1.1")
def test_self_training_labels_the_surest_first():
    X, y, given = two_groups(known=10)
    model = SelfTrainingClassifier(
        LogisticRegression(), criterion="k_best", k_best=20, max_iter=3
    ).fit(X, given)
    assert [one["labeled"] for one in model.record_] == [20, 20, 20]
    assert model.termination_condition_ == "max_iter"
    first = (
        LogisticRegression()
        .fit(X[given >= 0], given[given >= 0])
        .predict_proba(X)
        .max(axis=1)
    )
    chosen = model.labeled_iter_ == 1
    assert first[chosen].min() >= first[(given < 0) & ~chosen].max() - 1e-12
    everything = SelfTrainingClassifier(SkLogistic(), threshold=0.5, max_iter=None).fit(
        X, given
    )
    assert everything.termination_condition_ == "all_labeled"
    assert everything.score(X, y) > 0.95


def test_self_training_says_what_it_does_not_need_or_cannot_do():
    X, y, given = two_groups(known=10)
    with pytest.warns(UserWarning, match="y contains no unlabeled samples"):
        assert SelfTrainingClassifier().fit(X, y + 2).n_iter_ == 0
    with pytest.warns(UserWarning, match="k_best is larger than"):
        model = SelfTrainingClassifier(criterion="k_best", k_best=900).fit(X, given)
    assert model.n_iter_ == 1
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
        SelfTrainingClassifier(LinearSVC()).fit(X, given)


def test_self_training_gives_the_scores_of_its_classifier():
    X, _, given = two_groups(known=10)
    model = SelfTrainingClassifier(LogisticRegression()).fit(X, given)
    inner = model.estimator_.decision_function(X)
    np.testing.assert_array_equal(model.decision_function(X), inner)
    np.testing.assert_allclose(
        model.predict_log_proba(X), np.log(model.predict_proba(X))
    )
    assert not hasattr(SelfTrainingClassifier(), "decision_function")


def test_em_needs_a_density():
    X, _, given = two_groups()
    for estimator in (LogisticRegression(), LinearDiscriminantAnalysis()):
        with pytest.raises(
            SettingError, match="QuadraticDiscriminantAnalysis for Gaussian classes"
        ):
            SemiSupervisedEM(estimator).fit(X, given)


# -- graphs ----------------------------------------------------------------------------


@pytest.mark.syllabus("15.1")
@pytest.mark.parametrize("is_dense", [False, True])
def test_spreading_and_propagation_equal_their_closed_forms(is_dense):
    X, _, given = two_groups(60, known=10)
    W, _ = neighbor_graph(X, 5, "nearest", None)
    dense = W.toarray()
    np.testing.assert_array_equal(dense, dense.T)
    if is_dense:
        W = dense
    Y = np.zeros((60, 2))
    known = np.flatnonzero(given >= 0)
    Y[known, given[known]] = 1.0
    degree = dense.sum(axis=1)
    S = dense / np.sqrt(np.outer(degree, degree))
    expected = 0.2 * np.linalg.solve(np.eye(60) - 0.8 * S, Y)
    np.testing.assert_allclose(spread(W, Y, 0.8, 1000, 1e-12)[0], expected, atol=1e-10)
    hidden = np.flatnonzero(given < 0)
    inner = np.diag(degree)[np.ix_(hidden, hidden)] - dense[np.ix_(hidden, hidden)]
    harmonic = np.linalg.solve(inner, dense[np.ix_(hidden, known)] @ Y[known])
    found = propagate(W, Y, known, 1000, 1e-12)[0]
    np.testing.assert_allclose(found[hidden], harmonic, atol=1e-10)
    np.testing.assert_array_equal(found[known], Y[known])


def inner_product(A, B):
    return np.exp(-3.0 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


@pytest.mark.syllabus("15.1.3")
@pytest.mark.parametrize(
    "settings",
    [{}, {"gamma": 5}, {"kernel": "knn", "n_neighbors": 9}, {"kernel": inner_product}],
    ids=["default", "gamma", "knn", "function"],
)
@pytest.mark.parametrize("name", ["LabelPropagation", "LabelSpreading"])
def test_where_scikit_learn_iterates_to_the_end_it_is_the_same(name, settings):
    X, _ = make_moons(120, noise=0.1, random_state=0)
    given = np.where(np.arange(120) % 6 == 0, X[:, 1] > 0.25, -1)
    settings = {"tol": 1e-10, "max_iter": 100_000, **settings}
    ours = getattr(lyceum.semi_supervised, name)(**settings).fit(X, given)
    theirs = getattr(sklearn.semi_supervised, name)(**settings).fit(X, given)
    assert ours.n_unreached_ == 0
    for of in (
        lambda model: model.label_distributions_,
        lambda model: model.predict_proba(X[:40] + 0.05),
    ):
        np.testing.assert_allclose(of(ours), of(theirs), atol=1e-6)


def test_kernels_that_are_no_weights_of_pairs_are_refused():
    X, _, given = two_groups(20)
    for kernel, message in (
        (lambda A, B: np.ones(len(A)), "of the shape"),
        (lambda A, B: -np.ones((len(A), len(B))), "negative or not finite"),
    ):
        with pytest.raises(SettingError, match=message):
            LabelSpreading(kernel).fit(X, given)


def test_too_few_steps_are_said():
    X, _, given = two_groups(100)
    for kernel in ("nearest", "knn"):
        with pytest.warns(ConvergenceWarning, match="max_iter=1 was reached"):
            model = LabelPropagation(kernel, max_iter=1).fit(X, given)
        assert model.n_iter_ == 1


@pytest.mark.syllabus("15.1.3")
@pytest.mark.parametrize(
    "learner", [LabelSpreading(alpha=0.99, max_iter=1000), LabelPropagation()]
)
def test_labels_follow_the_moons(learner):
    X, y = make_moons(400, noise=0.06, random_state=0)
    given = np.full(400, -1)
    for k in (0, 1):
        given[np.flatnonzero(y == k)[:3]] = k
    model = learner.fit(X, given)
    assert (model.transduction_ == y).mean() > 0.98
    fresh, truth = make_moons(200, noise=0.06, random_state=1)
    assert model.score(fresh, truth) > 0.97


def test_rows_that_no_label_reaches_get_the_class_shares():
    X = np.array([[0.0], [0.1], [0.2], [50.0], [50.1], [50.2]])
    given = np.array([0, 1, 1, -1, -1, -1])
    for learner in (LabelSpreading, LabelPropagation):
        model = learner("nearest", n_neighbors=2).fit(X, given)
        assert model.n_unreached_ == 3
        np.testing.assert_allclose(model.label_distributions_[3:], [[1 / 3, 2 / 3]] * 3)


@pytest.mark.parametrize("metric", ["auto", "jaccard"])
def test_sparse_rows_are_labeled_as_dense_ones_are(metric):
    rng = np.random.default_rng(5)
    X = rng.random((80, 30)) * (rng.random((80, 30)) < 0.2)
    y = np.where(np.arange(80) < 20, np.arange(80) % 2, -1)
    some, all_of_them = (
        LabelSpreading("nearest", gamma=None, metric=metric).fit(A, y)
        for A in (sparse.csr_array(X), X)
    )
    assert sparse.issparse(some.rows_)
    for name in ("label_distributions_", "gamma_"):
        np.testing.assert_allclose(
            getattr(some, name), getattr(all_of_them, name), rtol=1e-9, atol=1e-12
        )
    for model in (some, all_of_them):
        np.testing.assert_allclose(
            model.predict_proba(sparse.csr_array(X)),
            all_of_them.predict_proba(X),
            rtol=1e-9,
        )
    assert some.explain(sparse.csr_array(X[:2])).contributions.shape == (2, 30)
    with pytest.raises(SettingError, match="'gower' cannot take sparse rows"):
        LabelSpreading(metric="gower").fit(sparse.csr_array(X), y)
