"""MinimumRiskClassifier over classifiers of several libraries, from arrays, frames and files."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.checks.scikit_learn import obeys_scikit_learn

from lyceum import datasets, load, save, scan
from lyceum._core.base import normalize_posteriors
from lyceum.bayes import LinearDiscriminantAnalysis, NaiveBayes
from lyceum.decision import LossMatrix, MinimumRiskClassifier, minimum_risk
from lyceum.errors import DataError, SourceError

COSTS = {("bad", "good"): 5, ("good", "bad"): 1}


def assert_normalized(one, two):
    """The posteriors `two`, divided by their sums, which may be 1 only to the last digits."""
    np.testing.assert_array_equal(one, normalize_posteriors(two))


def credit():
    frame = pd.read_csv(datasets.path("german_credit"))
    return frame.drop(columns="class"), frame["class"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(), LinearDiscriminantAnalysis(covariance="diagonal")],
    ids=repr,
)
def test_scikit_learns_checks(estimator):
    obeys_scikit_learn(MinimumRiskClassifier(estimator))


@pytest.mark.syllabus("2.2.2", "2.2.3")
def test_prediction_is_minimum_risk_of_the_posteriors():
    X, y = load_iris(return_X_y=True)
    values = np.random.default_rng(0).random((3, 3))
    model = MinimumRiskClassifier(GaussianNB(), values).fit(X, y)
    posteriors = GaussianNB().fit(X, y).predict_proba(X)
    assert model.predict(X).tolist() == minimum_risk(posteriors, values).tolist()
    assert_normalized(model.predict_proba(X), posteriors)
    assert model.expected_risk(X) == pytest.approx(posteriors @ values)
    assert model.predict_log_proba(X) == pytest.approx(np.log(posteriors))


def test_zero_one_loss_predicts_as_the_estimator_does():
    X, y = load_iris(return_X_y=True)
    assert np.array_equal(
        MinimumRiskClassifier(GaussianNB()).fit(X, y).predict(X),
        GaussianNB().fit(X, y).predict(X),
    )


def test_costs_lower_the_loss_paid_on_german_credit():
    X, y = credit()
    plain = MinimumRiskClassifier(NaiveBayes()).fit(X[:700], y[:700])
    careful = MinimumRiskClassifier(NaiveBayes(), COSTS).fit(X[:700], y[:700])
    said = plain.predict(X[700:])
    paid = np.mean(
        5.0 * ((y[700:] == "bad") & (said == "good"))
        + 1.0 * ((y[700:] == "good") & (said == "bad"))
    )
    other = (
        clone(careful)
        .set_params(loss_matrix=LossMatrix.zero_one(["bad", "good"]))
        .fit(X[:700], y[:700])
    )
    assert plain.predict(X).tolist() == other.predict(X).tolist()
    assert careful.mean_loss(X[700:], y[700:]) < 0.8 * paid


def test_labeled_losses_are_matched_whatever_their_order():
    X, y = credit()
    a = MinimumRiskClassifier(
        NaiveBayes(), LossMatrix([[0, 5], [1, 0]], ["bad", "good"])
    ).fit(X, y)
    b = MinimumRiskClassifier(
        NaiveBayes(), LossMatrix([[0, 1], [5, 0]], ["good", "bad"])
    ).fit(X, y)
    assert a.predict(X).tolist() == b.predict(X).tolist()
    assert a.loss_matrix_ == b.loss_matrix_


@pytest.mark.parametrize("doubt", [0.0, 0.1, 0.3, 1.0])
@pytest.mark.syllabus("2.3")
def test_doubt_rejects_where_the_posterior_is_too_small(doubt):
    X, y = load_iris(return_X_y=True)
    model = MinimumRiskClassifier(GaussianNB(), doubt=doubt, reject_label=-1).fit(X, y)
    said, sure = model.predict(X), model.predict_proba(X).max(axis=1) > 1 - doubt
    assert said.dtype == y.dtype
    assert (said != -1).tolist() == sure.tolist()
    assert model.decide(X).rejected.tolist() == (~sure).tolist()
    assert model.score(X, y) == pytest.approx(np.mean(said == y))
    assert model.mean_loss(X, y) == pytest.approx(
        np.where(sure, said != y, doubt).mean()
    )
    assert model.actions_.tolist() == [0, 1, 2, -1]


def test_an_action_that_is_no_class_can_be_predicted():
    X, y = load_iris(return_X_y=True)
    values = np.column_stack([1 - np.eye(3), np.full(3, 0.2)])
    model = MinimumRiskClassifier(
        GaussianNB(), LossMatrix(values, [0, 1, 2], [0, 1, 2, "look again"])
    ).fit(X, y)
    doubtful = MinimumRiskClassifier(
        GaussianNB(), doubt=0.2, reject_label="look again"
    ).fit(X, y)
    assert "look again" in model.predict(X).tolist()
    assert model.predict(X).tolist() == doubtful.predict(X).tolist()
    assert model.mean_loss(X, y) == pytest.approx(doubtful.mean_loss(X, y))


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_calibration_is_that_of_scikit_learn(method):
    X, y = make_classification(300, random_state=0)
    model = MinimumRiskClassifier(GaussianNB(), calibrate=method, cv=3).fit(X, y)
    expected = CalibratedClassifierCV(
        GaussianNB(), method=method, cv=3, ensemble=False
    ).fit(X, y)
    assert_normalized(model.predict_proba(X), expected.predict_proba(X))
    assert not np.array_equal(
        model.predict_proba(X), GaussianNB().fit(X, y).predict_proba(X)
    )


def test_a_calibrated_classifier_explains_as_its_estimator_does():
    X, y = make_classification(120, random_state=0)
    plain = NaiveBayes().fit(X, y).explain(X[:5]).contributions
    calibrated = MinimumRiskClassifier(NaiveBayes(), calibrate="sigmoid", cv=3).fit(
        X, y
    )
    np.testing.assert_allclose(calibrated.explain(X[:5]).contributions, plain)
    frozen = FrozenEstimator(NaiveBayes().fit(X, y))
    model = MinimumRiskClassifier(frozen, calibrate="sigmoid").fit(X, y)
    np.testing.assert_allclose(model.explain(X[:5]).contributions, plain)
    assert not hasattr(
        MinimumRiskClassifier(GaussianNB(), calibrate="sigmoid").fit(X, y), "explain"
    )


@pytest.mark.parametrize("calibrate", [None, "sigmoid"])
def test_a_frozen_estimator_is_not_fitted_again(calibrate):
    X, y = make_classification(300, random_state=0)
    fitted = GaussianNB().fit(X[:200], y[:200])
    model = MinimumRiskClassifier(FrozenEstimator(fitted), calibrate=calibrate).fit(
        X[200:], y[200:]
    )
    before = fitted.predict_proba(X)
    if calibrate is None:
        assert_normalized(model.predict_proba(X), before)
    else:
        expected = CalibratedClassifierCV(
            FrozenEstimator(fitted), method="sigmoid"
        ).fit(X[200:], y[200:])
        assert_normalized(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator")
def test_weights_reach_the_calibration_of_a_frozen_estimator():
    X, y = make_classification(300, random_state=0)
    frozen, w = FrozenEstimator(GaussianNB().fit(X[:200], y[:200])), np.arange(100) % 3
    model = MinimumRiskClassifier(frozen, calibrate="sigmoid").fit(
        X[200:], y[200:], sample_weight=w
    )
    expected = CalibratedClassifierCV(frozen, method="sigmoid").fit(
        X[200:], y[200:], sample_weight=w
    )
    assert_normalized(model.predict_proba(X), expected.predict_proba(X))


def test_pipelines_and_searches_work_around_and_inside():
    X, y = make_classification(200, random_state=1)
    inside = MinimumRiskClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), [[0, 1], [3, 0]]
    )
    search = GridSearchCV(
        inside,
        {"estimator__logisticregression__C": [0.1, 1.0], "doubt": [None, 0.4]},
        cv=2,
    )
    search.fit(X, y)
    assert (
        search.best_params_["doubt"] is None
    )  # a rejected row is not right, so doubt cannot raise the score
    around = make_pipeline(
        StandardScaler(), MinimumRiskClassifier(LogisticRegression(), [[0, 1], [3, 0]])
    ).fit(X, y)
    assert around.predict(X).tolist() == clone(inside).fit(X, y).predict(X).tolist()


class Foreign(ClassifierMixin, BaseEstimator):
    """A classifier of another library: float32 posteriors, no classes_."""

    def fit(self, X, y):
        self.seen_ = True
        return self

    def predict_proba(self, X):
        p = np.linspace(0, 1, len(X), dtype=np.float32)
        return np.column_stack([1 - p, p])


def test_a_classifier_without_classes_is_given_those_of_y():
    model = MinimumRiskClassifier(Foreign(), {("a", "b"): 1, ("b", "a"): 3}).fit(
        np.zeros((4, 1)), list("abab")
    )
    # a tie at 0.25
    assert model.predict(np.zeros((5, 1))).tolist() == ["a", "a", "b", "b", "b"]
    with pytest.raises(DataError, match="does not take sample_weight"):
        model.fit(np.zeros((2, 1)), ["a", "b"], sample_weight=[1, 1])


def test_a_scanned_file_gives_what_the_frame_gives(tmp_path):
    X, y = credit()
    in_memory = scan(X.assign(y=y), target="y")
    frame = MinimumRiskClassifier(NaiveBayes(), COSTS, doubt=0.4).fit(in_memory)
    path = tmp_path / "credit.parquet"
    X.assign(y=y).to_parquet(path, row_group_size=100)
    rows = scan(path, target="y", memory=0)
    streamed = MinimumRiskClassifier(NaiveBayes(), COSTS, doubt=0.4).fit(rows)
    assert (
        streamed.predict(rows).tolist()
        == frame.predict(in_memory).tolist()
        == frame.predict(X).tolist()
    )
    assert streamed.n_features_in_ == 20
    assert streamed.feature_names_in_.tolist() == list(X.columns)
    with pytest.raises(SourceError, match="folds"):
        MinimumRiskClassifier(NaiveBayes(), calibrate="sigmoid").fit(rows)


def test_dask_predictions_stay_lazy():
    import dask.array as da

    X, y = load_iris(return_X_y=True)
    model = MinimumRiskClassifier(
        LinearDiscriminantAnalysis(), 1 - np.eye(3), doubt=0.2
    ).fit(X, y)
    lazy = model.predict(da.from_array(X, chunks=(40, 4)))
    assert hasattr(lazy, "compute")
    assert lazy.compute(scheduler="synchronous").tolist() == model.predict(X).tolist()


def test_summary_tells_losses_doubt_and_the_turning_point():
    X, y = credit()
    text = str(
        MinimumRiskClassifier(NaiveBayes(), COSTS, doubt=0.5).fit(X, y).summary()
    )
    assert "rows = true class, columns = action" in text
    assert "decides for good where its posterior exceeds  0.8333" in text
    assert "0.5, rejected as 'reject'" in text


def test_explanations_are_those_of_the_estimator():
    X, y = credit()
    model = MinimumRiskClassifier(NaiveBayes(), COSTS).fit(X, y)
    assert np.array_equal(
        model.explain(X[:3]).contributions,
        model.estimator_.explain(X[:3]).contributions,
    )
    assert not hasattr(MinimumRiskClassifier(GaussianNB()), "explain")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MinimumRiskClassifier(GaussianNB(), np.zeros((2, 2))), "2 rows for 3 classes"),
        (
            MinimumRiskClassifier(GaussianNB(), np.zeros((3, 4))),
            "needs names for its actions",
        ),
        (
            MinimumRiskClassifier(GaussianNB(), LossMatrix.zero_one(["a", "b", "c"])),
            "no row for a class: 0",
        ),
        (
            MinimumRiskClassifier(GaussianNB(), doubt=0.1, reject_label=1),
            "reject_label 1 is a class",
        ),
        (MinimumRiskClassifier(GaussianNB(), doubt=-1), "doubt"),
        (MinimumRiskClassifier(GaussianNB(), calibrate="platt"), "calibrate"),
    ],
)
def test_what_does_not_fit_the_classes_is_refused(model, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_a_loss_by_pairs_of_classes_is_saved_with_the_model(tmp_path):
    costs = {("yes", "no"): 5.0, ("no", "yes"): 1.0}
    model = MinimumRiskClassifier(NaiveBayes(), costs).fit(datasets.load("weather"))
    save(model, tmp_path / "model.lyceum")
    again = load(tmp_path / "model.lyceum")
    assert again.loss_matrix == costs
    rows = datasets.load("weather")
    assert again.predict(rows).tolist() == model.predict(rows).tolist()
