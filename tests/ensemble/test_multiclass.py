"""Several classes from binary machines: the answers of the syllabus, laws of codes, and
scikit-learn."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.linear_model import (
    LogisticRegression as ScikitLogistic,
    Ridge as ScikitRidge,
)
from sklearn.multiclass import (
    OneVsOneClassifier as TheirOneVsOneClassifier,
    OneVsRestClassifier as TheirOneVsRestClassifier,
)
from sklearn.neighbors import KNeighborsClassifier as ScikitNeighbors
from sklearn.svm import LinearSVC as ScikitLinearSVC
from tests.checks.tables import CountedCuts, Data

from lyceum.bayes import NaiveBayes
from lyceum.data import Rows
from lyceum.datasets import load
from lyceum.ensemble import (
    OneVsOneClassifier,
    OneVsRestClassifier,
    OutputCodeClassifier,
    couple_posteriors,
)
from lyceum.errors import DataError, SettingError
from lyceum.linear import LogisticRegression, Ridge
from lyceum.neighbors import KNeighborsClassifier
from lyceum.persist import load as load_model, save
from lyceum.trees import DecisionTreeClassifier


class ColumnScores(ClassifierMixin, BaseEstimator):
    """The score of member l is column l of the table, as on a blackboard."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, self.column]

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def on_the_blackboard(model, n_classes):
    """The model with member l answering column l."""
    model.fit(np.zeros((n_classes, 6)), np.arange(1, n_classes + 1))
    for column, member in enumerate(model.estimators_):
        member.column = column
    return model


def three_classes(n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 4)) + 1.5 * np.eye(3, 4)[y], np.array(
        ["ant", "bee", "cow"]
    )[y]


@pytest.mark.syllabus("9.6")
def test_scores_of_one_against_the_rest_give_class_two():
    model = on_the_blackboard(OneVsRestClassifier(ColumnScores()), 4)
    row = np.array([[3.5, 6.2, 1.4, 5.5, 0.0, 0.0]])
    assert model.predict(row).tolist() == [2]
    assert model.decision_function(row).tolist() == [[3.5, 6.2, 1.4, 5.5]]


@pytest.mark.syllabus("9.6.2")
def test_votes_of_all_pairs_give_class_four():
    # the pairs 12, 13, 14, 23, 24, 34 vote for 1, 1, 4, 2, 4, 4; a member's score is positive for
    # the second
    model = on_the_blackboard(OneVsOneClassifier(ColumnScores()), 4)
    row = np.array([[-1.0, -1.0, 1.0, -1.0, 1.0, 1.0]])
    assert model.votes(row).tolist() == [[2.0, 1.0, 0.0, 3.0]]
    assert model.predict(row).tolist() == [4]


@pytest.mark.syllabus("9.6.1")
def test_a_no_is_a_vote_for_every_other_class():
    model = on_the_blackboard(OneVsRestClassifier(ColumnScores(), decision="votes"), 4)
    rows = np.array(
        [[-1, 2, -1, -1, 0, 0], [5, 1, -1, -1, 0, 0], [-1, -9, -1, -1, 0, 0]],
        dtype=float,
    )
    assert model.votes(rows).tolist() == [[2, 4, 2, 2], [3, 3, 1, 1], [3, 3, 3, 3]]
    assert model.predict(rows).tolist() == [2, 1, 1]


@pytest.mark.syllabus("9.6.3")
def test_a_word_with_one_wrong_place_is_corrected():
    code = np.array(
        [[-1, -1, -1, -1, -1], [1, 1, 1, -1, -1], [-1, -1, 1, 1, 1], [1, 1, -1, 1, 1]]
    )
    model = on_the_blackboard(
        OutputCodeClassifier(ColumnScores(), code=code, decoding="hamming"), 4
    )
    assert (model.min_distance_, model.correctable_) == (3.0, 1)
    for k, word in enumerate(code, start=1):
        for place in range(5):
            heard = np.append(word, 0).astype(float)
            heard[place] *= -1
            assert model.predict(heard[None]).tolist() == [k]


# -- codes -----------------------------------------------------------------------------


