"""Maps of posteriors against their definitions and scikit-learn, and classifiers calibrated by
them."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array
from sklearn import calibration
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import lyceum
from lyceum import datasets, scan
from lyceum.bayes import NaiveBayes
from lyceum.decision import (
    BayesOptimalClassifier,
    CalibratedClassifierCV,
    MinimumRiskClassifier,
    PosteriorMap,
)
from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.evaluate import log_loss
from lyceum.linear import LogisticRegression
from lyceum.workflows import FittedModel


def outcomes(n, K, beta, seed=0):
    """Class codes drawn from posteriors q, and q sharpened to q^β."""
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(K), n)
    y = (rng.random((n, 1)) > q.cumsum(axis=1)).sum(axis=1)
    sharp = q**beta
    return y, sharp / sharp.sum(axis=1, keepdims=True), q


@pytest.mark.parametrize("K", [2, 4])
def test_a_temperature_undoes_a_power(K):
    y, sharp, q = outcomes(20_000, K, 3.0)
    found = PosteriorMap.fit("temperature", y, sharp)
    assert found.tables[0][0] == pytest.approx(3.0, rel=0.05)
    assert np.abs(found(sharp) - q).max() < 0.02


def test_a_sigmoid_of_two_classes_has_the_slope_that_undoes_a_power():
    y, sharp, _ = outcomes(20_000, 2, 2.0)
    [(slope, offset)] = PosteriorMap.fit("logit", y, sharp).tables
    assert slope == pytest.approx(0.5, rel=0.05)
    assert abs(offset) < 0.05


def test_isotonic_steps_are_scikit_learns_and_bounded_ones_where_they_do_not_reach_0_or_1():
    y, sharp, _ = outcomes(500, 2, 2.0)
    w = np.random.default_rng(1).integers(0, 3, 500).astype(float)
    same, ours = (
        PosteriorMap.fit(method, y, sharp, w)(sharp)[:, 1]
        for method in ("isotonic", "bounded")
    )
    theirs = (
        IsotonicRegression().fit(sharp[:, 1], y, sample_weight=w).predict(sharp[:, 1])
    )
    known = ~np.isnan(theirs)
    assert same[known] == pytest.approx(theirs[known])
    inside = (theirs > 0.01) & (theirs < 0.99) & (w > 0)
    assert ours[inside] == pytest.approx(theirs[inside])
    # half a row away from 0 and 1
    margin = 0.5 / (w.sum() + 1)
    assert ours.min() == pytest.approx(max(np.nanmin(theirs), margin))
    assert ours.max() == pytest.approx(min(np.nanmax(theirs), 1 - margin))


@pytest.mark.parametrize("method", PosteriorMap.METHODS)
@pytest.mark.parametrize("K", [2, 3])
def test_maps_give_posteriors_lower_the_log_loss_and_take_weight_two_as_a_repeated_row(
    method, K
):
    y, sharp, _ = outcomes(400, K, 4.0)
    found = PosteriorMap.fit(method, y, sharp)
    calibrated = found(sharp)
    assert calibrated.sum(axis=1) == pytest.approx(np.ones(400), abs=1e-12)
    assert calibrated.min() >= 0.0
    assert calibrated.max() <= 1.0
    chosen = np.maximum(calibrated[np.arange(400), y], 1e-3)  # steps may be at 0
    assert -np.log(chosen).mean() < log_loss(y, sharp)
    twice = PosteriorMap.fit(method, np.repeat(y, 2), np.repeat(sharp, 2, axis=0))
    weighted = PosteriorMap.fit(method, y, sharp, np.full(400, 2.0))
    assert weighted(sharp) == pytest.approx(twice(sharp), abs=1e-5)
    assert found(np.eye(K)).sum(axis=1) == pytest.approx(np.ones(K))


def test_what_is_no_map_is_refused():
    with pytest.raises(
        SettingError, match="temperature, sigmoid, isotonic, logit, bounded"
    ):
        PosteriorMap.fit("spline", np.array([0]), np.array([[1.0, 0.0]]))
    with pytest.raises(DataError, match="one row for each"):
        PosteriorMap.fit("sigmoid", np.array([0, 1]), np.array([[1.0, 0.0]]))
    with pytest.raises(SettingError, match="for posteriors, not for scores"):
        PosteriorMap.fit("logit", np.array([0, 1]), np.array([1.0, 0.0]), scores=True)
    for method, tables in (
        ("temperature", (np.array([-1.0]),)),
        ("temperature", (np.array([0.0]),)),
        ("temperature", (np.array([1.0, 1.0]),)),
        ("temperature", ()),
        ("temperature", [np.array([1.0])]),
        ("spline", (np.array([1.0]),)),
    ):
        with pytest.raises(DataError, match="not a map"):
            PosteriorMap(method, tables).check()


@pytest.mark.parametrize("method", PosteriorMap.METHODS)
def test_a_calibrated_classifier_predicts_explains_and_is_saved(method, tmp_path):
    rows = scan(datasets.path("german_credit"), target="class")
    model = MinimumRiskClassifier(
        CalibratedClassifierCV(NaiveBayes(), method, ensemble=False), doubt=0.2
    ).fit(rows)
    lyceum.save(model, tmp_path / "model.lyceum")
    again = lyceum.load(tmp_path / "model.lyceum")
    assert np.array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert again.explain(rows.take(np.arange(2))) is not None
    assert FittedModel(again).name == "NaiveBayes"
    assert method in str(again.estimator_.summary())
    inner = model.estimator_
    assert np.array_equal(
        inner.map_(inner.estimator_.predict_proba(rows)), model.predict_proba(rows)
    )


def test_arrays_with_any_labels_are_calibrated_and_a_given_map_is_kept():
    rng = np.random.default_rng(0)
    X = np.repeat(
        rng.normal(size=(200, 3)), 2, axis=1
    )  # every column twice: naive Bayes is too sure
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, "yes", "no")
    model = CalibratedClassifierCV(
        NaiveBayes(), "logit", ensemble=False, random_state=0
    ).fit(X, y, np.ones(200))
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.map_.tables[0][0] < 1.0
    assert set(model.predict(X)) <= {"no", "yes"}
    kept = CalibratedClassifierCV(NaiveBayes(), model.map_).fit(X, y)
    assert np.array_equal(kept.predict_proba(X), model.predict_proba(X))
    with pytest.raises(DataError, match="requires y to be passed"):
        CalibratedClassifierCV(NaiveBayes()).fit(X)


@pytest.mark.parametrize("wrapper", [CalibratedClassifierCV, MinimumRiskClassifier])
def test_missing_labels_and_no_rows_are_refused_in_a_sentence(wrapper):
    X, y = load_iris(return_X_y=True)
    words = np.array(["a", "b", "c"], dtype=object)[y]
    words[4] = None
    for bad in (words, np.where(np.arange(150) == 4, np.nan, y)):
        with pytest.raises(
            MissingValuesError, match=r"target 'y' is missing \(NaN\) in row 4"
        ):
            wrapper(NaiveBayes()).fit(X, bad)
    with pytest.raises(DataError, match="there are no rows"):
        wrapper(NaiveBayes()).fit(X[:0], y[:0])


def test_rows_that_cannot_be_calibrated_are_refused_in_a_sentence():
    frame = pd.DataFrame({"x": np.arange(6.0), "y": ["a", "b", None, "a", "b", "a"]})
    model = CalibratedClassifierCV(NaiveBayes())
    with pytest.raises(DataError, match="target 'y' is missing in 1 row,"):
        model.fit(scan(frame, target="y"))
    with pytest.raises(DataError, match="there are no rows"):
        model.fit(scan(frame, target="y").take([]))
    with pytest.raises(DataError, match="no target"):
        model.fit(scan(frame[["x"]]))
    with pytest.raises(DataError, match="the target holds numbers"):
        model.fit(scan(frame.assign(z=frame["x"] + 0.5), target="z"))


@pytest.mark.parametrize("kind", ["splitter", "list", "generator"])
def test_the_map_is_learned_from_the_folds_that_are_given(kind):
    X, y = load_iris(return_X_y=True)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))[
        :2
    ]  # the rows of the third are not tested
    cv = {
        "splitter": PredefinedSplit(
            np.where(np.isin(np.arange(150), folds[0][1]), 0, -1)
        ),
        "list": folds,
        "generator": iter(folds),
    }[kind]
    model = CalibratedClassifierCV(NaiveBayes(), "temperature", cv=cv).fit(X, y)
    used = folds[:1] if kind == "splitter" else folds
    proba = np.vstack(
        [
            NaiveBayes().fit(X[train], y[train]).predict_proba(X[test])
            for train, test in used
        ]
    )
    truth = np.concatenate([y[test] for _, test in used])
    expected = PosteriorMap.fit("temperature", truth, proba)
    np.testing.assert_allclose(model.map_.tables[0], expected.tables[0], rtol=1e-6)


def test_rows_that_cannot_be_left_out_are_refused():
    with pytest.raises(DataError, match=r"no class has two rows \(n_samples=2\)"):
        CalibratedClassifierCV(NaiveBayes()).fit([[0.0], [1.0]], [0, 1])


def test_summaries_are_titled_as_those_of_all_learners():
    X = pd.DataFrame({"a": np.arange(12.0)})
    y = pd.Series(["n", "p"] * 6, name="answer")
    inner = NaiveBayes()
    wrappers = (
        CalibratedClassifierCV(inner),
        MinimumRiskClassifier(inner),
        MinimumRiskClassifier(inner, calibrate="sigmoid", cv=2),
        BayesOptimalClassifier([inner]),
    )
    for learner in wrappers:
        assert learner.fit(X, y).summary().title.startswith(type(learner).__name__)
    rows = scan(X.assign(answer=y), target="answer")
    for learner in (*wrappers[:2], wrappers[3]):
        assert (
            learner.fit(rows).summary().title == f"{type(learner).__name__} of answer"
        )
    assert (
        CalibratedClassifierCV(GaussianNB()).fit(X, y).summary().title
        == "CalibratedClassifierCV"
    )


def test_a_class_that_a_fold_lacks_has_no_posterior_there():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.repeat(["a", "b", "c", "d"], 10)
    splits = [(np.arange(30), np.arange(40)), (np.arange(40), np.arange(40))]
    model = CalibratedClassifierCV(NaiveBayes(), cv=splits, ensemble=True).fit(X, y)
    first, second = model.calibrated_classifiers_
    assert first.estimator_.classes_.tolist() == ["a", "b", "c"]
    assert first.predict_proba(X).shape == second.predict_proba(X).shape == (40, 4)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_folds_in_the_order_of_the_rows_as_in_scikit_learn():
    X = np.random.default_rng(0).normal(size=(90, 2))
    y = (X[:, 0] + np.random.default_rng(1).normal(size=90) > 0).astype(int)
    ours = CalibratedClassifierCV(NaiveBayes(), cv=3).fit(X, y)
    folds = CalibratedClassifierCV(NaiveBayes(), cv=StratifiedKFold(3)).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), folds.predict_proba(X))
    with pytest.raises(DataError, match="Requesting 80-fold cross-validation"):
        CalibratedClassifierCV(NaiveBayes(), cv=80).fit(X, y)


def test_folds_vote_by_default_as_in_scikit_learn_but_not_of_a_frozen_estimator():
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = (X[:, 0] > 0).astype(int)
    model = CalibratedClassifierCV(NaiveBayes(), cv=4).fit(X, y)
    assert len(model.calibrated_classifiers_) == 4
    mean = np.mean(
        [one.predict_proba(X) for one in model.calibrated_classifiers_], axis=0
    )
    np.testing.assert_allclose(model.predict_proba(X), mean)
    frozen = FrozenEstimator(NaiveBayes().fit(X, y))
    (only,) = CalibratedClassifierCV(frozen).fit(X, y).calibrated_classifiers_
    assert only.estimator is only.estimator_


def test_arguments_of_fit_go_to_the_estimator_and_weights_where_it_takes_them():
    class Marked(GaussianNB):
        def fit(self, X, y, mark=None):
            assert len(mark) == len(y)
            return super().fit(X, y)

    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.arange(60) % 2
    CalibratedClassifierCV(Marked()).fit(X, y, mark=np.arange(60))
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        CalibratedClassifierCV(Marked()).fit(X, y, np.ones(60), mark=list(y))


IRIS = load_iris(return_X_y=True)


class Converted:
    """Rows that NumPy converts, and that have no rows themselves."""

    def __init__(self, rows):
        self.rows = rows

    def __array__(self, dtype=None, copy=None):
        return self.rows


def test_it_is_refused_before_it_is_fitted():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        CalibratedClassifierCV(GaussianNB()).predict(IRIS[0])


@pytest.mark.parametrize("form", [coo_array, Converted])
def test_rows_that_cannot_be_taken_are_converted(form):
    X, y = IRIS
    model = CalibratedClassifierCV(LogisticRegression(), cv=2)
    expected = clone(model).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.fit(form(X), y).predict_proba(X), expected)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC(random_state=0)])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("ensemble", [True, False])
def test_scores_and_posteriors_are_calibrated_as_in_scikit_learn(
    method, estimator, K, ensemble
):
    X, y = load_iris(return_X_y=True)
    X = X[y < K][:, :2]
    y = y[y < K]
    if K == 2:  # or the classes are apart, and slopes without bound
        X = X[:, 1:]
    settings = {"method": method, "cv": 3, "ensemble": ensemble}
    ours = CalibratedClassifierCV(estimator, **settings).fit(X, y)
    theirs = calibration.CalibratedClassifierCV(estimator, **settings).fit(X, y)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=2e-5
    )


def test_one_record_is_calibrated_by_its_score():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    learner = LogisticRegression()
    assert hasattr(learner, "decision_function")
    model = CalibratedClassifierCV(learner, cv=3).fit(frame, y)
    assert all(voter.map_.scores for voter in model.calibrated_classifiers_)
    decision = model.decide(dict(zip("abcd", X[70])))
    shares = [decision.probabilities[label] for label in range(3)]
    np.testing.assert_allclose(shares, model.predict_proba(frame[70:71])[0])
