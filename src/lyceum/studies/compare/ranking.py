"""The learners against each other: their order, the tests of their differences, and the choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.text import show_count
from lyceum.errors import StudyError
from lyceum.evaluate import hoeffding_bound
from lyceum.studies.compare.committees import CommitteeWeights
from lyceum.studies.compare.comparison import Comparison, RankedLearner
from lyceum.studies.compare.difference_tests import (
    MARGIN,
    UNSEEN,
    against_baseline,
    difference_error,
    fold_loss_p,
    holm_of_known,
    is_level,
    mcnemar_p,
    n_units,
    name_of_test,
    row_loss_p,
    row_losses_p,
    smallest_p,
)
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.metrics import n_independent, ranked_learner
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.compare.trials import Trial
from lyceum.studies.report.format import in_sentence, metric_name, more_is_better
from lyceum.studies.report.verdicts import fit_word, verdict
from lyceum.studies.run.problems import Problems
from lyceum.studies.run.store import Store

# standard errors of the difference, behind the best by errors or costs, within which the log loss
# decides
_CLEARLY = 2.0


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
        failed = [f"{failure.name}: {failure.reason}" for failure in table.failures]
        reasons = "; ".join(dict.fromkeys(failed)) or "none was run"
        raise StudyError(f"no learner got through its first fold ({reasons})")
    measured = [
        ranked_learner(trial, rule, table, estimates, problems)
        for trial in trials.values()
    ]
    ranked = _rank(measured, store)
    learners = _against_best(ranked, trials, rule, problems)
    choice, reason = choose_learner(learners, rule, choose)
    sample = trials[learners[0].name].sample
    groups = sample.groups
    return Comparison(
        criterion=rule.criterion,
        learners=tuple(learners),
        best=learners[0].name,
        choice=choice,
        choice_reason=reason,
        n_rows=len(np.unique(sample.rows)),
        n_folds=len(table.folds),
        hoeffding=_hoeffding_bound(rule, sample, len(learners)),
        test=name_of_test(sample, rule),
        smallest_p=smallest_p(n_units(sample)),
        learning_curve=None,
        holdout=None,
        statements=(),
        n_groups=None if groups is None else len(np.unique(groups)),
    )


def _rank(learners: list[RankedLearner], store: Store) -> list[RankedLearner]:
    """The learners, best first, with their ranks; committees with the weights of their members."""
    learners = sorted(
        learners, key=lambda s: (s.loss, s.log_loss or 0.0, s.complexity, s.name)
    )
    ranked = []
    for rank, learner in enumerate(learners, start=1):
        committee = store.get(CommitteeWeights, learner.name)
        members = committee.weights if committee else {}
        ranked.append(replace(learner, rank=rank, members=members))
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
    # of losses between 0 and 1; a bound of 1 or more holds for any numbers
    within = hoeffding_bound(n=n, alpha=0.05, n_models=n_models).within
    low, high = rule.range
    return (high - low) * within if within < 1.0 else None


def _against_best(
    ranked: list[RankedLearner],
    trials: Mapping[str, Trial],
    rule: LossRule,
    problems: Problems,
) -> list[RankedLearner]:
    """The learners with their differences from the best, and the tests against it and the constant
    guess."""
    best, *others = ranked
    first = trials[best.name]
    base = problems.attempt(
        "test against the constant guess", partial(against_baseline, trials, rule), {}
    )
    columns = _p_values(ranked, trials, rule, base, problems)
    tested = [best]
    for i, s in enumerate(others):
        p_values = {name: values[i] for name, values in columns.items()}
        error = difference_error(trials[s.name], first, rule)
        tested.append(
            replace(
                s, difference=s.loss - best.loss, difference_error=error, **p_values
            )
        )
    compared = [
        replace(
            s,
            is_level=is_level(trials[s.name], first, rule, _guess_loss(ranked)),
            p_baseline=base.get(s.name),
        )
        for s in tested
    ]
    # a verdict rests on the numbers of the best and of the constant guess too
    judged = []
    for s in compared:
        judge = partial(_with_verdict, s, compared, rule.criterion)
        judged.append(problems.attempt(f"verdict on {s.label}", judge, s))
    return judged


def _p_values(
    ranked: list[RankedLearner],
    trials: Mapping[str, Trial],
    rule: LossRule,
    base: Mapping[str, float | None],
    problems: Problems,
) -> dict[str, list[Any]]:
    """The p-values of all but the best against it, by the name of their field.

    The correction counts the learners only: the constant guess is tested apart, and `base` has the
    p-values against it.
    """
    best, *others = ranked
    first = trials[best.name]
    tests: dict[str, Callable[[Trial, Trial], float | None]] = {
        "p_value": partial(row_loss_p, rule),
        "p_corrected_t": partial(fold_loss_p, rule),
        "p_mcnemar": partial(mcnemar_p, rule=rule),
    }
    columns: dict[str, list[Any]] = {}
    for name, p_value in tests.items():
        columns[name] = [
            problems.attempt(_TESTS[name], partial(p_value, trials[s.name], first))
            for s in others
        ]
    for name in ("p_corrected_t", "p_mcnemar"):
        columns[f"{name}_holm"] = holm_of_known(columns[name])
    learners = [trials[s.name] for s in others if not s.is_baseline]
    adjusted = iter(
        problems.attempt(
            _TESTS["p_value"],
            partial(row_losses_p, learners, first, rule),
            [None] * len(learners),
        )
    )
    columns["p_adjusted"] = [
        base.get(best.name) if s.is_baseline else next(adjusted) for s in others
    ]
    return columns


_TESTS = {
    "p_value": "test against the best",
    "p_corrected_t": "corrected t test",
    "p_mcnemar": "McNemar test",
}


def _with_verdict(
    learner: RankedLearner, learners: Sequence[RankedLearner], criterion: str
) -> RankedLearner:
    baseline = next((s for s in learners if s.is_baseline), None)
    learner = replace(learner, fit_word=fit_word(learner, learners[0], baseline))
    return replace(learner, verdict=verdict(learner, learners[0], baseline, criterion))


# -- the choice ------------------------------------------------------------------------


def choose_learner(
    ranking: Sequence[RankedLearner], rule: LossRule, choose: str
) -> tuple[str, str]:
    """The name of the learner to fit on all rows, and why.

    1. Learners come into question that are behind the best by too little to matter (1 %, a
       millionth of the constant guess's loss, or one row of errors) and better than the constant
       guess; by errors or costs, which tell little on few rows, all that are not clearly behind it,
       by more than two standard errors of the difference.
    2. Of these, classifiers must have a log loss within 1 % of the lowest. It tells learners apart
       that are right on the same rows, and bad posteriors decide badly as soon as errors have
       costs.
    3. The simplest of the rest, the one that needs the fewest numbers to predict, is chosen.
    """
    best = ranking[0]
    criterion = rule.criterion
    if best.is_baseline:
        if len(ranking) > 1:
            return best.name, "no learner does better"
        return best.name, "no learner was compared with it"
    if choose == "best":
        return best.name, "the recipe asks for the least loss"
    limit = next((s.loss for s in ranking if s.is_baseline), math.inf)
    if best.loss >= limit:
        # as good as the constant guess and no better
        better = "higher" if more_is_better(criterion) else "lower"
        if best.log_loss is None:
            by = "it is the simplest"
        else:
            by = f"it has the lowest log loss ({best.log_loss:.3f})"
        return best.name, (
            f"no learner has a {better} {metric_name(criterion)} than a constant guess, and of"
            f" those with the same {by}"
        )
    is_by_decisions = rule.n_classes is not None and criterion != "log loss"
    least = UNSEEN * _guess_loss(ranking)
    near = [s for s in ranking if _is_near(s, best, is_by_decisions, least)]
    level = [s for s in near if s.loss < limit]
    if len(level) < 2:
        are_guesses = sum(not s.is_baseline for s in near) > 1
        return best.name, _reason_for_best(
            ranking, criterion, is_by_decisions, are_guesses
        )
    rest = level
    if is_by_decisions:
        rest = _level_in_log_loss(level)
    simplest = min(
        rest, key=lambda s: (s.complexity, s.loss, s.log_loss or 0.0, s.name)
    )
    reason = _reason(simplest, best, level, rest, criterion, is_by_decisions)
    return simplest.name, reason


def _guess_loss(ranking: Sequence[RankedLearner]) -> float:
    """The loss of the constant guess, 0 where there is none."""
    return next((s.loss for s in ranking if s.is_baseline), 0.0)


def _is_near(
    s: RankedLearner, best: RankedLearner, is_by_decisions: bool, least: float
) -> bool:
    """Whether a learner is behind the best by too little to matter; `least` never matters."""
    if s.loss <= max((1.0 + MARGIN) * best.loss, best.loss + least):
        return True
    if not is_by_decisions:
        return False
    error = s.difference_error or 0.0
    return s.is_level or s.loss - best.loss <= _CLEARLY * error


def _level_in_log_loss(level: list[RankedLearner]) -> list[RankedLearner]:
    """Those whose log loss is within 1 % of the lowest; all where one has no log loss."""
    log_losses = [s.log_loss for s in level if s.log_loss is not None]
    if len(log_losses) < len(level):
        return level
    near = (1.0 + MARGIN) * min(log_losses)
    return [s for s, log_loss in zip(level, log_losses) if log_loss <= near]


def _reason_for_best(
    ranking: Sequence[RankedLearner],
    criterion: str,
    is_by_decisions: bool,
    are_guesses: bool,
) -> str:
    """Why the best is chosen where no other comes into question; `are_guesses` where others are
    near it and no better than a constant guess."""
    learners = [s for s in ranking if not s.is_baseline]
    if len(learners) == 1:
        return "it is the only learner that was compared with a constant guess"
    most = "highest" if more_is_better(criterion) else "lowest"
    reason = (
        f"it has the {most} {metric_name(criterion)}, and every other learner is behind it by more"
        f" than {_near_text(is_by_decisions, 'and')}"
    )
    if are_guesses:
        return f"{reason}, or no better than a constant guess"
    return reason


def _near_text(is_by_decisions: bool, joined: str) -> str:
    return (
        f"two standard errors of the difference {joined} 1 %"
        if is_by_decisions
        else "1 %"
    )


def _reason(
    choice: RankedLearner,
    best: RankedLearner,
    level: Sequence[RankedLearner],
    rest: Sequence[RankedLearner],
    criterion: str,
    is_by_decisions: bool,
) -> str:
    """Why one of several that are level was chosen, as what follows "was chosen:"."""
    metric = metric_name(criterion)
    most = "highest" if more_is_better(criterion) else "lowest"
    near = _near_text(is_by_decisions, "or")
    if max(s.loss for s in level) > (1.0 + MARGIN) * best.loss and not is_by_decisions:
        near += ", or a millionth of the constant guess's"
    learners = f"the {len(level)} learners whose {metric} is behind the {most} by at most {near}"
    is_best = choice.name == best.name
    leader = f"{in_sentence(best.label)}, with the {most} {metric},"
    if len(rest) == 1:
        than = "" if is_best else f"; {leader} has {best.log_loss:.3f}"
        return (
            f"of {learners}, it has the lowest log loss ({choice.log_loss:.3f}{than})"
        )
    size = f"{show_count(choice.complexity, 'number')} to predict with"
    if not is_best:
        takes = f"{best.complexity:,}"
        if best.complexity == choice.complexity:
            takes = "as many"
        size = f"{size}; {leader} takes {takes}"
    as_simple = [s.name for s in rest if s.complexity <= choice.complexity]
    if as_simple == [choice.name]:
        simplest = "the simplest"
    else:
        simplest = "one of the simplest"
    if len(rest) == len(level):
        return f"it is {simplest} of {learners} ({size})"
    return (
        f"of {learners}, {len(rest)} are level in log loss too, and it is {simplest} of these"
        f" ({size})"
    )
