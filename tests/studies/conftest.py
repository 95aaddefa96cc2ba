"""Studies that take a second: few folds, few learners, no pictures and short conclusions unless asked for."""

from functools import partial

import pytest

from lyceum.evaluate import learning_curve
from lyceum.studies import _conclusions, _effects, _report


def short_page(study, problems=None, content=None):
    return f"<!doctype html><title>{study.answer}</title>"


def shorten_conclusions(patch):
    """A learning curve of two folds and sizes; effects from one fold, of few rows at few points."""
    patch.setattr(_conclusions, "_CURVE_FOLDS", 2)
    patch.setattr(_conclusions, "learning_curve", partial(learning_curve, sizes=(0.5, 1.0)))
    few = {"_ROWS": 30, "_SHUFFLES": 2, "_POINTS": 4, "_PAIR_POINTS": 3, "_EFFECT_ROWS": 20, "_PAIR_ROWS": 10}
    for name, value in few.items():
        assert hasattr(_effects, name)
        patch.setattr(_effects, name, value)


@pytest.fixture
def short_conclusions(monkeypatch):
    shorten_conclusions(monkeypatch)


@pytest.fixture
def no_pictures(monkeypatch, short_conclusions):
    monkeypatch.setattr(_report, "render", short_page)


@pytest.fixture(scope="module")
def no_pictures_in_module():
    with pytest.MonkeyPatch.context() as patch:
        shorten_conclusions(patch)
        patch.setattr(_report, "render", short_page)
        yield
