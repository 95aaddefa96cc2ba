"""Multinomial and Bernoulli naive Bayes: scikit-learn's answers, sparse rows, streams."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.naive_bayes import (
    BernoulliNB as TheirBernoulliNB,
    MultinomialNB as TheirMultinomialNB,
)

import lyceum
from lyceum.bayes import BernoulliNB, MultinomialNB
from lyceum.errors import DataError, SettingError

pytestmark = pytest.mark.syllabus("3.2")
PAIRS = [(MultinomialNB, TheirMultinomialNB), (BernoulliNB, TheirBernoulliNB)]
BOTH = pytest.mark.parametrize("learner", [MultinomialNB, BernoulliNB])


def text(n=300, d=80, K=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    topics = rng.dirichlet(np.full(d, 0.3), K)
    X = np.stack([rng.multinomial(rng.integers(5, 30), topics[k]) for k in y])
    return sparse.csr_array(X.astype(np.float64)), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize("alpha", [1.0, 0.01])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dense", [False, True])
def test_equals_scikit_learn(ours, theirs, alpha, weighted, dense):
    X, y = text()
    w = np.random.default_rng(1).random(len(y)) if weighted else None
    X = X.toarray() if dense else X
    peer, model = theirs(alpha=alpha).fit(X, y, w), ours(alpha=alpha).fit(X, y, w)
    np.testing.assert_allclose(model.feature_count_, peer.feature_count_, rtol=1e-12)
    np.testing.assert_allclose(
        model.feature_log_prob_, peer.feature_log_prob_, rtol=1e-10
    )
    np.testing.assert_allclose(
        model.predict_log_proba(X), peer.predict_log_proba(X), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


def test_multinomial_by_hand():
    X = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]])
    model = MultinomialNB().fit(X, ["x", "y"])
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_), [[3 / 6, 2 / 6, 1 / 6], [1 / 7, 2 / 7, 4 / 7]]
    )
    odds = (3 / 6) ** 2 * (1 / 6) / ((1 / 7) ** 2 * (4 / 7))
    np.testing.assert_allclose(
        model.predict_proba([[2.0, 0.0, 1.0]]), [[odds / (1 + odds), 1 / (1 + odds)]]
    )


def test_bernoulli_by_hand_and_what_is_absent_speaks():
    X = np.array([[5.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    model = BernoulliNB(class_prior="uniform").fit(X, ["x", "x", "y"])
    p = np.array([[3 / 4, 1 / 4], [1 / 3, 2 / 3]])
    x = (1 - p[0, 0]) * (1 - p[0, 1])
    y = (1 - p[1, 0]) * (1 - p[1, 1])
    np.testing.assert_allclose(
        model.predict_proba([[0.0, 0.0]]), [[x / (x + y), y / (x + y)]]
    )


@BOTH
def test_any_chunks_equal_one_fit(learner):
    X, y = text()
    wanted = learner().fit(X, y).predict_log_proba(X)
    parts = learner()
    order = np.argsort(y, kind="stable")
    for rows in np.array_split(order, 7):  # the last class comes late
        parts.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(parts.predict_log_proba(X), wanted, rtol=1e-12)


@BOTH
def test_weight_two_equals_repeated_row(learner):
    X, y = text()
    w = np.random.default_rng(1).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), w)
    wanted = learner().fit(X[rows], y[rows]).predict_log_proba(X)
    np.testing.assert_allclose(
        learner().fit(X, y, w).predict_log_proba(X), wanted, rtol=1e-11
    )


@BOTH
def test_many_blocks_of_sparse_rows_are_one_array(learner):
    X, y = text(n=3000)
    dense = learner().fit(X.toarray(), y)
    np.testing.assert_array_equal(
        learner().fit(X, y).feature_count_, dense.feature_count_
    )


@BOTH
def test_cells_stored_twice_are_one_cell(learner):
    twice = sparse.csr_array(
        (np.array([1.0, 1.0, 2.0]), np.array([0, 0, 1]), np.array([0, 2, 3])),
        shape=(2, 2),
    )
    one, two = learner().fit(twice, [0, 1]), learner().fit(twice.toarray(), [0, 1])
    np.testing.assert_array_equal(one.feature_count_, two.feature_count_)
    np.testing.assert_allclose(
        one.predict_proba(twice), two.predict_proba(twice.toarray())
    )


@BOTH
def test_contributions_sum_to_the_log_odds(learner):
    X, y = text()
    model = learner().fit(X, y)
    log_p = np.sort(model.predict_log_proba(X), axis=1)
    found = model.explain(X)
    np.testing.assert_allclose(
        found.scores, log_p[:, -1] - log_p[:, -2], rtol=1e-8, atol=1e-8
    )
    np.testing.assert_array_equal(found.predicted, model.predict(X))
    assert "Columns typical of a" in str(model.summary())


@BOTH
def test_a_saved_model_is_the_model(learner, tmp_path):
    X, y = text()
    model = learner().fit(X, y)
    loaded = lyceum.load(lyceum.save(model, tmp_path / "m.skops"))
    np.testing.assert_array_equal(
        loaded.predict_log_proba(X), model.predict_log_proba(X)
    )


@BOTH
def test_a_mixed_table_counts_its_categories_as_columns(learner):
    table = pd.DataFrame({"words": [3.0, 0.0, 1.0], "tone": ["dry", "wet", "odd"]})
    model = learner().fit(table, ["x", "y", "x"])
    assert model.feature_count_.shape == (2, 4)
    assert model.predict(table).tolist() == ["x", "y", "x"]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_negative_counts_are_refused_by_name(make):
    X = make(np.array([[1.0, 0.0, 2.0], [1.0, -3.0, 0.0]]))
    message = (
        "Negative values in data passed to MultinomialNB: "
        "column 'x1' has -3, but it takes counts"
    )
    with pytest.raises(DataError, match=message):
        MultinomialNB().fit(X, [0, 1])


def test_a_threshold_below_the_cells_that_are_not_stored_is_refused():
    X, y = text()
    with pytest.raises(SettingError, match="binarize is -1"):
        BernoulliNB(binarize=-1.0).fit(X, y)
    model = BernoulliNB(binarize=-1.0).fit(X.toarray(), y)
    assert (model.feature_count_ == model.class_count_[:, None]).all()


def test_binarize_is_a_strict_threshold():
    model = BernoulliNB(binarize=2.0).fit([[2.0], [2.5]], [0, 1])
    np.testing.assert_array_equal(model.feature_count_, [[0.0], [1.0]])


@BOTH
def test_fifty_thousand_words_of_one_row_do_not_underflow(learner):
    X = sparse.csr_array(np.ones((2, 5000)) * [[10.0], [20.0]])
    p = learner().fit(X, ["x", "y"]).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
