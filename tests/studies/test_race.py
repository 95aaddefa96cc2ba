"""The order of the jobs of a study with a deadline, and learners that are cut off."""

import time

import numpy as np
import pandas as pd
import pytest

import lyceum
from lyceum import datasets
from lyceum.bayes import NaiveBayes
from lyceum.studies import Recipe
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.plan.plan import Plan, Task
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.run import pipelines
from lyceum.studies.run.deadline import Deadline, OutOfTime
from lyceum.studies.run.schedule import Race
from lyceum.studies.run.store import TaskResult

BOOSTING = "HistGradientBoostingClassifier"
FOREST = "RandomForestClassifier"
NEIGHBORS = "KNeighborsClassifier"
ROWS = 1_000


@pytest.fixture(scope="module")
def plan():
    learners = ("NaiveBayes", NEIGHBORS, FOREST, BOOSTING, "DecisionTreeClassifier")
    recipe = Recipe(
        data=str(datasets.path("german_credit")),
        target="class",
        learners=learners,
        folds=3,
    )
    return Plan.of(recipe, StudyData.of(recipe))


def race_for(plan, seconds):
    return Race(plan, Deadline(time.monotonic() + seconds), n_train=ROWS)


def result(task, seconds=0.1, **fields):
    values = {
        "reason": None,
        "settings": {},
        "train_loss": 0.1,
        "n_train": ROWS,
        "n_test": 1,
        "complexity": 1,
        "warnings": (),
        "memory": 0,
        "settings_tried": 0,
        "in_haste": True,
    }
    return TaskResult(task=task, seconds=seconds, **{**values, **fields})


def first_folds(race, losses, seconds=0.1):
    """Run the baseline and the first folds; the jobs, and the first that comes after them."""
    jobs = []
    while True:
        job = race.popleft()
        if job.task.name not in losses and job.task.name != "PriorClassifier":
            raise AssertionError(job)
        if job.task.fold > 0 and job.task.name != "PriorClassifier":
            return jobs, job
        is_baseline = job.task.name == "PriorClassifier"
        race.add(
            result(job.task, seconds, in_haste=not is_baseline),
            losses.get(job.task.name, 9.0),
        )
        jobs.append(job)


LOSSES = {
    "NaiveBayes": 0.6,
    NEIGHBORS: 0.9,
    FOREST: 0.5,
    BOOSTING: 0.4,
    "DecisionTreeClassifier": 0.7,
}


def test_the_most_promising_learners_come_first_each_with_a_share_of_the_time(plan):
    jobs, after = first_folds(race_for(plan, 1_000.0), LOSSES)
    learners = [job for job in jobs if job.task.name != "PriorClassifier"]
    assert [job.task.name for job in learners] == [
        FOREST,
        BOOSTING,
        "DecisionTreeClassifier",
        "NaiveBayes",
        NEIGHBORS,
    ]
    assert all(not job.is_searched and job.task.fold == 0 for job in learners)
    shares = [job.seconds for job in learners]
    assert shares[:2] == pytest.approx([250.0, 250.0], rel=0.01)
    assert shares == sorted(shares, reverse=True)
    # a third of what is left of two fifths of the time
    assert shares[2:] == pytest.approx([400.0 / 3.0] * 3, rel=0.01)
    jobs, _ = first_folds(race_for(plan, 1_000.0), LOSSES, seconds=60.0)
    shares = [job.seconds for job in jobs if job.task.name != "PriorClassifier"]
    assert shares[2:] == pytest.approx([400 / 3, 340 / 3, 280 / 3], rel=0.01)
    # then all folds of the one that is ahead
    assert (after.task, after.is_searched) == (Task(BOOSTING, 0, 1), False)


@pytest.mark.parametrize("seconds", [0.1, 60.0])
def test_folds_of_the_leaders_then_their_searches_then_the_others(plan, seconds):
    """Others come before the searches if they take little time."""
    race = race_for(plan, 1_000.0)
    _, job = first_folds(race, LOSSES, seconds)
    order = []
    while True:
        order.append((job.task.name, job.is_searched))
        race.add(result(job.task, in_haste=job.is_short), None)
        try:
            job = race.popleft()
        except IndexError:
            break
    assert order[:4] == [(BOOSTING, False), (FOREST, False)] * 2
    blocks = list(dict.fromkeys(order))
    assert blocks[2:4] == [("NaiveBayes", False), ("DecisionTreeClassifier", False)]
    searches = [(BOOSTING, True), (FOREST, True)]
    neighbors = [(NEIGHBORS, False)]
    expected = searches + neighbors if seconds > 1.0 else neighbors + searches
    assert blocks[4:7] == expected
    # with time enough everything is done as planned
    assert len(race) == 0
    assert not any(r.in_haste for r in race.done.values())


def test_a_search_takes_as_many_settings_as_there_is_time_for(plan):
    race = race_for(plan, 100.0)
    _, job = first_folds(race, LOSSES, seconds=8.0)
    while not job.is_searched:
        race.add(result(job.task, seconds=8.0), None)
        job = race.popleft()
    # three folds at 8 seconds per setting, in the 100 seconds that are left on this clock, of which
    # 10 are for the fit on all rows
    assert job.task.name == BOOSTING
    assert job.n_settings == 3
    assert job.is_short


