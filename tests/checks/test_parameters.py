"""Every parameter of every learner changes something, or is refused: none is accepted and ignored.

On the way every fitted attribute is looked up in the docstring, for every setting that is tried.
"""

from dataclasses import dataclass

import pytest
from tests.checks import parameters
from tests.checks.parameter_values import WITHOUT_EFFECT
from tests.checks.parameters import ignored, parameters_of, shown

from lyceum import catalog

NAMES = [entry.name for entry in catalog.learners()]


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_changes_what_is_learned_or_said(name):
    known = {("numbers", False, "{}"): shown(name, "numbers", False, {})}
    assert [*known.values()] == [shown(name, "numbers", False, {})], (
        "not the same twice"
    )
    tried = [
        parameter
        for parameter in parameters_of(name)
        if parameter not in WITHOUT_EFFECT | without_effect(name)
        and f"{name}.{parameter}" not in WITHOUT_EFFECT
    ]
    assert [parameter for parameter in tried if ignored(name, parameter, known)] == []


def without_effect(name):
    """What the learner itself says has none: it is in its documentation, with the reason."""
    reasons = {}
    for base in reversed(catalog.find(name).load().__mro__):
        reasons |= vars(base).get("_without_effect", {})
    return reasons


@dataclass
class Entry:
    """An entry of the catalog, as far as parameters need it."""

    kind: type
    missing: bool = False

    def load(self):
        return self.kind


def test_a_parameter_that_is_ignored_is_found_out(monkeypatch):
    ridge = catalog.find("Ridge").load()

    class Deaf(ridge):
        def fit(self, X, y=None, sample_weight=None):
            alpha, self.alpha = self.alpha, 1.0
            super().fit(X, y, sample_weight)
            self.alpha = alpha
            return self

    monkeypatch.setattr(parameters.catalog, "find", lambda name: Entry(Deaf))
    assert ignored("Deaf", "alpha")
    assert not ignored("Deaf", "fit_intercept")


def test_an_attribute_that_only_one_setting_has_must_be_described(monkeypatch):
    ridge = catalog.find("Ridge").load()

    class Silent(ridge):
        def fit(self, X, y=None, sample_weight=None):
            super().fit(X, y, sample_weight)
            if not self.fit_intercept:
                self.through_origin_ = True
            return self

    monkeypatch.setattr(parameters.catalog, "find", lambda name: Entry(Silent))
    assert not ignored("Silent", "alpha")
    with pytest.raises(AssertionError, match=r"does not describe: .'through_origin_'"):
        ignored("Silent", "fit_intercept")
