"""Studies that take a second: few folds, few learners, no pictures and short conclusions unless
asked for."""

from functools import partial

import pytest

import lyceum
from lyceum import datasets
from lyceum.evaluate import learning_curve
from lyceum.studies import Recipe
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.report import effects as _effects, page as _report
from lyceum.studies.run import conclusions as _conclusions


def plan_for(name, target, **options):
    """The plan of a study of a bundled table, and its data."""
    recipe = Recipe(data=str(datasets.path(name)), target=target, **options)
    data = StudyData.of(recipe).check_rows()
    return Plan.of(recipe, data), data


def study_with_and_without(preparation, file, folder, patch, **options):
    """Two studies of y: one that prepares its table by default, and one that was told not to."""
    options |= {"folds": 3, "n_settings": 1}
    shorten_conclusions(patch)
    # those of any study
    patch.setattr(_report, "figures_of", lambda study, problems: [])
    prepared = lyceum.study(file, "y", out=folder / "with", **options)
    assert not prepared.problems  # its page is drawn
    patch.setattr(_report, "render", short_page)
    return prepared, lyceum.study(
        file, "y", out=folder / "without", **options, **{preparation: False}
    )


def short_page(study, problems=None, content=None):
    return f"<!doctype html><title>{study.answer}</title>"


def shorten_conclusions(patch):
    """A learning curve of two folds and sizes; effects from one fold, of few rows at few points."""
    patch.setattr(_conclusions, "_CURVE_FOLDS", 2)
    patch.setattr(
        _conclusions, "learning_curve", partial(learning_curve, train_sizes=(0.5, 1.0))
    )
    few = {
        "_ROWS": 30,
        "_SHUFFLES": 2,
        "_POINTS": 4,
        "_PAIR_POINTS": 3,
        "_EFFECT_ROWS": 20,
        "_PAIR_ROWS": 10,
    }
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
