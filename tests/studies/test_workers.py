"""Tasks of a study that other processes run."""

import operator
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import deque

import pytest

from lyceum import datasets
from lyceum.studies import Recipe
from lyceum.studies.plan.plan import Plan, Task
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.run import workers as _workers
from lyceum.studies.run.deadline import Deadline
from lyceum.studies.run.schedule import Job
from lyceum.studies.run.tasks import TaskRunner
from lyceum.studies.run.workers import Workers


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(_workers, "_SOON", 0.0)
    monkeypatch.setattr(_workers, "n_threads", lambda: 2)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def outcomes_of(run_job, jobs, is_open=lambda job: True):
    """All outcomes, of which this process makes only the first and those that workers could not."""
    outcomes = []
    with Workers(run_job, jobs, is_open) as workers:
        outcomes.append(workers.next_job())
        workers.start_if_worth()
        [pid] = workers._pool._processes
        while workers.wait(0.1):
            outcomes.extend(workers.outcomes())
            if not workers._n_running and (job := workers.next_job()) is not None:
                outcomes.append(job)
    assert not is_running(pid)
    return outcomes


def test_a_worker_takes_the_jobs_that_are_open(at_once):
    outcomes = outcomes_of(
        operator.neg, deque(range(1, 8)), is_open=lambda job: job != 5
    )
    assert sorted(outcomes) == [-7, -6, -4, -3, -2, 1]


def test_a_job_whose_worker_died_is_done_by_the_caller(at_once):
    assert sorted(outcomes_of(os._exit, deque([1, 2, 3]))) == [1, 2, 3]


def test_a_job_that_a_worker_cannot_run_is_done_by_the_caller(at_once):
    assert sorted(outcomes_of(operator.attrgetter("none"), deque([1, 2, 3]))) == [
        1,
        2,
        3,
    ]


CALLER = """
import time
from collections import deque
from lyceum.studies.run import workers as _workers
_workers._SOON, _workers.n_threads = 0.0, lambda: 3
print("ready", flush=True)
with _workers.Workers(time.sleep, deque([1_000] * 4), lambda job: True) as workers:
    workers.next_job()
    workers.start_if_worth()
    while workers._n_running < 2:
        time.sleep(0.01)
    print(*workers._pool._processes, flush=True)
    time.sleep(1_000)
"""


@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT"])
def test_workers_end_when_their_caller_is_killed_or_interrupted(name):
    process = subprocess.Popen(
        [sys.executable, "-c", CALLER],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "ready\n"
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert len(pids) == 2
    assert all(map(is_running, pids))
    time.sleep(0.5)  # at work, or about to be
    start = time.monotonic()
    if name == "SIGKILL":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, err = process.communicate(timeout=60)
    while any(map(is_running, pids)) and time.monotonic() < start + 20.0:
        time.sleep(0.05)
    assert not any(map(is_running, pids))
    assert time.monotonic() - start < 10.0
    assert err.count("Traceback") == (name == "SIGINT")  # the caller's own


def test_a_task_in_another_process_gives_the_same_predictions():
    recipe = Recipe(
        data=str(datasets.path("cpu")),
        target="class",
        learners=("RandomForestRegressor",),
    )
    data = StudyData.of(recipe)
    runner = TaskRunner(Plan.of(recipe, data), data, Deadline())
    job = Job(Task("RandomForestRegressor", 0, 1), is_searched=False)
    here, there = runner(job), pickle.loads(pickle.dumps(runner))(job)
    assert here[1].equals(there[1])
    assert (here[0].settings, here[0].train_loss) == (
        there[0].settings,
        there[0].train_loss,
    )


def test_no_process_is_started_for_work_that_is_soon_done():
    with Workers(operator.neg, deque(range(100)), lambda job: True) as workers:
        workers.next_job()
        workers.start_if_worth()
        assert not workers.are_working


def test_without_processes_the_caller_works_alone(at_once, monkeypatch):
    def none_left(*_):
        raise BlockingIOError

    monkeypatch.setattr(_workers, "_open_pool", none_left)
    with Workers(operator.neg, deque(range(3)), lambda job: True) as workers:
        workers.next_job()
        workers.start_if_worth()
        assert not workers.are_working
        assert [workers.next_job(), workers.next_job(), workers.next_job()] == [
            1,
            2,
            None,
        ]
