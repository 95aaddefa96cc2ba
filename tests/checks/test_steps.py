"""Every record is a table of steps whose columns are described, and ends in what was fitted."""

import inspect
import json

import numpy as np
import pytest

from lyceum import catalog, datasets
from lyceum.errors import SettingError
from lyceum.linear import LogisticRegression
from lyceum.report import Steps
from lyceum.trees import ID3

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(0, 1, (20, 2)), RNG.normal(2, 1, (20, 2))])
CLASSES = np.repeat([0, 1], 20)
NUMBERS = X @ [1.0, 2.0] + RNG.normal(size=40)
SETTINGS = {
    "LinearRegression": {"solver": "gradient_descent"},
    "RBFNetworkRegressor": {"fit_by": "gradient", "n_centers": 3, "max_iter": 5},
    "RBFNetworkClassifier": {"n_centers": 3},
    "MLPClassifier": {"hidden_layer_sizes": (2,), "max_iter": 3, "tol": None},
    "MLPRegressor": {"hidden_layer_sizes": (2,), "max_iter": 3, "tol": None},
    "HistGradientBoostingClassifier": {"max_iter": 3},
    "HistGradientBoostingRegressor": {"max_iter": 3},
    "MixtureOfExperts": {"n_experts": 2},
    "GaussianMixture": {"n_components": 2},
    "StudentMixture": {"n_components": 2},
    "KMeans": {"n_clusters": 2},
    "C45": {"min_weight_leaf": 1},
    "Perceptron": {"max_iter": 20},
    "KernelPerceptron": {"max_iter": 200, "kernel": "rbf", "gamma": 5.0},
    "AdaBoostClassifier": {"n_estimators": 5},
    "AdaBoostRegressor": {"n_estimators": 5},
}
RECORDING = [entry for entry in catalog.learners() if entry.load()._step_kind]


def rows_for(entry):
    """Rows and targets, as a learner needs them."""
    if entry.name == "BernoulliMixture":
        return (X > 0).astype(float), None
    if entry.name == "MultinomialMixture":
        return np.abs(X).round(), None
    if entry.name == "SelfTrainingClassifier":
        return X, np.where(np.arange(40) % 3, CLASSES, -1)
    if entry.name == "IterativeImputer":
        return np.where(np.arange(80).reshape(40, 2) % 7, X, np.nan), None
    if entry.task == "regression":
        return X, NUMBERS
    return X, CLASSES


def recorded(entry):
    learner = entry.build()
    settings = dict(SETTINGS.get(entry.name, {}))
    if "record" in inspect.signature(type(learner)).parameters:
        settings["record"] = True
    if "random_state" in learner.get_params():
        settings["random_state"] = 0
    rows, target = rows_for(entry)
    if entry.name == "TrAdaBoost":
        return learner.set_params(**settings).fit(rows, target, CLASSES == 0)
    return learner.set_params(**settings).fit(rows, target)


def test_every_learner_with_a_record_describes_its_steps():
    keeps = {
        entry.name
        for entry in catalog.learners()
        if "record" in inspect.signature(entry.load()).parameters
    }
    assert keeps <= {entry.name for entry in RECORDING}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("entry", RECORDING, ids=lambda entry: entry.name)
def test_steps_are_described_and_the_last_is_what_was_fitted(entry):
    learner = recorded(entry)
    steps = learner.steps()
    assert isinstance(steps, Steps)
    records = steps.records
    assert len(steps) == len(records) > 0
    if hasattr(learner, "record_"):
        assert records is learner.record_
    described = {column.name for column in type(learner)._step_kind.columns}
    kept = {name for record in records for name in record}
    assert kept - {"step"} <= described
    for column in steps.columns:
        assert column.formula
        if column.ends_in:
            last = records[-1][column.name]
            fitted = getattr(learner, column.ends_in)
            np.testing.assert_array_equal(np.ravel(last), np.ravel(fitted))
    as_dict = steps.as_dict()
    assert json.loads(json.dumps(as_dict, allow_nan=False)) == as_dict
    assert len(as_dict["steps"]) == len(steps)
    page = steps._repr_html_()
    for text in (str(steps), page, steps.to_latex()):
        assert steps.noun in text
    assert page.count("<tr>") == len(steps) + 1 + sum(
        len(table.rows) + 1 for i in range(len(steps)) for table in steps.detail(i)
    )


def test_the_gain_table_of_the_weather_is_quinlans():
    steps = ID3(record=True).fit(datasets.load("weather")).steps()
    (table,) = steps.detail(0)
    gains = {row[0]: round(row[1], 3) for row in table.rows}
    assert gains == {
        "outlook": 0.247,
        "temperature": 0.029,
        "humidity": 0.152,
        "windy": 0.048,
    }
    assert table.columns == ["column", "gain", "score"]
    page = steps._repr_html_()
    assert '<td style="text-align:left">outlook</td>' in page
    assert '<td style="text-align:right">0.9403</td>' in page


def test_arrays_have_a_column_per_number_and_long_records_a_gap():
    model = LogisticRegression(record=True, tol=1e-12).fit(X, np.arange(40) % 3)
    table = model.steps().table()
    assert table.columns[:3] == ["step", "w 0 x0", "w 0 x1"]
    last = [row[1] for row in table.rows][-1]
    assert last == model.coef_[0, 0]
    short = model.steps().table(most=2)
    assert len(short.rows) == 3
    assert short.rows[1][0] == "…"


def test_without_a_record_the_way_to_one_is_said():
    model = LogisticRegression().fit(X, CLASSES)
    with pytest.raises(SettingError, match="fit it with record=True"):
        model.steps()
    assert not hasattr(catalog.find("PCA").build(), "steps")
