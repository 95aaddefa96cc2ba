"""A committee and a stack of the learners: no fit is repeated, no row has a say in its own
prediction."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import lyceum
from lyceum import datasets
from lyceum.ensemble import StackingClassifier, VotingClassifier, fuse, simplex_weights
from lyceum.studies.compare import committees as _committees, ranking as _ranking
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.plan.candidate import Candidate, planned_committees
from lyceum.studies.plan.plan import Task
from lyceum.studies.run.records import read_record
from lyceum.studies.run.store import Store, TaskResult

LEARNERS = ["NaiveBayes", "LinearDiscriminantAnalysis", "DecisionTreeClassifier"]
ASK = {"learners": LEARNERS, "folds": 3, "n_settings": 2, "holdout": 0.2}


@pytest.fixture(scope="module")
def made(tmp_path_factory, no_pictures_in_module):
    out = tmp_path_factory.mktemp("committees") / "study"
    return lyceum.study(
        datasets.path("heart_disease"), "diameter narrowing", out=out, **ASK
    )


def test_a_committee_and_a_stack_are_ranked_with_the_learners(made):
    names = {one.name for one in made.comparison.learners}
    assert {"Committee", "Stacking"} <= names
    assert made.finished
    for name in ("Committee", "Stacking"):
        one = made.comparison[name]
        assert set(one.members) <= set(LEARNERS)
        assert sum(one.members.values()) == pytest.approx(1.0)
        assert one.folds_done == 3
        assert one.complexity > max(made.comparison[m].complexity for m in one.members)


def test_a_committee_with_one_member_left_is_not_missed():
    learners = [Candidate(name, name, name, "", (name,)) for name in "abc"]
    committee = Candidate(
        "Committee",
        "VotingClassifier",
        "committee",
        "",
        ("VotingClassifier",),
        members=("a", "b", "c"),
    )
    for n_failed in range(4):
        done = {}
        for i, name in enumerate("abc"):
            task = Task(name, 0, 0)
            done[task] = TaskResult(
                task,
                "broke" if i < n_failed else None,
                {},
                0.0,
                5,
                5,
                1,
                (),
                0.0,
                0,
                1,
                0.0,
            )
        store = SimpleNamespace(finished_tasks=lambda done=done: done)
        table = TaskTable.of((*learners, committee), store, 1, 1)
        assert table.skipped == (() if n_failed > 1 else ("Committee",))
        assert table.finished == (n_failed > 1)


def test_a_candidate_stored_without_members_has_none():
    stored = Candidate("a", "a", "a", "", ("a",)).as_dict()
    del stored["members"]
    assert read_record(Candidate, stored) == Candidate("a", "a", "a", "", ("a",))


def test_the_weights_for_a_fold_come_from_the_other_folds(made):
    samples = [made.out_of_sample(name) for name in LEARNERS]
    committee = made.out_of_sample("Committee")
    for fold in range(3):
        here = samples[0].folds == fold
        said = np.array([one.predicted for one in samples])
        shares = simplex_weights(said[:, ~here], samples[0].y[~here])
        shares = np.where(shares < 1e-3, 0.0, shares)
        expected = fuse(said[:, here], "sum", shares / shares.sum())
        assert np.allclose(committee.predicted[here], expected, atol=1e-12)


@pytest.mark.parametrize("which", [0, 1])
def test_a_row_has_no_say_in_its_own_prediction(made, which):
    candidates = [Candidate(n, n, n, "", (n,)) for n in LEARNERS]
    candidate = planned_committees(candidates, 2, 100)[0][which]
    samples = [made.out_of_sample(name) for name in LEARNERS]
    folds = [[_part(one, fold) for one in samples] for fold in range(3)]
    combine, _ = _committees._learn(candidate, LossRule(2), folds[1:])
    again = [folds[0], *folds[1:]]
    again[0] = [replace(one, y=1 - one.y) for one in folds[0]]
    same, _ = _committees._learn(candidate, LossRule(2), again[1:])
    answers = _committees._stack(folds[0])
    stored = made.out_of_sample(candidate.name)
    assert np.array_equal(combine(answers), same(answers))
    assert np.allclose(
        stored.predicted[stored.folds == 0], combine(answers), atol=1e-12
    )


def test_members_without_time_for_a_fit_on_all_rows_are_left_out(made):
    candidates = [Candidate(n, n, n, "", (n,)) for n in LEARNERS]
    candidate = planned_committees(candidates, 2, 100)[0][0]
    samples = [made.out_of_sample(name) for name in LEARNERS]
    answers = {(0, k): [_part(one, k) for one in samples] for k in range(3)}
    seconds = {"NaiveBayes": 0.1, "LinearDiscriminantAnalysis": 9.0}
    done = {}
    for name in LEARNERS:
        task = Task(name, 0, 0)
        took = seconds.get(name, 0.2)
        done[task] = TaskResult(task, None, {}, 0.0, 5, 5, 1, (), took, 0, 1, 0.0)

    def chosen(limit):
        deadline = SimpleNamespace(slowness=1.0, allows=lambda seconds: seconds < limit)
        return _committees._weights_in_time(
            candidate, LossRule(2), LEARNERS, answers, done, deadline
        )

    whole, kept = chosen(100.0)
    assert kept == [0, 1, 2]
    _, shares = _committees._learn(candidate, LossRule(2), list(answers.values()))
    assert whole == {n: w for n, w in zip(LEARNERS, shares) if w > 0}
    assert "LinearDiscriminantAnalysis" in whole
    # naive Bayes and the tree take 0.3 s, half as long again, and the comparison half a second
    assert chosen(0.9) == ({}, [])
    fewer, kept = chosen(1.0)
    assert kept == [0, 2]
    assert set(fewer) <= {"NaiveBayes", "DecisionTreeClassifier"}
    assert sum(fewer.values()) == pytest.approx(1.0)
    assert chosen(0.0) == ({}, [])


def _part(one, fold):
    here = one.folds == fold
    return replace(
        one, rows=one.rows[here], repeats=one.repeats[here], folds=one.folds[here], y=one.y[here],
        predicted=one.predicted[here],
    )  # fmt: skip


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(
    ("name", "kind"),
    [("Committee", VotingClassifier), ("Stacking", StackingClassifier)],
)
def test_a_chosen_committee_is_a_model_that_predicts(
    made, tmp_path, monkeypatch, name, kind
):
    monkeypatch.setattr(_ranking, "choose_learner", lambda *_: (name, "asked for"))
    out = shutil.copytree(
        made.folder, tmp_path / "s"
    )  # with its folds: the conclusions are drawn again
    found = lyceum.study(
        datasets.path("heart_disease"), "diameter narrowing", out=out, **ASK
    )
    assert found.choice.name == name
    assert not found.problems
    assert isinstance(found.model, kind)
    frame = datasets.load("heart_disease")
    proba = found.model.predict_proba(frame)
    assert np.allclose(proba.sum(axis=1), 1.0)
    if name == "Committee":  # a weighted mean, as in the folds, not a vote
        said = [member.predict_proba(frame) for member in found.model.estimators_]
        mean = np.tensordot(found.model.weights_, said, axes=1)
        np.testing.assert_allclose(proba, mean, atol=1e-12)
    assert found.comparison.holdout.loss < 0.4
    assert found.examples


@pytest.mark.usefixtures("no_pictures")
def test_nothing_is_computed_again_when_a_study_is_finished(made, monkeypatch):
    monkeypatch.setattr(Store, "finish", None)
    path = datasets.path("heart_disease")
    again = lyceum.study(path, "diameter narrowing", out=made.folder, **ASK)
    assert again.as_dict() == made.as_dict()


def test_two_learners_are_no_committee_and_one_can_do_without():
    two = [Candidate(n, n, n, "", (n,)) for n in LEARNERS[:2]]
    assert planned_committees(two, 2, 100) == ((), [])


def test_a_stack_of_more_columns_than_rows_is_left_out_and_that_is_said():
    three = [Candidate(n, n, n, "", (n,)) for n in LEARNERS[:3]]
    committees, sentences = planned_committees(three, 300, 1_000)
    assert len(committees) == 2
    assert sentences == []
    committees, [text] = planned_committees(three, 300, 899)
    assert [c.name for c in committees] == ["Committee"]
    assert "900 posteriors of each of 899 rows" in text


def test_a_stack_of_a_study_does_not_depend_on_the_unit_of_the_target():
    """Members that nearly agree got large opposite weights where the target was in seconds since
    1970."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    answers = np.array([y + s * rng.normal(size=60) for s in (0.3, 0.3, 0.5)])
    # two members that nearly agree
    answers[1] = answers[0] + 1e-5 * rng.normal(size=60)
    new = np.array([[0.0, 1.0], [0.1, 1.1], [0.2, 0.9]])

    def shown(unit, offset):
        combine, shares = _committees._learn_stack(
            offset + unit * answers, offset + unit * y, None, LossRule(None)
        )
        return (combine(offset + unit * new) - offset) / unit, shares

    for unit, offset in ((1e-6, 0.0), (1e6, 1.6e9)):
        np.testing.assert_allclose(
            shown(unit, offset)[0], shown(1.0, 0.0)[0], atol=1e-4
        )
        np.testing.assert_allclose(
            shown(unit, offset)[1], shown(1.0, 0.0)[1], atol=1e-3
        )
    assert np.abs(shown(1e6, 1.6e9)[0]).max() < 2.0
