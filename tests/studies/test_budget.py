"""What a study does when its time is over: what is left out or shortened is said, and more time
makes it."""

import math
import os
import time

import pytest

import lyceum
from lyceum import datasets, progress
from lyceum.bayes import NaiveBayes
from lyceum.errors import Cancelled
from lyceum.studies import Recipe
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.run import conclusions as _conclusions, deadline as _deadline
from lyceum.studies.run.deadline import Deadline
from lyceum.studies.run.schedule import Race
from lyceum.studies.run.settings_search import SettingsSearch

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
    monkeypatch.setattr(
        "lyceum.studies.run.pipelines.learner_class", lambda name: SlowBayes
    )
    monkeypatch.setattr(_conclusions, "_GRACE", 0.2)
    path = tmp_path / "many.csv"
    path.write_text(
        "x,y\n"
        + "\n".join(f"{i % 97},{'yes' if i % 97 > 50 else 'no'}" for i in range(16_000))
    )
    recipe = Recipe(data=str(path), target="y", learners=("NaiveBayes",))
    data = StudyData.of(recipe)
    plan = Plan.of(recipe, data)

    def fit(seconds, reserve=1e9, **known):
        deadline = Deadline(time.monotonic() + seconds, reserve)
        return _conclusions.fit_choice(
            plan, data, None, "NaiveBayes", {}, deadline, **known
        )

    return fit


def test_a_final_fit_that_takes_too_long_is_made_on_fewer_rows(final_fit, monkeypatch):
    monkeypatch.setattr(_conclusions, "search_settings", None)  # nothing is searched
    final = final_fit(0.0)
    assert (final.n_rows, final.in_time) == (2_000, False)
    assert final.model.classes_.tolist() == ["no", "yes"]


def test_a_final_fit_that_is_known_to_take_too_long_is_not_begun(
    final_fit, monkeypatch
):
    monkeypatch.setattr(_conclusions, "search_settings", None)  # nothing is searched
    begun = []
    rows_of = _conclusions._sample_rows
    monkeypatch.setattr(
        _conclusions,
        "_sample_rows",
        lambda plan, data, n: begun.append(n) or rows_of(plan, data, n),
    )
    final = final_fit(0.0, fit_seconds=1.0)  # of which 0.2 are to be had
    assert (final.n_rows, begun) == (2_000, [2_000])
    begun.clear()
    # and so much of what is kept for the end at most
    assert final_fit(0.0, reserve=0.4, fit_seconds=0.64).n_rows <= 2_000


def test_a_final_fit_with_time_is_on_all_rows_and_searched(final_fit, monkeypatch):
    searched = []
    monkeypatch.setattr(
        _conclusions,
        "search_settings",
        lambda *a, **named: searched.append(a) or SettingsSearch({}, 2),
    )
    final = final_fit(60.0, reserve=0.0)
    assert final.n_rows is None
    assert len(searched) == 1
    assert final.in_time


def test_a_request_to_stop_ends_a_final_fit(final_fit):
    with progress.watch() as watched:
        watched.cancel()
        with pytest.raises(Cancelled):
            final_fit(60.0)


def test_time_is_kept_for_what_follows_the_folds(monkeypatch):
    monkeypatch.setattr(_deadline, "_slowness", lambda: 1.0)
    now = time.monotonic()
    short, long = Deadline.in_minutes(1.0), Deadline.in_minutes(60.0)
    assert short.for_folds.end == pytest.approx(now + 48.0, abs=1.0)
    assert long.for_folds.end == pytest.approx(now + 3540.0, abs=1.0)
    assert Deadline.in_minutes(0).is_over
    assert not Deadline.in_minutes(None).is_over


def test_a_loaded_machine_keeps_more_time_and_a_command_counts_its_own_start(
    monkeypatch,
):
    n_waiting = 3.0 * (os.cpu_count() or 1)
    monkeypatch.setattr(_deadline, "_LEAST_RUN", math.inf)
    monkeypatch.setattr(_deadline.os, "getloadavg", lambda: (n_waiting, 0.0, 0.0))
    now = time.monotonic()
    busy = Deadline.in_minutes(1.0, began=now - 5.0)
    assert busy.end == pytest.approx(now + 55.0, abs=0.5)
    assert busy.for_folds.end == pytest.approx(now + 55.0 - 12.0, abs=0.5)
    assert busy.for_report.end == pytest.approx(now + 55.0 - 7.2, abs=0.5)
    short = Deadline.in_minutes(0.25, began=now)  # of 15 s, 11.4 would leave little
    assert short.for_folds.end == pytest.approx(now + 9.0, abs=0.5)


