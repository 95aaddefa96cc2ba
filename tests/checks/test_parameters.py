"""Every parameter of every learner changes something, or is refused: none is accepted and ignored."""

import pytest
from tests.checks import parameters
from tests.checks.parameter_values import WITHOUT_EFFECT
from tests.checks.parameters import ignored, parameters_of, shown

from lyceum import catalog

NAMES = [entry.name for entry in catalog.learners()]


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_changes_what_is_learned_or_said(name):
    known = {("numbers", False, "{}"): shown(name, "numbers", False, {})}
    assert [*known.values()] == [shown(name, "numbers", False, {})], "not the same twice"
    tried = [parameter for parameter in parameters_of(name) if parameter not in WITHOUT_EFFECT]
    assert [parameter for parameter in tried if ignored(name, parameter, known)] == []


def test_a_parameter_that_is_ignored_is_found_out(monkeypatch):
    ridge = catalog.find("Ridge").load()

    class Deaf(ridge):
        def fit(self, X, y=None, sample_weight=None):
            alpha, self.alpha = self.alpha, 1.0
            super().fit(X, y, sample_weight)
            self.alpha = alpha
            return self

    class Entry:
        missing = False

        def load(self):
            return Deaf

    monkeypatch.setattr(parameters.catalog, "find", lambda name: Entry())
    assert ignored("Deaf", "alpha")
    assert not ignored("Deaf", "fit_intercept")
