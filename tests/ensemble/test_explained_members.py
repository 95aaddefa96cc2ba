"""Ensembles explain their predictions in table columns, whatever their members are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import (
    LogisticRegression as TheirLogistic,
    Ridge as TheirRidge,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GenericBoostingClassifier,
    GenericBoostingRegressor,
)
from lyceum.linear import LogisticRegression, Ridge
from lyceum.persist import load, save
from lyceum.prepare import StandardScaler
from lyceum.trees import DecisionTreeClassifier

rng = np.random.default_rng(0)
FRAME = pd.DataFrame(rng.normal(size=(90, 2)), columns=["age", "income"])
FRAME["island"] = rng.choice(["Biscoe", "Dream", "Torgersen"], 90)
NUMBER = (2 * FRAME.age + FRAME.income + (FRAME.island == "Dream")).to_numpy()
LABELS = np.array(["a", "b", "c"])[np.digitize(NUMBER, [-0.5, 1.0])]
NEW = FRAME[:6]


def _encoded(learner):
    return make_pipeline(
        make_column_transformer((OneHotEncoder(), ["island"]), remainder="passthrough"),
        learner,
    )


CLASSIFIERS = [
    ensemble(member, n_estimators=2, random_state=0, **settings)
    for ensemble, settings in (
        (BaggingClassifier, {}),
        (BaggingClassifier, {"voting": "hard"}),
        (AdaBoostClassifier, {"method": "resample"}),
    )
    for member in (
        NaiveBayes(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        _encoded(TheirLogistic()),
        DecisionTreeClassifier(max_depth=3, loss_matrix=1.0 - np.eye(3)),
        DecisionTreeClassifier(max_depth=3, missing="fractions"),
    )
] + [
    GenericBoostingClassifier(member, 2)
    for member in (make_pipeline(StandardScaler(), Ridge()), _encoded(TheirRidge()))
]
REGRESSORS = [
    ensemble(member, n_estimators=2, random_state=0, **settings)
    for ensemble, settings in (
        (BaggingRegressor, {}),
        (AdaBoostRegressor, {"method": "resample"}),
        (GenericBoostingRegressor, {}),
    )
    for member in (make_pipeline(StandardScaler(), Ridge()), _encoded(TheirRidge()))
]


def _show(model):
    return f"{type(model).__name__}-{type(model.estimator).__name__}-{getattr(model, 'voting', '')}"


def _fitted(model, y):
    """With a short background: every row of it takes as long as the others."""
    model.fit(FRAME, y)
    if hasattr(model, "background_"):
        model.background_ = model.background_[::8].copy()
    return model


def _check_cells(found):
    assert list(found.names) == ["age", "income", "island"]
    assert found.values[:, 2].tolist() == NEW.island.tolist()


@pytest.mark.parametrize("model", CLASSIFIERS, ids=_show)
def test_any_classifiers_together_explain_their_posterior(model):
    found = _fitted(model, LABELS).explain(NEW)
    _check_cells(found)
    assert found.predicted.tolist() == model.predict(NEW).tolist()
    if found.unit in ("posterior", "votes"):
        np.testing.assert_allclose(
            found.scores, model.predict_proba(NEW).max(axis=1), atol=1e-12
        )
    else:
        log_proba = np.sort(model.predict_log_proba(NEW), axis=1)
        np.testing.assert_allclose(
            found.scores, log_proba[:, -1] - log_proba[:, -2], atol=1e-9
        )


@pytest.mark.parametrize("model", REGRESSORS, ids=_show)
def test_any_regressors_together_explain_their_number(model):
    found = _fitted(model, NUMBER).explain(NEW)
    _check_cells(found)
    np.testing.assert_allclose(found.scores, model.predict(NEW), atol=1e-12)


@pytest.mark.parametrize("model", [CLASSIFIERS[0], REGRESSORS[0]], ids=_show)
def test_scanned_rows_are_explained_as_the_frame(model):
    y = LABELS if hasattr(model, "predict_proba") else NUMBER
    fitted = model.fit(scan(FRAME.assign(y=y), target="y"))
    np.testing.assert_allclose(
        fitted.explain(scan(NEW)).scores, fitted.explain(NEW).scores
    )


def test_a_member_of_columns_of_its_own_is_explained_by_the_columns_of_the_table():
    model = BaggingClassifier(NaiveBayes(), 5, max_features=0.4, random_state=0).fit(
        FRAME, LABELS
    )
    found = model.explain(NEW)
    _check_cells(found)
    np.testing.assert_allclose(
        found.scores, model.predict_proba(NEW).max(axis=1), atol=1e-12
    )


def test_the_background_goes_with_the_members_that_need_it():
    model = BaggingClassifier(NaiveBayes(), 2, random_state=0).fit(FRAME, LABELS)
    assert model.background_.shape == (32, 3)
    model.set_params(estimator=None).fit(FRAME, LABELS)
    assert not hasattr(model, "background_")


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(NaiveBayes(), 2),
        AdaBoostClassifier(NaiveBayes(), n_estimators=2),
    ],
)
def test_a_model_with_a_column_without_cells_is_saved_with_its_background(
    model, tmp_path
):
    frame = FRAME.assign(empty=np.nan)
    fitted = model.fit(frame, LABELS)
    assert np.isnan(fitted.background_[:, 3]).all()
    path = tmp_path / "model.lyceum"
    save(fitted, path)
    np.testing.assert_array_equal(
        load(path).explain(frame[:5]).scores, fitted.explain(frame[:5]).scores
    )