@pytest.mark.syllabus("9.6")
@given(st.integers(3, 6))
def test_any_two_words_of_an_exhaustive_code_differ_in_half_of_the_places(K):
    X = np.repeat(np.eye(K), 2, axis=0)
    model = OutputCodeClassifier(NaiveBayes(), code="exhaustive").fit(
        X, np.repeat(np.arange(K), 2)
    )
    assert model.code_.shape == (K, 2 ** (K - 1) - 1)
    assert model.min_distance_ == 2 ** (K - 2)
    assert len(np.unique(model.code_ * model.code_[0], axis=1).T) == 2 ** (K - 1) - 1


@pytest.mark.syllabus("9.6")
@pytest.mark.parametrize("kind", ["random", "bch"])
@pytest.mark.parametrize("K", [3, 7, 11])
def test_no_two_columns_of_a_code_are_one_problem(kind, K):
    X, y = np.repeat(np.eye(K), 3, axis=0), np.repeat(np.arange(K), 3)
    model = OutputCodeClassifier(NaiveBayes(), code=kind, random_state=0).fit(X, y)
    code = model.code_
    assert (np.abs(code.sum(axis=0)) < K).all()
    assert len(np.unique(code * code[0], axis=1).T) == code.shape[1]
    distances = [(code[i] != code[j]).sum() for i in range(K) for j in range(i)]
    assert model.min_distance_ == min(distances)
    if K > 3:
        assert model.correctable_ >= 3
    assert model.score(X, y) == 1.0


def test_codes_of_ones_own_are_checked():
    X, y = three_classes()
    for code, words in (
        ([[1, -1], [-1, 1]], "3 classes need as many rows"),
        ([[1, 1], [-1, 1], [1, -1]], None),
        ([[1, 1], [-1, 1], [-1, 1]], "no class of 1, or none of -1"),
        ([[1, -1], [-1, 1], [-1, 1]], "same word"),
        ([[2, -1], [-1, 1], [-1, 1]], "entries -1 and 1"),
    ):
        if words is None:
            OutputCodeClassifier(code=code).fit(X, y)
            continue
        with pytest.raises(DataError, match=words):
            OutputCodeClassifier(code=code).fit(X, y)
    with pytest.raises(SettingError, match="16,383 columns"):
        OutputCodeClassifier(NaiveBayes(), code="exhaustive").fit(
            np.eye(15), np.arange(15)
        )


def test_the_codes_of_pairs_and_of_one_against_the_rest_are_those_learners():
    X, y = three_classes()
    pairs, rest = (
        OneVsOneClassifier(decision="scores").fit(X, y),
        OneVsRestClassifier().fit(X, y),
    )
    same = OutputCodeClassifier(code=pairs.code_, loss="linear").fit(X, y)
    np.testing.assert_allclose(
        same.decision_function(X) * 3, pairs.decision_function(X), rtol=1e-12
    )
    assert (
        OutputCodeClassifier(code=rest.code_, loss="linear")
        .fit(X, y)
        .predict(X)
        .tolist()
        == rest.predict(X).tolist()
    )


# -- beside scikit-learn ---------------------------------------------------------------


@pytest.mark.parametrize(
    "base", [ScikitLogistic(C=0.5), ScikitLinearSVC(random_state=0), ScikitNeighbors(3)]
)
def test_members_of_another_library_give_its_own_reductions(base):
    X, y = three_classes()
    ours, theirs = (
        OneVsRestClassifier(base).fit(X, y),
        TheirOneVsRestClassifier(base).fit(X, y),
    )
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()
    if hasattr(theirs, "predict_proba"):
        np.testing.assert_allclose(
            ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12
        )
    ours, theirs = (
        OneVsOneClassifier(base).fit(X, y),
        TheirOneVsOneClassifier(base).fit(X, y),
    )
    votes = np.round(theirs.decision_function(X))
    np.testing.assert_array_equal(ours.votes(X), votes)
    clear = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
    assert ours.predict(X)[clear].tolist() == theirs.predict(X)[clear].tolist()


