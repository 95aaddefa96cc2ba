"""Studies made of given predictions, without learners: what a study says of them."""

import itertools
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from lyceum.decision import LossMatrix
from lyceum.studies.compare.committees import CommitteeWeights
from lyceum.studies.compare.comparison import HoldoutResult
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.ranking import compare_learners
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.compare.trials import concatenate
from lyceum.studies.plan.candidate import Candidate
from lyceum.studies.plan.plan import Task
from lyceum.studies.plan.ranking_metric import RankingMetric
from lyceum.studies.report.statements import answer, statements
from lyceum.studies.run.problems import Problems
from lyceum.studies.run.store import TaskResult

LABELS = {"constant": "constant guess"}


@dataclass
class _Store:
    """Finished tasks in memory."""

    results: dict
    samples: dict
    weights: dict

    def finished_tasks(self):
        return self.results

    def get(self, kind, learner):
        assert kind is CommitteeWeights
        return CommitteeWeights(self.weights.get(learner, {}))

    def predictions(self, task):
        return self.samples[task]


@dataclass
class FakeStudy:
    """What a study says: the answer, the statements, the verdicts and the numbers behind them."""

    comparison: object
    answer: str
    statements: tuple

    @property
    def text(self):
        return " ".join(
            (
                self.answer,
                *self.statements,
                *(s.verdict for s in self.comparison.learners),
            )
        )


def fake_study(
    y,
    predictions,
    *,
    folds=10,
    classes=("no", "yes"),
    loss=None,
    doubt=None,
    train=None,
    complexity=None,
    holdout=None,
    curve=None,
    metric=None,
    groups=None,
    weight=None,
    repeats=1,
    members=None,
    choose="best",
    **facts,
):
    """What a study with these out-of-sample predictions says.

    The fold of row i is i modulo `folds`, or that of its group; the constant guess ("constant")
    learns from the other folds. `train` has losses on training rows, and `members` those of
    committees, by learner. All `repeats` have the same folds and predictions.
    """
    y = np.asarray(y)
    classes = classes if y.dtype.kind in "iu" else None
    costs = LossMatrix.from_costs(loss, classes) if isinstance(loss, dict) else loss
    matrix = None if loss is None else LossMatrix.of(costs, classes)
    n_classes = None if classes is None else len(classes)
    rule = LossRule(
        n_classes, matrix, doubt, None if metric is None else RankingMetric.of(metric)
    )
    fold_of = (np.arange(len(y)) if groups is None else np.asarray(groups)) % folds
    predictions = {
        "constant": constant_guess(y, folds, rule.n_classes, groups),
        **predictions,
    }
    candidates = [
        Candidate(
            name,
            name,
            LABELS.get(name, name),
            "",
            (name,),
            is_baseline=name == "constant",
        )
        for name in predictions
    ]
    results, samples = {}, {}
    for name, predicted in predictions.items():
        predicted = _posteriors(np.asarray(predicted, dtype=float), rule.n_classes)
        usual = float(rule.losses(y, predicted).mean())
        for repeat, fold in itertools.product(range(repeats), range(folds)):
            at, task = np.flatnonzero(fold_of == fold), Task(name, repeat, fold)
            group, w = (
                None if each is None else np.asarray(each)[at]
                for each in (groups, weight)
            )
            samples[task] = OutOfSample(
                at, 0 * at + repeat, 0 * at + fold, y[at], predicted[at], w, group
            )
            results[task] = TaskResult(
                task, None, {}, (train or {}).get(name, usual), len(y) - len(at), len(at),
                (complexity or {}).get(name, 1), (), 0.0, 0,
            )  # fmt: skip
    store, problems = _Store(results, samples, members or {}), Problems()
    comparison = compare_learners(
        store,
        TaskTable.of(candidates, store, folds, repeats),
        rule,
        choose,
        {},
        problems,
    )
    if holdout is not None:
        comparison = replace(comparison, holdout=HoldoutResult(*holdout))
    comparison = replace(comparison, learning_curve=curve)
    chosen = [
        sample for task, sample in samples.items() if task.name == comparison.choice
    ]
    usual = {
        "suspects": (),
        "failures": (),
        "skipped": (),
        "notes": (),
        "finished": True,
    }
    facts = {**usual, "folds_planned": folds * repeats, **facts}
    said = statements(
        comparison,
        concatenate(chosen),
        rule,
        classes=classes,
        problems=problems,
        **facts,
    )
    assert not list(problems)
    study = SimpleNamespace(
        comparison=comparison, choice=comparison[comparison.choice], classes=classes,
        recipe=SimpleNamespace(target="y"), doubt=doubt, actions=_actions(classes, matrix, doubt),
        skipped=(), candidates=(),
    )  # fmt: skip
    return FakeStudy(comparison, answer(study), said)


def _actions(classes, matrix, doubt):
    named = (classes or ()) if matrix is None else matrix.actions
    return named if doubt is None else (*named, "reject")


def _posteriors(predicted, n_classes):
    if n_classes is None or predicted.ndim == 2:
        return predicted
    return np.column_stack([1.0 - predicted, predicted])


def constant_guess(y, folds, n_classes=None, groups=None):
    """The shares of the classes, or the mean, of the other folds."""
    fold_of = (np.arange(len(y)) if groups is None else np.asarray(groups)) % folds
    found = []
    for fold in fold_of:
        rest = y[fold_of != fold]
        found.append(
            rest.mean()
            if n_classes is None
            else np.bincount(rest, minlength=n_classes) / len(rest)
        )
    return np.array(found)
