"""Tasks of a study that other processes run."""

import operator
import os
import pickle
import time
from collections import deque

import pytest

from lyceum import datasets
from lyceum.studies import Recipe
from lyceum.studies.plan.plan import Plan, Task
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.run import helpers as _helpers
from lyceum.studies.run.helpers import Helpers
from lyceum.studies.run.tasks import _Attempt


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(_helpers, "_SOON", 0.0)
    monkeypatch.setattr(_helpers, "n_threads", lambda: 2)


def outcomes_of(attempt, jobs, is_open=lambda job: True):
    """All outcomes, of which this process makes only the first and those that helpers could not."""
    found = []
    with Helpers(attempt, jobs, is_open) as helpers:
        found.append(helpers.next_job())
        helpers.start_if_worth()
        process = helpers._processes[0]
        while not helpers._busy and helpers._outcomes.empty() and process.poll() is None:
            time.sleep(0.01)
        while helpers.wait(0.1):
            found.extend(helpers.outcomes())
            if process.poll() is not None and (job := helpers.next_job()) is not None:
                found.append(job)
    assert process.poll() is not None  # it has been ended
    return found


def test_a_helper_takes_the_jobs_that_are_open(at_once):
    found = outcomes_of(operator.neg, deque(range(1, 8)), is_open=lambda job: job != 5)
    assert sorted(found) == [-7, -6, -4, -3, -2, 1]


def test_a_job_whose_helper_died_is_done_by_another(at_once):
    assert sorted(outcomes_of(os._exit, deque([1, 2, 3]))) == [1, 2, 3]


def test_a_helper_ends_when_its_caller_is_gone():
    process = _helpers._start()
    pickle.dump(time.sleep, process.stdin)
    process.stdin.flush()
    assert pickle.load(process.stdout) is True
    pickle.dump(1_000, process.stdin)  # at work when the pipe is closed, as by a kill
    process.stdin.close()
    assert process.wait(timeout=20) == 0
    process.stdout.close()


def test_a_task_in_another_process_gives_the_same_predictions():
    recipe = Recipe(
        data=str(datasets.path("cpu")), target="class", learners=("RandomForestRegressor",)
    )
    data = StudyData.of(recipe)
    attempt = _Attempt(Plan.of(recipe, data), data, None)
    job = (Task("RandomForestRegressor", 0, 1), True)
    here, there = attempt(job), pickle.loads(pickle.dumps(attempt))(job)
    assert here[1].equals(there[1])
    assert (here[0].settings, here[0].train_loss) == (there[0].settings, there[0].train_loss)


def test_no_process_is_started_for_work_that_is_soon_done():
    with Helpers(operator.neg, deque(range(100)), lambda job: True) as helpers:
        helpers.next_job()
        helpers.start_if_worth()
        assert not helpers._processes


def test_without_processes_the_caller_works_alone(at_once, monkeypatch):
    def none_left():
        raise BlockingIOError

    monkeypatch.setattr(_helpers, "_start", none_left)
    with Helpers(operator.neg, deque(range(3)), lambda job: True) as helpers:
        helpers.next_job()
        helpers.start_if_worth()
        assert not helpers.are_working
        assert [helpers.next_job(), helpers.next_job(), helpers.next_job()] == [1, 2, None]
