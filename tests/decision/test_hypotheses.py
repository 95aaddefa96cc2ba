"""The Bayes optimal classifier against the formula written out."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.checks.scikit_learn import obeys_scikit_learn

from lyceum import datasets, scan
from lyceum.bayes import LinearDiscriminantAnalysis, NaiveBayes
from lyceum.decision import BayesOptimalClassifier, hypothesis_posterior
from lyceum.errors import DataError, SettingError, SourceError


def three(cv=None, **options):
    named = [
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=1)),
        ("prior", DummyClassifier()),
    ]
    return BayesOptimalClassifier(named, cv=cv, **options)


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks():
    obeys_scikit_learn(
        BayesOptimalClassifier(
            [NaiveBayes(), LinearDiscriminantAnalysis(covariance="diagonal")]
        )
    )


@pytest.mark.syllabus("2.4")
def test_posterior_and_prediction_are_the_formula_written_out():
    X, y = load_iris(return_X_y=True)
    prior = np.array([0.2, 0.3, 0.5])
    model = three(prior=prior).fit(X[::3], y[::3])
    fitted = [h.fit(X[::3], y[::3]) for _, h in three().hypotheses]
    likelihood = np.array(
        [
            np.prod([h.predict_proba(X[i : i + 1])[0, y[i]] for i in range(0, 150, 3)])
            for h in fitted
        ]
    )
    expected = likelihood * prior / (likelihood @ prior)
    assert model.posterior_ == pytest.approx(expected)
    assert model.log_likelihood_ == pytest.approx(np.log(likelihood))
    mixed = sum(p * h.predict_proba(X) for p, h in zip(expected, fitted))
    assert model.predict_proba(X) == pytest.approx(mixed)
    assert model.predict(X).tolist() == mixed.argmax(axis=1).tolist()
    assert model.map_hypothesis() is model.hypotheses_[int(expected.argmax())]


@pytest.mark.syllabus("2.4.2")
def test_map_and_ml_hypotheses_differ_when_the_prior_is_strong():
    X, y = load_iris(return_X_y=True)
    model = three(prior=[1e-200, 1e-150, 1.0]).fit(X, y)
    assert model.ml_hypothesis() is model.hypotheses_[0]
    assert model.map_hypothesis() is model.hypotheses_[2]
    text = str(model.summary())
    assert "most probable hypothesis (MAP)  prior" in text
    assert "most likely hypothesis (ML)     bayes" in text


def test_many_rows_do_not_underflow():
    X, y = make_classification(20_000, random_state=0)
    model = BayesOptimalClassifier([LogisticRegression(), GaussianNB()]).fit(X, y)
    assert model.log_likelihood_.max() < -1000
    assert model.posterior_.sum() == pytest.approx(1.0)


def test_weight_two_equals_repeated_row():
    X, y = load_iris(return_X_y=True)
    w = np.arange(150) % 3
    model = BayesOptimalClassifier([GaussianNB(), DummyClassifier()])
    weighted = model.fit(X, y, sample_weight=w).log_likelihood_
    repeated = model.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).log_likelihood_
    assert weighted == pytest.approx(repeated)


def test_folds_take_the_likelihood_of_unseen_rows():
    X, y = load_iris(return_X_y=True)
    model = three(cv=3).fit(X, y)
    P = cross_val_predict(GaussianNB(), X, y, cv=3, method="predict_proba")
    assert model.log_likelihood_[0] == pytest.approx(np.log(P[np.arange(150), y]).sum())
    deep = [DecisionTreeClassifier(random_state=0), GaussianNB()]
    assert (
        BayesOptimalClassifier(deep).fit(X, y).map_hypothesis().__class__
        is DecisionTreeClassifier
    )
    assert (
        BayesOptimalClassifier(deep, cv=3).fit(X, y).map_hypothesis().__class__
        is GaussianNB
    )


def test_a_hypothesis_without_posteriors_gives_its_prediction_probability_one():
    X, y = load_iris(return_X_y=True)
    model = BayesOptimalClassifier(
        [LinearSVC(random_state=0), GaussianNB()], weights=[0.6, 0.4]
    ).fit(X, y)
    said = model.hypotheses_[0].predict(X)
    expected = 0.6 * np.eye(3)[said] + 0.4 * model.hypotheses_[1].predict_proba(X)
    assert model.predict_proba(X) == pytest.approx(expected)


def test_a_hypothesis_that_knows_fewer_classes_gives_the_others_nothing():
    X, y = load_iris(return_X_y=True)
    narrow = FrozenEstimator(GaussianNB().fit(X[:100], y[:100]))
    model = BayesOptimalClassifier([narrow, GaussianNB()], weights=[0.5, 0.5]).fit(X, y)
    assert model.predict_proba(X)[:, 2] == pytest.approx(
        0.5 * model.hypotheses_[1].predict_proba(X)[:, 2]
    )
    assert BayesOptimalClassifier([narrow, GaussianNB()]).fit(
        X, y
    ).posterior_.tolist() == [
        0.0,
        1.0,
    ]


def test_a_scanned_file_gives_what_arrays_give(tmp_path):
    rows = scan(datasets.path("german_credit"), target="class")
    model = BayesOptimalClassifier([NaiveBayes(), NaiveBayes(priors="uniform")]).fit(
        rows
    )
    P = [h.predict_proba(rows) for h in model.hypotheses_]
    y = rows.schema.target.categories[rows.collect(lambda block: block.y)]
    columns = np.searchsorted(model.classes_, y)
    expected = [np.log(p[np.arange(1000), columns]).sum() for p in P]
    assert model.log_likelihood_ == pytest.approx(expected)
    with pytest.raises(SourceError, match="folds"):
        BayesOptimalClassifier([NaiveBayes()], cv=3).fit(rows)


def test_named_hypotheses_can_be_set():
    model = three().set_params(tree__max_depth=3, bayes=LogisticRegression())
    assert model.get_params()["tree__max_depth"] == 3
    assert isinstance(model.hypotheses[0][1], LogisticRegression)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: BayesOptimalClassifier([]).fit(X, y), "no hypotheses"),
        (lambda X, y: three(prior=[1, 2]).fit(X, y), "prior has the shape"),
        (lambda X, y: three(weights=[1, -1, 1]).fit(X, y), "not negative"),
        (lambda X, y: three(weights=[0, 0, 0]).fit(X, y), "not all zero"),
        (
            lambda X, y: BayesOptimalClassifier([("a", GaussianNB())] * 2).fit(X, y),
            "share a name, 'a'",
        ),
        (
            lambda X, y: BayesOptimalClassifier(
                [DummyClassifier(strategy="constant", constant=0)]
            ).fit(X, y),
            "probability 0",
        ),
        (lambda X, y: hypothesis_posterior([np.nan, 0.0]), "NaN"),
    ],
)
def test_what_cannot_be_weighed_is_refused(call, message):
    with pytest.raises((DataError, SettingError), match=message):
        call(*load_iris(return_X_y=True))
