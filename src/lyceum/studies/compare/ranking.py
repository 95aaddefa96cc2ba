"""The learners against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from lyceum.errors import StudyError
from lyceum.evaluate import hoeffding_bound
from lyceum.studies.compare.choice import choose_learner
from lyceum.studies.compare.committees import CommitteeWeights
from lyceum.studies.compare.comparison import Comparison, RankedLearner
from lyceum.studies.compare.difference_tests import (
    DifferenceTest,
    against_baseline,
    fold_loss_p,
    holm_of_known,
    is_level,
    mcnemar_p,
    row_loss_p,
)
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.metrics import n_independent, ranked_learner
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.compare.trials import Trial
from lyceum.studies.report.verdicts import fit_word, verdict
from lyceum.studies.run.problems import Problems
from lyceum.studies.run.store import Store


def compare_learners(
    store: Store,
    table: TaskTable,
    rule: LossRule,
    choose: str,
    estimates: Mapping[str, float],
    problems: Problems,
) -> Comparison:
    """The ranked learners, best first, with the choice; statements and what is run later are still
    empty.

    `estimates` has the .632 estimates, by name; `problems` names the metrics that could not be
    made.
    """
    trials = {c.name: Trial.of(c, store, table, rule) for c in table.compared}
    if not trials or not table.folds:
        reasons = "; ".join(
            dict.fromkeys(
                f"{result.task.name}: {result.reason}" for result in table.failures
            )
        )
        raise StudyError(
            f"no learner got through its first fold ({reasons or 'none was run'})"
        )
    measured = [
        ranked_learner(each, rule, table, estimates, problems)
        for each in trials.values()
    ]
    ranked = _rank(measured, store)
    learners, test = _against_best(ranked, trials, rule, problems)
    choice, reason = choose_learner(learners, trials, rule, choose)
    sample = trials[learners[0].name].sample
    n_groups = None
    if sample.groups is not None:
        n_groups = len(np.unique(sample.groups))
    return Comparison(
        criterion=rule.criterion,
        learners=tuple(learners),
        best=learners[0].name,
        choice=choice,
        choice_reason=reason,
        n_rows=len(np.unique(sample.rows)),
        n_folds=len(table.folds),
        hoeffding=_hoeffding_bound(rule, sample, len(learners)),
        test=test,
        learning_curve=None,
        holdout=None,
        statements=(),
        n_groups=n_groups,
    )


def _rank(learners: list[RankedLearner], store: Store) -> list[RankedLearner]:
    """The learners, best first, with their ranks; committees with the weights of their members."""
    learners = sorted(
        learners, key=lambda s: (s.loss, s.log_loss or 0.0, s.complexity, s.name)
    )
    ranked = []
    for i, learner in enumerate(learners):
        committee = store.get(CommitteeWeights, learner.name)
        members = committee.weights if committee else {}
        ranked.append(replace(learner, rank=i + 1, members=members))
    return ranked


def _hoeffding_bound(
    rule: LossRule, sample: OutOfSample, n_models: int
) -> float | None:
    """ε such that with probability 95 % no mean loss is off by ε; None where that says nothing.

    Of weighted rows (Σ w)² / Σ w² count, of groups as many as if each were one row.
    """
    n = int(n_independent(sample))
    if not rule.is_bounded or n < 1:
        return None
    within = hoeffding_bound(n=n, alpha=0.05, n_models=n_models).within
    low, high = rule.range
    if within < 1.0:
        return (high - low) * within
    return None


def _against_best(
    ranked: list[RankedLearner],
    trials: Mapping[str, Trial],
    rule: LossRule,
    problems: Problems,
) -> tuple[list[RankedLearner], str]:
    """The learners with their tests against the best and the constant guess, and the name of the
    test."""
    best, *others = ranked
    first = trials[best.name]
    test = DifferenceTest.choose(first, rule)
    base = problems.attempt(
        "test against the constant guess", partial(against_baseline, trials), {}
    )
    columns = _p_values(ranked, trials, rule, test, base, problems)
    tested = [best]
    for i, s in enumerate(others):
        difference = float(trials[s.name].fold_losses.mean() - first.fold_losses.mean())
        p_values = {name: values[i] for name, values in columns.items()}
        tested.append(replace(s, difference=difference, **p_values))
    compared = [
        replace(
            s, is_level=is_level(trials[s.name], first), p_baseline=base.get(s.name)
        )
        for s in tested
    ]
    judged = []
    for s in compared:
        judge = partial(_with_verdict, s, compared, rule.criterion)
        judged.append(problems.attempt(f"verdict on {s.label}", judge, s))
    return judged, test.name


def _p_values(
    ranked: list[RankedLearner],
    trials: Mapping[str, Trial],
    rule: LossRule,
    test: DifferenceTest,
    base: Mapping[str, float | None],
    problems: Problems,
) -> dict[str, list[Any]]:
    """The p-values of all but the best against it, by the name of their field.

    The constant guess and the best are compared by one test, that over rows, in both places where
    its p-value is shown; `base` has the p-values against the constant guess.
    """
    best, *others = ranked
    first = trials[best.name]
    rows_p = cache(row_loss_p)
    tests: dict[str, Callable[[Trial, Trial], float | None]] = {
        "p_value": rows_p if test.p_value is row_loss_p else test.p_value,
        "p_corrected_t": partial(fold_loss_p, rule),
        "p_rows": rows_p,
        "p_mcnemar": partial(mcnemar_p, rule=rule),
    }
    columns: dict[str, list[Any]] = {}
    for name, of in tests.items():
        columns[name] = [
            problems.attempt(_TESTS[name], partial(of, trials[s.name], first))
            for s in others
        ]
    guess = next((i for i, s in enumerate(others) if s.is_baseline), None)
    if guess is not None:
        columns["p_value"][guess] = None
    for name in ("p_value", "p_corrected_t", "p_mcnemar"):
        columns[f"{name}_holm"] = holm_of_known(columns[name])
    if guess is not None:
        columns["p_value"][guess] = columns["p_rows"][guess]
        columns["p_value_holm"][guess] = base.get(best.name)
    return columns


_TESTS = {
    "p_value": "test against the best",
    "p_corrected_t": "corrected t test",
    "p_rows": "permutation test over rows",
    "p_mcnemar": "McNemar test",
}


def _with_verdict(
    learner: RankedLearner, learners: Sequence[RankedLearner], criterion: str
) -> RankedLearner:
    baseline = next((s for s in learners if s.is_baseline), None)
    learner = replace(learner, fit_word=fit_word(learner, learners[0], baseline))
    return replace(learner, verdict=verdict(learner, learners[0], baseline, criterion))
