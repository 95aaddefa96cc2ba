"""Results of decision, linear and networks are JSON by `as_dict()`, as those of evaluate are."""

import json

import numpy as np
import pandas as pd
import pytest

from lyceum.bayesnets import BayesNet, TableNode, learn_structure
from lyceum.decision import error_reject_curve, minimum_risk
from lyceum.linear import lasso_path, simple_regression

POSTERIORS = [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]]
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.5]])
RAIN = ["no", "no", "yes", "yes"] * 5
NET = BayesNet([TableNode("rain", ["no", "yes"], table=[0.8, 0.2])])

RESULTS = {
    "error_reject_curve": lambda: error_reject_curve([0, 1, 0], POSTERIORS),
    "minimum_risk": lambda: minimum_risk(POSTERIORS, doubt=0.2),
    "simple_regression": lambda: simple_regression(X[:, 0], [0.0, 1.0, 2.0, 2.0]),
    "simple_regression of two rows": lambda: simple_regression([0.0, 1.0], [0.0, 1.0]),
    "lasso_path": lambda: lasso_path(X, [0.0, 1.0, 2.0, 2.0], alphas=3),
    "most_probable": lambda: NET.most_probable({}),
    "learn_structure": lambda: learn_structure(
        pd.DataFrame({"rain": RAIN, "wet": RAIN})
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_json(name):
    found = RESULTS[name]().as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_values_are_those_of_the_result():
    curve = RESULTS["error_reject_curve"]()
    found = curve.as_dict()
    assert found["reject_rate"] == curve.reject_rate.tolist()
    assert found["thresholds"][-1] is None
    assert RESULTS["most_probable"]().as_dict()["states"] == {"rain": "no"}
    assert RESULTS["learn_structure"]().as_dict()["edges"] in (
        [["rain", "wet"]],
        [["wet", "rain"]],
    )
    path = RESULTS["lasso_path"]()
    assert path.as_dict()["n_nonzero"] == path.n_nonzero.tolist()
