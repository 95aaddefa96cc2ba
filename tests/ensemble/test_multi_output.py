"""Rows with several labels: one binary problem per label."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.multiclass import OneVsRestClassifier as TheirOneVsRest
from sklearn.multioutput import MultiOutputClassifier as TheirMultiOutputClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import SVC as ScikitSVC

from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.datasets import load
from lyceum.ensemble import (
    MultiOutputClassifier,
    OneVsOneClassifier,
    OneVsRestClassifier,
    OutputCodeClassifier,
)
from lyceum.errors import DataError
from lyceum.kernels import SVC
from lyceum.linear import LogisticRegression
from lyceum.persist import load as load_model, save


def several_labels():
    return make_multilabel_classification(200, 8, n_classes=4, random_state=0)


@pytest.mark.syllabus("9.6")
def test_every_label_is_a_binary_problem_of_its_own():
    X, Y = several_labels()
    model = MultiOutputClassifier().fit(X, Y)
    for label in range(4):
        alone = LogisticRegression().fit(X, Y[:, label])
        np.testing.assert_allclose(
            model.predict_proba(X)[label], alone.predict_proba(X), rtol=1e-9
        )
        assert model.predict(X)[:, label].tolist() == alone.predict(X).tolist()
    assert model.cardinality_ == pytest.approx(Y.sum(axis=1).mean())
    assert model.score(X, Y) == (model.predict(X) == Y).all(axis=1).mean()
    assert model.label_scores(X, Y)[2] == (model.predict(X)[:, 2] == Y[:, 2]).mean()


@pytest.mark.syllabus("9.6")
def test_members_of_another_library_are_those_of_its_own_reduction():
    X, Y = several_labels()
    ours, theirs = (
        MultiOutputClassifier(ScikitLogistic()).fit(X, Y),
        TheirMultiOutputClassifier(ScikitLogistic()).fit(X, Y),
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_sets_of_labels_frames_and_sparse_indicators_are_one_target():
    X, Y = several_labels()
    names = np.array(["art", "law", "sea", "war"])
    sets = [set(names[row]) for row in Y.astype(bool)]
    expected = MultiOutputClassifier().fit(X, Y).decision_function(X)
    forms = (
        sets,
        [tuple(one) for one in sets],
        pd.DataFrame(Y, columns=names),
        sparse.csr_array(Y),
        Y.tolist(),
    )
    for y in forms:
        model = MultiOutputClassifier().fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), expected)
        assert model.score(X, y) == MultiOutputClassifier().fit(X, Y).score(X, Y)
    assert MultiOutputClassifier().fit(X, sets).labels_.tolist() == names.tolist()
    assert set(MultiOutputClassifier().fit(X, sets).predict_labels(X)[0]) <= set(names)


def test_labels_that_all_rows_have_or_none_need_no_member(tmp_path):
    X, Y = several_labels()
    Y = np.column_stack([Y[:, 0], np.ones(200, int), np.zeros(200, int)])
    model = MultiOutputClassifier().fit(X, Y)
    assert model.predict(X)[:, 1:].tolist() == [[1, 0]] * 200
    again = load_model(save(model, tmp_path / "model.skops"))
    for mine, its in zip(model.predict_proba(X), again.predict_proba(X)):
        np.testing.assert_array_equal(its, mine)


def test_mixed_tables_files_and_weights(tmp_path):
    frame = load("penguins")
    table = pd.DataFrame({"mass": np.arange(40.0), "town": ["Ulm", "Bonn"] * 20})
    Y = pd.DataFrame(
        {
            "heavy": (table.mass > 20).astype(int),
            "south": (table.town == "Ulm").astype(int),
        }
    )
    model = MultiOutputClassifier(NaiveBayes()).fit(table, Y)
    assert model.score(table, Y) > 0.9
    table.to_csv(tmp_path / "rows.csv", index=False)
    streamed = MultiOutputClassifier(NaiveBayes()).fit(
        scan(tmp_path / "rows.csv", memory=0), Y
    )
    np.testing.assert_allclose(
        streamed.predict_proba(table), model.predict_proba(table)
    )
    w = np.r_[np.zeros(3), np.full(37, 2.0)]
    weighted = MultiOutputClassifier(NaiveBayes()).fit(table, Y, w)
    kept = MultiOutputClassifier(NaiveBayes()).fit(table[3:], Y[3:], w[3:])
    np.testing.assert_allclose(weighted.predict_proba(table), kept.predict_proba(table))
    assert "labels per row" in str(weighted.summary())
    with pytest.raises(DataError, match=f"X has {len(frame)} rows, but y has 40"):
        MultiOutputClassifier().fit(frame, Y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y"),
        (["a", "b"], "one label per row"),
        (np.array([0, 1]), "one label per row"),
        (np.array([[0.5, 2.0], [1.0, 0.3]]), "Unknown label type"),
        ([(0, 2), (1, 0)], None),
        ([[], []], "no row has any label"),
    ],
)
def test_other_targets_are_refused_with_a_remedy(y, words):
    X = np.array([[0.0], [1.0]])
    if words is None:
        assert MultiOutputClassifier().fit(X, y).labels_.tolist() == [0, 1, 2]
        return
    with pytest.raises(ValueError, match=words):
        MultiOutputClassifier().fit(X, y)


def test_columns_may_have_several_classes_as_in_scikit_learn():
    X, Y = several_labels()
    columns = np.column_stack([Y[:, 0] + 2 * Y[:, 1], Y[:, 2]])
    ours = MultiOutputClassifier(ScikitLogistic(max_iter=1000)).fit(X, columns)
    theirs = TheirMultiOutputClassifier(ScikitLogistic(max_iter=1000)).fit(X, columns)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for mine, its in zip(ours.predict_proba(X), theirs.predict_proba(X)):
        np.testing.assert_allclose(mine, its)
    assert [list(one) for one in ours.classes_] == [[0, 1, 2, 3], [0, 1]]
    assert ours.score(X, columns) == theirs.score(X, columns)
    with pytest.raises(DataError, match="more than two classes"):
        ours.predict_labels(X)
    names = np.array(["a", "b", "c", "d"])[columns]
    assert MultiOutputClassifier().fit(X, names).predict(X).dtype.kind == "U"


def test_members_go_on_learning():
    X, Y = several_labels()
    X = np.abs(X)
    model = MultiOutputClassifier(MultinomialNB())
    with pytest.raises(DataError, match="classes must be passed"):
        model.partial_fit(X, Y)
    model.partial_fit(X[:90], Y[:90], classes=[[0, 1]] * 4)
    first = model.estimators_
    model.partial_fit(X[90:], Y[90:])
    assert first[0] is not model.estimators_[0]
    once = MultiOutputClassifier(MultinomialNB()).fit(X, Y)
    assert model.predict(X).tolist() == once.predict(X).tolist()
    assert not hasattr(
        MultiOutputClassifier(ScikitLogistic(max_iter=1000)), "partial_fit"
    )


def test_one_against_the_rest_takes_labels_as_scikit_learn_does(tmp_path):
    X, Y = several_labels()
    ours = OneVsRestClassifier(ScikitLogistic(max_iter=1000)).fit(X, Y)
    theirs = TheirOneVsRest(ScikitLogistic(max_iter=1000)).fit(X, Y)
    assert ours.multilabel_
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X))
    assert ours.score(X, Y) == theirs.score(X, Y)
    thin = (
        OneVsRestClassifier(ScikitLogistic(max_iter=1000))
        .fit(X, sparse.csr_array(Y))
        .predict(X)
    )
    assert sparse.issparse(thin)
    np.testing.assert_array_equal(thin.toarray(), ours.predict(X))
    sets = [set(np.flatnonzero(row)) for row in Y]
    model = OneVsRestClassifier().fit(X, sets)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    again = load_model(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert "Labels" in str(model.summary())
    with pytest.raises(DataError, match="not supported with label binarization"):
        OneVsRestClassifier().fit(X, Y + 1)
    with pytest.warns(UserWarning, match="Label not 0 is present in all"):
        OneVsRestClassifier().fit(X, Y * [0, 1, 1, 1])


@pytest.mark.parametrize("kind", [OneVsRestClassifier, OneVsOneClassifier])
def test_schemes_go_on_learning_and_hand_kernels_on(kind):
    X, y = load_iris(return_X_y=True)
    once = kind(MultinomialNB()).fit(X, y)
    parts = kind(MultinomialNB()).partial_fit(X[::2], y[::2], [0, 1, 2])
    parts.partial_fit(X[1::2], y[1::2])
    assert parts.predict(X).tolist() == once.predict(X).tolist()
    with pytest.raises(DataError, match="Mini-batch contains"):
        parts.partial_fit(X[:2], [0, 7])
    # a weight of 2 is a row that comes again, 0 one that does not come
    w = np.arange(len(y)) % 3
    frame = pd.DataFrame(X)
    weighted = kind(MultinomialNB()).partial_fit(frame, y, [0, 1, 2], sample_weight=w)
    repeats = kind(MultinomialNB()).partial_fit(X.repeat(w, 0), y.repeat(w), [0, 1, 2])
    np.testing.assert_allclose(
        weighted.predict_proba(frame), repeats.predict_proba(X), rtol=1e-12
    )
    np.testing.assert_array_equal(weighted.class_weight_, repeats.class_weight_)
    without = kind(MultinomialNB()).fit(X, y, sample_weight=(y > 0).astype(float))
    with pytest.raises(DataError, match="no rows of a class that comes now"):
        without.partial_fit(X, y)
    assert not hasattr(OutputCodeClassifier(MultinomialNB()), "partial_fit")
    K = X @ X.T
    for machine in (SVC, ScikitSVC):
        plain = kind(machine(kernel="linear")).fit(X, y)
        given = kind(machine(kernel="precomputed")).fit(K, y)
        assert given.__sklearn_tags__().input_tags.pairwise
        assert (given.predict(K) == plain.predict(X)).all()