def test_a_promising_learner_that_is_cut_off_is_tried_on_fewer_rows_and_then_waits(
    plan,
):
    race = Race(plan, Deadline(time.monotonic() + 1_000.0), n_train=3_000)
    job = race.popleft()
    while job.task.name != FOREST:
        race.add(result(job.task, in_haste=False), 9.0)
        job = race.popleft()
    race.cut_off(job)
    again = race.popleft()
    assert (again.task, again.part) == (job.task, 8)
    race.cut_off(again)  # a 64th of 3,000 rows is too few
    job = race.popleft()
    assert (job.task.name, job.is_hasty) == (BOOSTING, False)
    # boosting first with settings that take little time, on all rows
    race.cut_off(job)
    again = race.popleft()
    assert (again.task, again.part, again.is_hasty) == (job.task, 1, True)
    assert again.is_short
    race.cut_off(again)
    again = race.popleft()
    assert (again.task, again.part, again.is_hasty) == (job.task, 8, True)


def first_jobs(plan, n_train, n_columns, seconds=10.0):
    """The first job of each of the two learners that are tried first."""
    race = Race(plan, Deadline(time.monotonic() + seconds), n_train, n_columns)
    jobs = {}
    while len(jobs) < 2:
        job = race.popleft()
        if job.task.name != "PriorClassifier":
            jobs[job.task.name] = job
        race.add(result(job.task), 0.5)
    return jobs


def test_a_large_table_begins_with_boosting_in_haste(plan):
    """No time is lost with what would be cut off."""
    small = first_jobs(plan, 4_000, 20)
    assert list(small) == [FOREST, BOOSTING]
    assert not any(job.is_hasty or job.part > 1 for job in small.values())
    large = first_jobs(plan, 200_000, 20)
    assert list(large) == [BOOSTING, FOREST]
    assert (large[BOOSTING].is_hasty, large[BOOSTING].part) == (True, 1)
    assert (large[FOREST].is_hasty, large[FOREST].part) == (False, 64)
    wide = first_jobs(plan, 2_000, 1_000)
    assert wide[BOOSTING].is_hasty
    assert wide[FOREST].part == 1
    patient = first_jobs(plan, 200_000, 20, seconds=3_600.0)
    assert not any(job.is_hasty or job.part > 1 for job in patient.values())


def test_what_could_hardly_end_waits_until_all_else_is_done(plan):
    """Learners that were cut off leave too little for the next."""
    race = race_for(plan, 1_000.0)
    job = race.popleft()
    while job.task.name in ("PriorClassifier", FOREST, BOOSTING):
        race.add(result(job.task, in_haste=False), 0.5)
        job = race.popleft()
    race._spend(job.task.name, 390.0)  # of the 400 seconds of all others
    race.add(result(job.task, seconds=0.0), 0.6)
    after = [race.popleft() for _ in range(2)]
    assert [(job.task.name, job.task.fold) for job in after] == [
        (FOREST, 1),
        (BOOSTING, 1),
    ]


def test_a_learner_on_few_rows_keeps_no_time_for_a_fit_that_cannot_be(plan):
    race = Race(plan, Deadline(time.monotonic() + 10.0), 200_000, 20)
    race.losses[FOREST] = 0.1
    race.done[Task(FOREST, 0, 0)] = result(Task(FOREST, 0, 0), seconds=1.0)
    assert race._parts[FOREST] == 64
    # a quarter of the time, not 80 seconds
    assert race._time_left == pytest.approx(7.5, abs=0.1)


def test_nothing_comes_when_the_time_is_over(plan):
    race = race_for(plan, 0.0)
    first = race.popleft()
    assert first.task.name == "PriorClassifier"
    assert len(race) == 0
    with pytest.raises(IndexError):
        race.popleft()


def test_a_lost_job_comes_again(plan):
    race = race_for(plan, 1_000.0)
    job = race.popleft()
    race.appendleft(job)
    assert race.popleft() is job


class FakeStore:
    def __init__(self, n_folds):
        self._done = {
            Task(name, 0, fold): result(Task(name, 0, fold))
            for name, n in n_folds.items()
            for fold in range(n)
        }

    def finished_tasks(self):
        return self._done


def test_a_learner_with_less_than_half_of_the_folds_does_not_limit_the_others(plan):
    store = FakeStore({"PriorClassifier": 3, BOOSTING: 3, FOREST: 2, NEIGHBORS: 1})
    table = TaskTable.of(plan.candidates, store, 3, 1)
    assert [c.name for c in table.compared] == ["PriorClassifier", FOREST, BOOSTING]
    assert len(table.folds) == 2
    assert NEIGHBORS in table.skipped


def test_work_that_never_looks_at_the_time_is_stopped_too():
    with pytest.raises(OutOfTime), Deadline(time.monotonic()).limit():
        time.sleep(60.0)


class Sleeper(NaiveBayes):
    """A learner that neither ends nor reports its progress."""

    def fit(self, X, y=None, sample_weight=None):
        time.sleep(600.0)
        return self


@pytest.mark.usefixtures("no_pictures")
def test_a_learner_that_never_ends_is_the_headline_and_not_the_result(
    tmp_path, monkeypatch
):
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    noise = rng.normal(size=400)
    table = pd.DataFrame({"x": x, "y": np.where(x + 0.3 * noise > 0, "yes", "no")})
    known = pipelines.learner_class
    monkeypatch.setattr(
        pipelines,
        "learner_class",
        lambda name: Sleeper if name == "NaiveBayes" else known(name),
    )
    found = lyceum.study(
        table,
        "y",
        learners=["NaiveBayes", "LinearDiscriminantAnalysis"],
        folds=2,
        budget=0.1,
        out=tmp_path / "study",
    )
    assert found.skipped == ("NaiveBayes",)
    assert found.choice.name == "LinearDiscriminantAnalysis"
    assert found.answer.startswith(
        "The time allowed was enough for 1 of 2 learners; not compared: naive Bayes."
    )
