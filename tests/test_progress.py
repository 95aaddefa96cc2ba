"""The progress protocol: updates reach every watch, and a cancelled watch stops the work."""

import threading

import numpy as np
import pytest

from lyceum._core.progress import is_watched
from lyceum.errors import Cancelled
from lyceum.linear import LogisticRegression
from lyceum.prepare import OneHotEncoder
from lyceum.progress import Update, report, watch


def test_updates_reach_every_watch_around_the_work():
    outer, inner = [], []
    with watch(outer.append):
        report("rows", 1, 10)
        with watch(inner.append):
            report("trees", 2)
        report("rows", 10, 10)
    assert outer == [Update("rows", 1, 10), Update("trees", 2), Update("rows", 10, 10)]
    assert inner == [Update("trees", 2)]


def test_work_that_nobody_watches_reports_to_nobody():
    assert not is_watched()
    report("rows", 1, 10)
    with watch():
        assert is_watched()
    assert not is_watched()


def test_a_cancelled_watch_stops_the_work_at_its_next_report():
    with watch() as watched:
        report("rows", 1, 10)
        canceller = threading.Thread(target=watched.cancel)
        canceller.start()
        canceller.join()
        assert watched.cancelled
        with pytest.raises(Cancelled, match="cancelled after 2 of 10 rows"):
            report("rows", 2, 10)
    report("rows", 3, 10)


def test_an_outer_cancel_stops_work_inside_an_inner_watch():
    with watch() as outer, watch():
        outer.cancel()
        with pytest.raises(Cancelled):
            report("rows", 1)


@pytest.mark.parametrize("learner", [OneHotEncoder, LogisticRegression])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_learners_of_one_pass_can_be_cancelled(learner, method):
    X, y = np.arange(40.0).reshape(20, 2) % 7, np.arange(20) % 2
    model = learner(solver="recursive") if learner is LogisticRegression else learner()
    with watch() as watched:
        watched.cancel()
        with pytest.raises(Cancelled, match="of 20 rows"):
            getattr(model, method)(X, y)
    assert not [name for name in vars(model) if name.endswith("_")]
