"""Memory and blocks give the same model for every setting that the catalog offers, pruning
included."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter
from tests.checks.cases import SETTINGS, case_of, learner_named
from tests.checks.fits import fit, outcome, same
from tests.checks.tables import Cuts, Data, data_for, frame_of

from lyceum import catalog
from lyceum.data import Rows

# What the search space does not have, and rows in blocks must not change either.
MORE = {
    "DecisionTreeClassifier": {
        "pruning": ["confidence", "pessimistic", "minimum_loss"],
        "max_bins": [3, 16],
        "ccp_alpha": [0.01],
        "max_p_value": [0.05],
        "continuous_split": ["multi_way"],
        "class_weight": ["balanced"],
        "loss_matrix": [np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])],
    },
    "C45": {
        "max_bins": [3, 16],
        "pruning": [None],
        "bound": ["normal", "exact"],
        "min_weight_leaf": [10.0],
        "loss_matrix": [np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])],
    },
    "ID3": {"max_bins": [3, 16], "max_p_value": [0.05]},
    "DecisionTreeRegressor": {"max_bins": [3, 16], "ccp_alpha": [0.1]},
}
LARGEST = {"n_clusters": 5, "n_components": 3, "n_centers": 5, "n_bins": 5}
BLOCKS = [
    entry
    for entry in catalog.learners()
    if learner_named(entry.name)._reads_rows != "in memory"
    and (entry.space or entry.name in MORE)
]


def settings(entry):
    """Every choice, and both ends of every range, up to what suits 150 rows."""
    given = [
        name
        for name, value in SETTINGS.get(entry.name, {}).items()
        if isinstance(value, np.ndarray)
    ]
    for name, space in (entry.space | MORE.get(entry.name, {})).items():
        if name in ("n_clusters", "n_components") and given:
            continue  # as many as the start that is given
        for value in space[:2] if isinstance(space, tuple) else space:
            yield (
                name,
                min(value, LARGEST[name])
                if name in LARGEST and isinstance(value, int)
                else value,
            )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("entry", BLOCKS, ids=lambda entry: entry.name)
def test_blocks_give_the_model_of_memory_at_every_cataloged_setting(entry):
    learner, case = learner_named(entry.name), case_of(entry.name)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    data = data_for(learner, 150, seed=5)
    data = Data(
        data.X,
        data.y,
        np.maximum(data.w, 1.0)
        if has_fit_parameter(learner, "sample_weight")
        else np.ones(150),
    )
    frame, tried = frame_of(data.X), set()
    for name, value in settings(entry):
        each = clone(learner).set_params(**{name: value})
        if (key := str(each.get_params())) in tried:
            continue  # the defaults, which many a search space has
        tried.add(key)
        expected = outcome(fit(each, frame, data.y, data.w), frame, case)
        found = outcome(fit(each, Rows(Cuts(data, seed=1, n_parts=3))), frame, case)
        same(expected, found, case.rtol, f"at {name}={value!r}")