@given(st.integers(2, 7), st.integers(0, 100))
def test_coupling_finds_the_truth_that_pairs_agree_with(K, seed):
    p = np.random.default_rng(seed).dirichlet(np.full(K, 0.7), 20)
    p = np.clip(p, 1e-3, None)
    p /= p.sum(axis=1, keepdims=True)
    r = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    np.testing.assert_allclose(couple_posteriors(r), p, rtol=1e-7)


def test_coupled_posteriors_minimize_their_objective():
    rng = np.random.default_rng(0)
    r = np.triu(rng.random((4, 4)), 1)
    r += np.tril(1 - r.T, -1)

    def objective(p):
        return sum(
            (r[j, i] * p[i] - r[i, j] * p[j]) ** 2
            for i in range(4)
            for j in range(4)
            if i != j
        )

    best = couple_posteriors(r)
    for other in rng.dirichlet(np.ones(4), 500):
        assert objective(best) <= objective(other)
    with pytest.raises(DataError, match="must sum to 1"):
        couple_posteriors(np.full((3, 3), 0.3))


def test_posteriors_that_decide_are_the_largest():
    X, y = three_classes()
    model = OneVsOneClassifier(decision="posteriors").fit(X, y)
    assert (
        model.predict(X).tolist()
        == model.classes_[model.predict_proba(X).argmax(axis=1)].tolist()
    )


# -- awkward rows ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier]
)
def test_mixed_tables_with_missing_cells_reach_members_as_they_are(kind, tmp_path):
    penguins = load("penguins")
    model = kind(DecisionTreeClassifier(max_depth=4)).fit(penguins)
    assert model.score(penguins) > 0.95
    again = load_model(save(model, tmp_path / "model.skops"))
    assert again.predict(penguins).tolist() == model.predict(penguins).tolist()
    assert "DecisionTreeClassifier" in str(model.summary())


@pytest.mark.parametrize(
    "kind", [OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier]
)
def test_one_class_and_a_class_without_weight(kind, tmp_path):
    X, y = three_classes(60)
    one = kind().fit(X, np.full(60, "ant"))
    assert set(one.predict(X)) == {"ant"}
    if hasattr(one, "predict_proba"):
        assert one.predict_proba(X).tolist() == [[1.0]] * 60
    w = np.where(y == "bee", 0.0, 1.0)
    model = kind().fit(X, y, w)
    assert "bee" not in model.predict(X)
    without = kind().fit(X[w > 0], y[w > 0])
    if kind is not OutputCodeClassifier:
        assert model.predict(X).tolist() == without.predict(X).tolist()
    if hasattr(model, "predict_proba"):
        assert not model.predict_proba(X)[:, 1].any()
    again = load_model(save(model, tmp_path / "model.skops"))
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_weights_that_members_do_not_take_are_refused_unless_equal():
    X, y = three_classes(60)
    w = np.ones(60)
    w[:5] = 0.0
    model = OneVsRestClassifier(ScikitNeighbors(3)).fit(X, y, w)
    assert (
        model.predict(X).tolist()
        == OneVsRestClassifier(ScikitNeighbors(3)).fit(X[5:], y[5:]).predict(X).tolist()
    )
    w[7] = 2.0
    with pytest.raises(
        SettingError, match="KNeighborsClassifier does not take sample_weight"
    ):
        OneVsOneClassifier(ScikitNeighbors(3)).fit(X, y, w)


def test_sparse_rows_and_frames_of_another_library():
    X, y = three_classes()
    X[np.abs(X) < 0.5] = 0.0
    dense, thin = (
        OneVsRestClassifier(ScikitLogistic()).fit(form, y)
        for form in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_array(X)),
        dense.decision_function(X),
        rtol=1e-4,
        atol=1e-4,
    )
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = OneVsOneClassifier(ScikitLogistic()).fit(frame, y)
    assert model.framed_
    assert (
        model.predict(frame).tolist()
        == OneVsOneClassifier(ScikitLogistic()).fit(X, y).predict(X).tolist()
    )


@pytest.mark.parametrize(
    "model",
    [
        OneVsOneClassifier(decision="scores"),
        OutputCodeClassifier(loss="linear"),
        OneVsRestClassifier(DecisionTreeClassifier(max_depth=3)),
    ],
)
def test_explanations_of_sums_of_scores_add_up(model):
    X, y = three_classes()
    model.fit(X, y)
    found = model.explain(X)
    np.testing.assert_allclose(
        found.scores, model.decision_function(X).max(axis=1), atol=1e-9
    )
    assert found.predicted.tolist() == model.predict(X).tolist()


