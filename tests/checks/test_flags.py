"""The flags of the catalog, which every class declares itself, are true of a learner with its
defaults."""

import numpy as np
import pytest
from sklearn.utils import get_tags
from tests.checks.fits import fit
from tests.checks.source_laws import cut_short, passes_without_memory
from tests.checks.tables import data_for

from lyceum import catalog

ENTRIES = catalog.learners()
UNITS = np.array([8.0, 1.0, 1.0, 0.25])  # of the columns, against those before

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def by_name(entry):
    return entry.name


@pytest.mark.parametrize("entry", ENTRIES, ids=by_name)
def test_scales_is_how_rows_are_read_that_memory_cannot_hold(entry):
    passes = passes_without_memory(entry.load()())
    found = (
        "in memory" if passes is None else "many passes" if passes > 1 else "one pass"
    )
    assert found == entry.scales


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e.settings_in_passes], ids=by_name
)
def test_settings_in_passes_are_for_learners_that_otherwise_work_in_memory(entry):
    assert entry.scales == "in memory"
    assert passes_without_memory(entry.load()(**entry.settings_in_passes)) > 1


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if hasattr(e.load(), "predict")], ids=by_name
)
def test_units_matter_where_scaling_is_needed(entry):
    learner = cut_short(entry.load()())
    if entry.name == "DBSCAN":
        learner.set_params(eps=2.0)  # at its default all rows of the table are noise
    if entry.name == "LabelPropagation":
        learner.set_params(gamma=0.1)  # at its default a row is near itself alone
    data = data_for(learner, 80)
    one, other = (scores(fit(learner, X, data.y), X) for X in (data.X, data.X * UNITS))
    counts = get_tags(
        learner
    ).input_tags.positive_only  # have a unit, which scaling would take away
    assert counts or entry.needs_scaling == (
        not np.allclose(one, other, rtol=1e-4, atol=1e-4)
    )


def scores(fitted, X):
    """What changes first when a prediction does; the places of classes and clusters otherwise."""
    name = next(
        name
        for name in ("predict_proba", "decision_function", "predict")
        if hasattr(fitted, name)
    )
    found = np.asarray(getattr(fitted, name)(X))
    return (
        found if found.dtype.kind in "fi" else np.unique(found, return_inverse=True)[1]
    )
