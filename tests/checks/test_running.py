"""`n_jobs` and `verbose`: where scikit-learn has them, and that they do what they say."""

import inspect
import re
import threading
from dataclasses import replace

import numpy as np
import pytest
from tests.checks.cases import case_of, learner_named
from tests.checks.fits import fit, outcome, quiet, same
from tests.checks.parameter_values import FEW_LABELS
from tests.checks.tables import data_for
from tests.checks.test_manners import COUNTERPARTS

from lyceum import catalog
from lyceum._core.data import Inputs
from lyceum._core.threads import n_threads, ordered_map
from lyceum.ensemble import BaggingClassifier, RandomForestClassifier
from lyceum.linear import LogisticRegression


def learners_with(parameter):
    return [
        entry.name
        for entry in catalog.learners()
        if parameter in inspect.signature(entry.load().__init__).parameters
    ]


@pytest.mark.parametrize("parameter", ["n_jobs", "verbose", "class_weight"])
def test_it_is_a_parameter_where_scikit_learn_has_it(parameter):
    theirs = {
        name
        for name, counterpart in COUNTERPARTS.items()
        if parameter in inspect.signature(counterpart.__init__).parameters
    }
    assert theirs - set(learners_with(parameter)) == set()


@pytest.fixture
def seen(monkeypatch):
    """The threads allowed at the time rows come in, to fit and to predict."""
    counts = []
    for method in ("for_fit", "for_predict"):
        original = getattr(Inputs, method)

        def spied(self, *data, original=original, method=method):
            # members have a thread each
            if threading.current_thread() is threading.main_thread():
                counts.append((method, n_threads()))
            return original(self, *data)

        monkeypatch.setattr(Inputs, method, spied)
    return counts


@pytest.mark.filterwarnings(
    "ignore:Perceptron made:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("name", learners_with("n_jobs"))
def test_n_jobs_is_how_many_threads_run_and_changes_no_result(name, seen):
    learner, before = learner_named(name), n_threads()
    data, found = data_for(learner, 60), []
    for count in (1, 3):
        seen.clear()
        with quiet():
            fitted = fit(learner.set_params(n_jobs=count), data.X, data.y)
            found.append(outcome(fitted, data.X, case_of(name)))
        assert {threads for _, threads in seen} == {count}
        assert {"for_fit", "for_predict"} <= {method for method, _ in seen}
    assert n_threads() == before
    same(*found, rtol=0.0)


@pytest.mark.filterwarnings(
    "ignore:Perceptron made:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("name", learners_with("verbose"))
def test_verbose_prints_what_is_done_and_how_long_it_took(name, capsys):
    learner = learner_named(name)
    data = data_for(learner, 60)
    if name in FEW_LABELS:
        data = replace(data, y=np.where(np.arange(60) % 3, data.y, None))
    with quiet():
        silent = fit(learner, data.X, data.y)
        assert capsys.readouterr().out == ""
        loud = fit(learner.set_params(verbose=2), data.X, data.y)
    *steps, last = capsys.readouterr().out.splitlines()
    assert steps
    assert all(
        re.fullmatch(rf"\[{name}\] [\w ]+: [\d,]+( of [\d,]+)?", step) for step in steps
    )
    assert re.fullmatch(rf"\[{name}\] fitted in \d+\.\d\d s", last)
    same(*(outcome(one, data.X, case_of(name)) for one in (silent, loud)), rtol=0.0)


X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)


def test_minus_one_is_all_processors_and_zero_is_refused(seen):
    joblib = pytest.importorskip("joblib")
    RandomForestClassifier(2, n_jobs=-1).fit(X, y)
    assert seen == [("for_fit", joblib.cpu_count())]
    with pytest.raises(ValueError, match="n_jobs"):
        RandomForestClassifier(2, n_jobs=0).fit(X, y)


def test_a_member_in_a_thread_of_its_committee_takes_no_more_threads():
    def fit_one(number):
        LogisticRegression(n_jobs=7).fit(X, y)
        return n_threads()

    before = n_threads()
    assert set(ordered_map(fit_one, range(2))) == {before}


def test_a_committee_prints_its_own_progress_and_not_that_of_its_members(capsys):
    BaggingClassifier(LogisticRegression(), n_estimators=20, verbose=1, n_jobs=1).fit(
        X, y
    )
    *steps, last = capsys.readouterr().out.splitlines()
    assert steps == [
        f"[BaggingClassifier] members: {done} of 20"
        for done in (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
    ]
    assert last.startswith("[BaggingClassifier] fitted in")


def test_a_fit_that_fails_leaves_the_threads_as_they_were(capsys):
    before = n_threads()
    with pytest.raises(ValueError):  # noqa: PT011  of any kind
        RandomForestClassifier(2, n_jobs=5, verbose=1).fit(X, y[:5])
    assert n_threads() == before
    assert "fitted" not in capsys.readouterr().out
