"""A committee and a stack of the learners, compared with them from their stored out-of-fold
predictions.

No learner is fitted again: the weights for a fold come from the predictions of the other folds of
the same repeat, so that no row has a say in how it is itself predicted. The ensembles are imported
where they are used: a study without committees does not need them.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.statistics import weighted_mean
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.plan.candidate import Candidate
from lyceum.studies.plan.plan import Plan, Task
from lyceum.studies.run.deadline import Deadline
from lyceum.studies.run.fold_calibration import calibrated_model, usual_calibration
from lyceum.studies.run.pipelines import build_pipeline, learner_class, seed_of
from lyceum.studies.run.schedule import mean_fit_seconds
from lyceum.studies.run.store import Store, TaskResult, as_table

_LEAST = 1e-3  # a member that weighs less is left out
_VOTING = ("VotingClassifier", "VotingRegressor")
_LONGER = 1.5  # on all rows, than on those of a fold, and for what cannot be foreseen
_BETWEEN = 0.5  # seconds that the comparison takes, before the choice is fitted
_CV = 3  # folds of the level-0 answers when a stack is fitted on all rows

# of every member, by repeat and fold
Answers = dict[tuple[int, int], list[OutOfSample]]
Fuse = Callable[[np.ndarray], np.ndarray]  # answers (L, n, K) or (L, n) to predictions


@dataclass(frozen=True)
class CommitteeWeights:
    """The weight of every learner in a committee."""

    weights: Mapping[str, float]


@dataclass(frozen=True)
class _CommitteeBasis:
    """What the committees were made of."""

    members: tuple[str, ...]
    n_folds: int
    n_searched: int  # tasks

    @classmethod
    def of(
        cls, plan: Plan, table: TaskTable, members: Sequence[Candidate]
    ) -> _CommitteeBasis:
        n_searched = sum(
            not done.in_haste
            for task, done in table.done.items()
            if not plan[task.name].members
        )
        return cls(tuple(c.name for c in members), len(table.folds), n_searched)


def run_committees(plan: Plan, store: Store, deadline: Deadline) -> None:
    """Store what the committees of a plan predict on the folds that all learners finished.

    Members for which there is no time to be fitted on all rows are left out of them.
    """
    table = TaskTable.of(plan.candidates, store, plan.folds, plan.repeats)
    members = [c for c in table.compared if not c.is_baseline]
    # weights are learned from the other folds of a repeat: of every repeat there must be two
    folds_by_repeat = Counter(repeat for repeat, _ in table.folds)
    fewest_folds = min(folds_by_repeat.values(), default=0)
    if not plan.committees or len(members) < 2 or fewest_folds < 2:
        return
    basis = _CommitteeBasis.of(plan, table, members)
    # the same predictions were combined before
    if store.get(_CommitteeBasis) == basis:
        return
    answers = {
        at: [store.predictions(Task(c.name, *at)) for c in members]
        for at in table.folds
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that members agree is no fault of the data
        for candidate in plan.committees:
            weights, kept = _weights_in_time(
                candidate, plan.rule, basis.members, answers, table.done, deadline
            )
            if not weights:
                continue
            parts = {at: [part[i] for i in kept] for at, part in answers.items()}
            for at in parts:
                results = [table.done[Task(members[i].name, *at)] for i in kept]
                store.finish(*_fold(candidate, plan.rule, results, parts, at))
            store.put(CommitteeWeights(weights), candidate.name)
    store.put(basis)


def _weights_in_time(
    candidate: Candidate,
    rule: LossRule,
    names: Sequence[str],
    answers: Answers,
    done: Mapping[Task, TaskResult],
    deadline: Deadline,
) -> tuple[dict[str, float], list[int]]:
    """The weights of a committee that can be fitted on all rows in time, and the places of the
    members that were asked; none where there are no two.

    As long as there is no time for all, the member is left out that takes longest for its weight.
    """
    kept = list(range(len(names)))
    while len(kept) > 1 and deadline.allows(0.0):
        _, shares = _learn(
            candidate, rule, [[part[i] for i in kept] for part in answers.values()]
        )
        weights = {names[i]: w for i, w in zip(kept, shares) if w > 0}
        seconds = _LONGER * fit_seconds(candidate, weights, done)
        if deadline.allows(seconds + _BETWEEN * deadline.slowness):
            return weights, kept
        cost = {name: mean_fit_seconds(done, name) / weights[name] for name in weights}
        kept.remove(names.index(max(cost, key=cost.__getitem__)))
    return {}, []


def fit_seconds(
    candidate: Candidate, weights: Mapping[str, float], done: Mapping[Task, TaskResult]
) -> float:
    """Seconds that a committee of these members takes to fit, by their seconds in the folds."""
    seconds = sum(mean_fit_seconds(done, name) for name in weights)
    if candidate.learner in _VOTING:
        return seconds
    return (_CV + 1) * seconds


def _fold(
    candidate: Candidate,
    rule: LossRule,
    results: list[TaskResult],
    answers: Answers,
    at: tuple[int, int],
) -> tuple[TaskResult, Any]:
    """What one committee predicts on a fold, learned from the other folds of its repeat.

    `results` are those of its members on the fold.
    """
    start = time.perf_counter()
    tested = answers[at]
    others = [
        part for other, part in answers.items() if other[0] == at[0] and other != at
    ]
    combine, shares = _learn(candidate, rule, others)
    predicted = combine(_stack(tested))
    losses = []
    for part in others:
        y = part[0].y
        w = part[0].weight
        losses.append(weighted_mean(rule.losses(y, combine(_stack(part)), w), w))
    # the numbers of the members that have a say, and one weight for every member
    sizes = [r.complexity or 0 for r, share in zip(results, shares) if share > 0]
    done = TaskResult(
        task=Task(candidate.name, *at),
        reason=None,
        settings={},
        train_loss=float(np.mean(losses)),
        n_train=results[0].n_train,
        n_test=results[0].n_test,
        complexity=sum(sizes) + len(results),
        warnings=(),
        seconds=time.perf_counter() - start,
        memory=0,
    )
    first = tested[0]
    return done, as_table(first.rows, first.y, predicted, first.weight, first.groups)


def _stack(parts: Sequence[OutOfSample]) -> np.ndarray:
    return np.array([part.predicted for part in parts])


def _learn(
    candidate: Candidate, rule: LossRule, folds: list[list[OutOfSample]]
) -> tuple[Fuse, list[float]]:
    """How answers are combined, learned from some folds, and the weight of every member."""
    predictions = np.concatenate([_stack(part) for part in folds], axis=1)
    y = np.concatenate([part[0].y for part in folds])
    w = None
    if folds[0][0].weight is not None:
        w = np.concatenate([np.asarray(part[0].weight) for part in folds])
    if candidate.learner in _VOTING:
        from lyceum.ensemble import fuse, simplex_weights

        # weights of the largest likelihood, or least squared error, with w ≥ 0 and Σ w = 1
        shares = simplex_weights(predictions, y, w)
        shares = np.where(shares < _LEAST, 0.0, shares)
        shares /= shares.sum()

        def mean(answers: np.ndarray) -> np.ndarray:
            # numbers are fused as posteriors of one class
            posteriors = answers if answers.ndim == 3 else answers[:, :, None]
            return fuse(posteriors, "sum", shares).reshape(answers.shape[1:])

        return mean, shares.tolist()
    return _learn_stack(predictions, y, w, rule)


def _learn_stack(
    predictions: np.ndarray, y: np.ndarray, w: np.ndarray | None, rule: LossRule
) -> tuple[Fuse, list[float]]:
    """The final learner of level 1, with the columns and settings of the stacking learners."""
    from lyceum.linear import LogisticRegression, Ridge

    if rule.n_classes is None:
        ridge = Ridge(alpha=1e-3, standardize=True)
        ridge.fit(predictions.T, y, sample_weight=w)
        shares = _shares(np.abs(ridge.coef_)[:, None])
        return (lambda answers: ridge.predict(answers.T)), shares
    K = rule.n_classes
    # answers are posteriors of K − 1 or K classes per member, side by side
    final = LogisticRegression().fit(_columns(predictions), y, sample_weight=w)

    def combine(answers: np.ndarray) -> np.ndarray:
        # classes that do not occur in these folds have the posterior 0
        full = np.zeros((answers.shape[1], K))
        full[:, final.classes_.astype(int)] = final.predict_proba(_columns(answers))
        return full

    # the weight of a member is the size of the coefficients of its columns, over all classes
    sizes = np.abs(np.atleast_2d(final.coef_)).sum(axis=0).reshape(len(predictions), -1)
    return combine, _shares(sizes)


def _columns(predictions: np.ndarray) -> np.ndarray:
    """Answers side by side; of two classes the first adds nothing."""
    columns = predictions[:, :, 1:] if predictions.shape[2] == 2 else predictions
    return np.concatenate(list(columns), axis=1)


def _shares(sizes: np.ndarray) -> list[float]:
    total = sizes.sum(axis=1)
    return (total / max(float(total.sum()), np.finfo(np.float64).tiny)).tolist()


# -- the model on all rows -------------------------------------------------------------


def committee_model(plan: Plan, name: str, store: Store) -> Any:
    """The committee or stack as a learner to fit: its members with the settings chosen most
    often."""
    candidate = plan[name]
    committee = learner_class(candidate.learner)
    seed = seed_of(plan.seed, name, "final")
    table = TaskTable.of(plan.candidates, store, plan.folds, plan.repeats)
    stored = store.get(CommitteeWeights, name)
    assert stored is not None
    weights = stored.weights
    members = []
    for c in table.compared:
        if weights.get(c.name, 0.0) > 0.0:
            model = build_pipeline(c, table.params(c), seed)
            calibration = usual_calibration(table.results(c.name))
            members.append((c.name, calibrated_model(model, calibration, seed)))
    if candidate.learner in _VOTING:
        shares = [weights[member] for member, _ in members]
        return committee(members, rule="sum", weights=shares, random_state=seed)
    return committee(members, cv=_CV, random_state=seed)
