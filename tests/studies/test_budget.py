"""What a study does when its time is over: what is left out or shortened is said, and more time
makes it."""

import time

import pytest

import lyceum
from lyceum import datasets, progress
from lyceum.bayes import NaiveBayes
from lyceum.errors import Cancelled
from lyceum.studies import Recipe
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.run import conclusions as _conclusions
from lyceum.studies.run.settings_search import SettingsSearch
from lyceum.studies.run.tasks import Budget

pytestmark = pytest.mark.usefixtures("no_pictures")


class SlowBayes(NaiveBayes):
    """Naive Bayes that takes 20 ms for every 500 rows."""

    def fit(self, X, y=None, sample_weight=None):
        for _ in range(len(X) // 500):
            progress.report("steps", 0)
            time.sleep(0.02)
        return super().fit(X, y, sample_weight)


@pytest.fixture
def final_fit(tmp_path, monkeypatch):
    """A final fit of 16,000 rows that takes 0.64 s, with a deadline and no time to search."""
    monkeypatch.setattr("lyceum.studies.run.pipelines.learner_class", lambda name: SlowBayes)
    monkeypatch.setattr(_conclusions, "_GRACE", 0.2)
    path = tmp_path / "many.csv"
    path.write_text(
        "x,y\n" + "\n".join(f"{i % 97},{'yes' if i % 97 > 50 else 'no'}" for i in range(16_000))
    )
    recipe = Recipe(data=str(path), target="y", learners=("NaiveBayes",))
    data = StudyData.of(recipe)
    plan, hurried = Plan.of(recipe, data), []

    def made(deadline, is_late=True):
        def hurry():
            hurried.append(True)

        return _conclusions.FinalFit(plan, data, None, "NaiveBayes", {}, deadline, is_late, hurry)

    return made, hurried


def test_a_final_fit_that_takes_too_long_is_made_on_fewer_rows(final_fit):
    made, hurried = final_fit
    model, settings, n_rows = made(time.monotonic()).fit()
    assert (n_rows, settings, hurried) == (2_000, {}, [True])
    assert model.classes_.tolist() == ["no", "yes"]


def test_a_final_fit_with_time_is_on_all_rows_and_searched(final_fit, monkeypatch):
    made, hurried = final_fit
    searched = []
    monkeypatch.setattr(
        _conclusions, "search_settings", lambda *a: searched.append(a) or SettingsSearch({}, 2)
    )
    assert made(time.monotonic() + 60.0, False).fit()[2] is None
    assert len(searched) == 1
    assert not hurried


def test_a_request_to_stop_ends_a_final_fit(final_fit):
    made, _ = final_fit
    with progress.watch() as watched:
        watched.cancel()
        with pytest.raises(Cancelled):
            made(time.monotonic() + 60.0).fit()


def test_time_is_kept_for_what_follows_the_folds():
    now = time.monotonic()
    short, long = Budget.of(1.0), Budget.of(60.0)
    assert short.tasks_end == pytest.approx(now + 48.0, abs=1.0)
    assert long.tasks_end == pytest.approx(now + 3540.0, abs=1.0)
    assert Budget.of(0).is_over
    assert not Budget.of(None).is_over


def test_conclusions_without_time_are_named_and_made_when_there_is_more(tmp_path, monkeypatch):
    ask = {
        "learners": ["NaiveBayes"],
        "folds": 2,
        "n_settings": 1,
        "holdout": 0.2,
        "out": tmp_path / "study",
    }
    with monkeypatch.context() as patch:
        patch.setattr(Budget, "is_over", property(lambda self: True))
        found = lyceum.study(datasets.path("penguins"), "species", budget=60.0, **ask)
    [said] = [text for text in found.comparison.statements if text.startswith("The time allowed")]
    assert (
        "the learning curve, the importance of the columns and the test on the rows held out"
        in said
    )
    assert found.effects is found.comparison.holdout is None
    again = lyceum.study(datasets.path("penguins"), "species", **ask)
    assert again.effects is not None
    assert again.comparison.holdout is not None