@pytest.mark.parametrize(
    ("ran", "waited", "load", "slowness"),
    [(2.0, 0.0, 30.0, 1.0), (2.0, 3.0, 0.1, 2.5), (0.1, 3.0, 0.1, 1.0)],
    ids=["first of many", "one of many", "just begun"],
)
def test_a_thread_knows_how_long_it_waited(monkeypatch, ran, waited, load, slowness):
    """A command with priority has an idle machine, however many others wait."""
    times = f"{ran * 1e9:.0f} {waited * 1e9:.0f} 7\n"
    monkeypatch.setattr(_deadline.Path, "read_text", lambda self: times)
    monkeypatch.setattr(_deadline.os, "getloadavg", lambda: (load, load, load))
    assert Deadline.in_minutes(1.0).slowness == pytest.approx(slowness)


def test_a_study_without_time_for_any_learner_tries_a_tree_on_few_rows(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(Race, "_first_folds", lambda self: iter(()))
    monkeypatch.setattr("lyceum.studies.run.schedule._RESORT_ROWS", 100)
    found = lyceum.study(
        datasets.path("penguins"), "species", budget=0.3, out=tmp_path / "study"
    )
    assert found.choice.name == "DecisionTreeClassifier"
    assert found.choice.error < 0.2
    assert "enough for 1 of 16 learners" in found.answer


def test_conclusions_without_time_are_named_and_made_when_there_is_more(
    tmp_path, monkeypatch
):
    ask = {
        "learners": ["NaiveBayes"],
        "folds": 2,
        "n_settings": 1,
        "holdout": 0.2,
        "out": tmp_path / "study",
    }
    with monkeypatch.context() as patch:
        patch.setattr(Deadline, "is_over", property(lambda self: self.reserve > 0.0))
        found = lyceum.study(datasets.path("penguins"), "species", budget=60.0, **ask)
    [said] = [
        text
        for text in found.comparison.statements
        if text.startswith("The time allowed")
    ]
    assert (
        "the learning curve, the importance of the columns, the test on the rows held out and"
        " explained examples were not made" in said
    )
    assert found.effects is found.comparison.holdout is None
    again = lyceum.study(datasets.path("penguins"), "species", **ask)
    assert again.effects is not None
    assert again.comparison.holdout is not None


def test_the_final_fit_is_not_searched_where_no_fold_had_time_for_it(
    tmp_path, monkeypatch
):
    def no_search(*_, **__):
        raise AssertionError("searched")

    monkeypatch.setattr(Race, "_searches", lambda self, candidate: iter(()))
    monkeypatch.setattr(Race, "_open_tasks", lambda self, candidates: iter(()))
    monkeypatch.setattr(_conclusions, "search_settings", no_search)
    found = lyceum.study(
        datasets.path("penguins"),
        "species",
        learners=["NaiveBayes"],
        folds=2,
        n_settings=3,
        budget=10.0,
        out=tmp_path / "study",
    )
    assert found.choice.folds_searched == 0
    assert found.n_fitted == found.n_rows
    assert found.problems == ()


def test_haste_takes_fewer_folds_and_a_longer_session_keeps_them(tmp_path):
    """Ten folds of few rows leave no time for others; what was begun goes on as it was."""
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "\n".join(f"{i},{i % 3}.5" for i in range(240)))
    options = {"learners": ["LinearRegression"], "committees": False}

    def folds(out, **more):
        study = lyceum.study(path, "y", out=tmp_path / out, **options, **more)
        return study.comparison.n_folds

    assert folds("short", budget=0.5) == 5
    assert folds("short", budget=2.0) == folds("short") == 5
    assert folds("long", budget=2.0) == folds("long", budget=0.5) == 10
    assert folds("asked", budget=0.5, folds=7) == 7
    assert folds("short", force=True) == 10


def test_of_ten_seconds_two_are_left_for_the_report(monkeypatch):
    monkeypatch.setattr("lyceum.studies.run.deadline._slowness", lambda: 1.0)
    deadline = Deadline.in_minutes(10.0 / 60.0, began=100.0)
    # half of what was kept was not enough: a report takes up to two seconds
    assert deadline.end - deadline.for_report.end == pytest.approx(0.6 * 3.4)
    assert Deadline.in_minutes(1.0, began=0.0).for_report.end == pytest.approx(57.0)
