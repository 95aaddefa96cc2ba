"""Every learner has the same share of settings; the better of them go on; a budget holds inside a
fit."""

import time
from dataclasses import replace

import numpy as np
import pytest
from tests.studies.conftest import plan_for

import lyceum
from lyceum import catalog, datasets, progress
from lyceum.cli.commands.study import _settings_tried
from lyceum.errors import Cancelled
from lyceum.studies import Study
from lyceum.studies.plan.candidate import spread_settings
from lyceum.studies.run import settings_search as _settings_search
from lyceum.studies.run.deadline import Deadline
from lyceum.studies.run.settings_search import search_settings


def test_a_learner_that_is_named_is_searched_as_one_that_is_not():
    by_default, _ = plan_for("penguins", "species")
    # variants of a learner are not in the catalog
    first = [c for c in by_default.candidates if " " not in c.name]
    names = tuple(c.name for c in first[1:])
    named, _ = plan_for("penguins", "species", learners=names)
    assert [c.as_dict() for c in first] == [c.as_dict() for c in named.candidates]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_learner_with_a_space_has_several_settings_and_none_more_than_its_share(
    task,
):
    for entry in catalog.learners(task):
        if entry.in_study != "never" and entry.space:
            assert all(
                len(spread_settings(entry.space, most, True)) <= most
                for most in (1, 2, 5)
            )
            assert spread_settings(entry.space, 1, True) == ()  # its defaults alone
            found = spread_settings(entry.space, 12, True)
            assert 3 <= len(found) <= 12, entry.name
            assert found[0] == {}
            assert len({tuple(map(str, one.values())) for one in found}) == len(found)


def test_settings_are_spread_over_a_space_that_is_too_large_for_all_combinations():
    space = {"a": (1e-3, 1e3, "log"), "b": (0.0, 1.0, "linear"), "c": ["x", "y"]}
    found = spread_settings(space, 31, False)
    assert len(found) == 31
    logs, b = (
        np.log10([one["a"] for one in found]),
        np.array([one["b"] for one in found]),
    )
    for values in ((logs + 3) / 6, b):
        counts = np.histogram(values, bins=5, range=(0, 1))[0]
        assert counts.min() >= 4
    assert {one["c"] for one in found} == {"x", "y"}


def test_of_all_settings_the_better_go_on_to_further_inner_folds(monkeypatch):
    plan, data = plan_for("german_credit", "class", learners=("KNeighborsClassifier",))
    candidate, tried = plan["KNeighborsClassifier"], []
    build = _settings_search.build_pipeline

    def counted(candidate, settings, seed):
        tried.append(tuple(settings.items()))
        return build(candidate, settings, seed)

    monkeypatch.setattr(_settings_search, "build_pipeline", counted)
    found = search_settings(candidate, data.rows, plan.rule, plan.scheme, 0)
    n = len(candidate.search)
    assert (found.n_tried, found.n_failed) == (n, 0)
    assert sorted(map(tried.count, set(tried)), reverse=True)[:3] == [3, 3, 2]
    assert len(tried) == n + 4 + 2
    assert len(found.predicted) == len(found.y) == 1000
    assert set(found.folds) == {0, 1, 2}
    again = search_settings(candidate, data.rows, plan.rule, plan.scheme, 0)
    assert again.settings == found.settings


def test_a_setting_that_fails_is_left_out_and_if_all_fail_the_reason_is_raised(
    monkeypatch,
):
    plan, data = plan_for("penguins", "species", learners=("KNeighborsClassifier",))
    build = _settings_search.build_pipeline

    def failing(candidate, settings, seed):
        if settings.get("n_neighbors", 5) != 1:
            raise ArithmeticError("no luck")
        return build(candidate, settings, seed)

    monkeypatch.setattr(_settings_search, "build_pipeline", failing)
    found = search_settings(
        plan["KNeighborsClassifier"], data.rows, plan.rule, plan.scheme, 0
    )
    assert found.settings["n_neighbors"] == 1
    assert found.n_failed == found.n_tried - 2
    monkeypatch.setattr(_settings_search, "build_pipeline", lambda *parts: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        search_settings(
            plan["KNeighborsClassifier"], data.rows, plan.rule, plan.scheme, 0
        )


def test_a_deadline_stops_a_search_in_its_threads():
    plan, data = plan_for(
        "german_credit", "class", learners=("HistGradientBoostingClassifier",)
    )
    begun = time.monotonic()
    with pytest.raises(Cancelled), progress.watch(deadline=begun + 0.05):
        search_settings(
            plan["HistGradientBoostingClassifier"], data.rows, plan.rule, plan.scheme, 0
        )


@pytest.mark.usefixtures("no_pictures")
def test_a_short_budget_tries_every_learner_and_more_time_gives_the_same_as_no_budget(
    tmp_path, monkeypatch
):
    ask = {
        "learners": ["NaiveBayes", "KNeighborsClassifier"],
        "folds": 3,
        "n_settings": 2,
    }
    penguins = datasets.path("penguins")
    search = _settings_search.search_settings

    def no_time(candidate, *rest, **named):
        if len(candidate.search) > 1:
            raise Cancelled("late")
        return search(candidate, *rest, **named)

    with monkeypatch.context() as patch:
        patch.setattr("lyceum.studies.run.tasks.search_settings", no_time)
        patch.setattr(Deadline, "is_over", property(lambda self: False))
        with pytest.raises(Cancelled):
            lyceum.study(penguins, "species", out=tmp_path / "a", budget=60.0, **ask)
    first = lyceum.study(penguins, "species", out=tmp_path / "a", budget=0.0, **ask)
    assert not first.finished
    [early] = [
        text
        for text in first.comparison.statements
        if text.startswith("The time allowed")
    ]
    assert "3 of 3" not in early
    assert (
        "default settings in some or all folds, where none were searched yet" in early
    )
    for one in first.comparison.learners:
        assert (one.folds_done, one.folds_searched) == (3, 0)
        assert one.is_tuned == one.is_baseline
        assert _settings_tried(one) == ("" if one.is_baseline else "1*")
        some = replace(one, folds_searched=2, settings_tried=12)
        assert _settings_tried(some) == ("" if one.is_baseline else "12*")
    more = lyceum.study(penguins, "species", out=tmp_path / "a", **ask)
    never = lyceum.study(penguins, "species", out=tmp_path / "b", **ask)
    assert more.finished
    assert all(one.is_tuned for one in more.comparison.learners)
    one, two = more.as_dict(), never.as_dict()
    for each in (one, two):
        each.pop("timings")
    assert one == two
    assert Study.open(tmp_path / "a").as_dict() == more.as_dict()
