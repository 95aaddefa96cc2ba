"""Every result of the room prints, shows in a notebook and becomes JSON."""

import inspect
import json
from dataclasses import fields

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from lyceum import evaluate
from lyceum.density import GaussianDensity, KernelDensity
from lyceum.evaluate.printable import Printable

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = np.where(X[:, 0] + rng.normal(size=60) > 0, "yes", "no")
p = 1 / (1 + np.exp(-X[:, 0]))
number = X[:, 0] + rng.normal(size=60)
decided = np.where(p > 0.5, "yes", "no")

RESULTS = {
    "AucInterval": lambda: evaluate.auc_interval(y, p),
    "BayesFactor": lambda: evaluate.bayes_factor(1_000.0, -10.0),
    "BiasVariance": lambda: evaluate.bias_variance(
        GaussianNB(), X, y, X, y, n_rounds=3
    ),
    "BinaryReport": lambda: evaluate.binary_report(y, decided),
    "Bootstrap632": lambda: evaluate.bootstrap_632(GaussianNB(), X, y, n_rounds=3),
    "Bound": lambda: evaluate.hoeffding_bound(n=100, alpha=0.05),
    "Calibration": lambda: evaluate.calibration_curve(y, p),
    "ClassAverages": lambda: evaluate.class_report(y, decided).macro,
    "ClassReport": lambda: evaluate.class_report(y, decided),
    "Cobweb": lambda: evaluate.cobweb(evaluate.confusion_matrix(y, decided)),
    "Confusion": lambda: evaluate.confusion_matrix(y, decided),
    "CorrectedT": lambda: evaluate.corrected_t(
        [0.1, 0.1], [0.2, 0.2], test_to_train=1.0
    ),
    "CostCurve": lambda: evaluate.cost_curve(y, p),
    "CrossValidation": lambda: evaluate.cross_validate(GaussianNB(), X, y, cv=3),
    "DeLong": lambda: evaluate.delong(y, p, X[:, 1]),
    "DensityErrors": lambda: evaluate.density_errors(
        KernelDensity(),
        GaussianDensity().fit(X),
        "bandwidth",
        [0.5, 1.0],
        n_rows=20,
        n_rounds=3,
    ),
    "ErrorParts": lambda: evaluate.error_parts(y, decided, y, y, loss="error"),
    "FitVerdict": lambda: evaluate.fit_verdict(0.1, 0.3, 0.5),
    "FiveByTwoTest": lambda: evaluate.five_by_two(
        np.full((5, 2), 0.1), np.full((5, 2), 0.2)
    ),
    "InformationCriteria": lambda: evaluate.information_criteria(-10.0, 3, 2),
    "Interval": lambda: evaluate.error_interval(3, 10),
    "LearningCurve": lambda: evaluate.learning_curve(
        LinearRegression(), X, number, cv=3
    ),
    "McNemar": lambda: evaluate.mcnemar(y, decided, decided),
    "PairedT": lambda: evaluate.paired_t([0.1, 0.2, 0.3], [0.2, 0.2, 0.5]),
    "PrecisionRecall": lambda: evaluate.precision_recall_curve(y, p),
    "RankComparison": lambda: evaluate.compare_ranks([[0.1, 0.2], [0.2, 0.4]]),
    "RegressionReport": lambda: evaluate.regression_report(number, number + 1),
    "RocCurve": lambda: evaluate.roc_curve(y, p),
    "ValidationCurve": lambda: evaluate.validation_curve(
        GaussianNB(), X, y, param_name="priors", param_range=[None, (0.5, 0.5)], cv=3
    ),
}


def test_every_result_is_listed_here():
    classes = [getattr(evaluate, name) for name in evaluate.__all__]
    results = [
        one for one in classes if inspect.isclass(one) and issubclass(one, Printable)
    ]
    assert sorted(RESULTS) == sorted(one.__name__ for one in results)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_becomes_strict_json_with_all_its_values(name):
    result = RESULTS[name]()
    assert type(result).__name__ == name
    values = result.as_dict()
    json.dumps(values, allow_nan=False)
    assert {field.name for field in fields(result)} <= set(values)
    assert not any(
        isinstance(value, np.generic | np.ndarray) for value in values.values()
    )


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_its_summary(name):
    result = RESULTS[name]()
    assert str(result) == str(result.summary())
    assert result._repr_html_() == result.summary()._repr_html_()


def test_derived_values_are_among_those_of_json():
    values = evaluate.binary_report(tp=3, fp=1, fn=2, tn=4).as_dict()
    assert (values["tp"], values["recall"], values["precision"]) == (3.0, 0.6, 0.75)
    assert evaluate.bayes_factor(1_000.0, -10.0).as_dict()["factor"] is None  # infinite