def _decided_by(model, X):
    """The number of the predicted class, one per row."""
    scores = model.decision_function(X)
    return np.abs(scores) if scores.ndim == 1 else scores.max(axis=1)


@pytest.mark.parametrize(
    "model",
    [
        OneVsOneClassifier(),
        OneVsOneClassifier(decision="posteriors"),
        OneVsOneClassifier(ScikitLogistic()),
        OneVsRestClassifier(decision="votes"),
        OneVsRestClassifier(ScikitLogistic()),
        OneVsRestClassifier(NaiveBayes()),
        OutputCodeClassifier(),
        OutputCodeClassifier(decoding="hamming"),
        OutputCodeClassifier(KNeighborsClassifier(n_neighbors=3), loss="linear"),
    ],
)
@pytest.mark.parametrize("n_classes", [3, 2])
def test_explanations_of_other_decisions_add_up(model, n_classes):
    X, y = three_classes()
    X, y = (
        X[np.isin(y, np.unique(y)[:n_classes])],
        y[np.isin(y, np.unique(y)[:n_classes])],
    )
    frame = pd.DataFrame(X, columns=list("abcd"))
    for rows in (X, frame):
        fitted = clone(model).fit(rows, y)
        found = fitted.explain(rows)
        np.testing.assert_allclose(found.scores, _decided_by(fitted, rows), atol=1e-9)
        assert found.predicted.tolist() == fitted.predict(rows).tolist()


@pytest.mark.parametrize(
    "kind", [OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier]
)
@pytest.mark.parametrize("member", [NaiveBayes(), LogisticRegression()])
@pytest.mark.parametrize("n_classes", [3, 2])
def test_rows_are_read_once_to_be_explained(kind, member, n_classes):
    X, y = three_classes()
    some = np.isin(y, np.unique(y)[:n_classes])
    source = CountedCuts(Data(X[some], None, np.ones(some.sum())))
    kind(member).fit(X[some], y[some]).explain(Rows(source))
    assert len(source.passes) == 1


def test_votes_are_explained_from_other_rows():
    """By the definition, for the first row: the votes of its class as its columns come, from every
    row of the background, in all orders."""
    X, y = three_classes()
    X = X[:, :3]
    model = OneVsOneClassifier().fit(X, y)
    found = model.explain(X[:1])
    k = model.classes_.tolist().index(model.predict(X[:1])[0])

    def votes(own):
        mixed = np.where(np.isin(np.arange(3), own), X[:1], model.background_)
        return model.decision_function(mixed)[:, k].mean()

    added = np.zeros(3)
    for order in permutations(range(3)):
        for i, j in enumerate(order):
            added[j] += (votes(order[: i + 1]) - votes(order[:i])) / 6
    assert found.base[0] == pytest.approx(votes([]))
    np.testing.assert_allclose(found.contributions[0], added, atol=1e-12)
    assert found.unit == "score"


def test_two_classes_are_one_member_with_the_posteriors_of_that_member():
    X, y = three_classes()
    X, y = X[y != "cow"], y[y != "cow"]
    alone = LogisticRegression().fit(X, y)
    for kind in (OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier):
        model = kind().fit(X, y)
        assert len(model.estimators_) == 1
        np.testing.assert_allclose(
            model.decision_function(X), alone.decision_function(X), rtol=1e-6
        )
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(
                model.predict_proba(X), alone.predict_proba(X), rtol=1e-6
            )


def test_a_regressor_as_member_decides_by_its_number():
    X, y = load_iris(return_X_y=True)
    theirs = TheirOneVsRestClassifier(ScikitRidge())
    model = OneVsRestClassifier(Ridge()).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), theirs.fit(X, y).predict(X))
    # of two classes, too: a number above one half is the second
    two = OneVsRestClassifier(Ridge()).fit(X[:100], y[:100])
    np.testing.assert_array_equal(two.predict(X[:100]), y[:100])
