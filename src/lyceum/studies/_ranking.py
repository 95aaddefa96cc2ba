"""The learners against each other, and the choice among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from lyceum.errors import StudyError
from lyceum.evaluate import corrected_t, fit_verdict, hoeffding, mcnemar
from lyceum.studies._comparison import Comparison, RankedLearner
from lyceum.studies._loss_rule import LossRule
from lyceum.studies._metrics import ranked_learner
from lyceum.studies._problems import Problems
from lyceum.studies._store import Store
from lyceum.studies._task_table import TaskTable
from lyceum.studies._trials import Trial

__all__ = ["compare_learners", "holm"]


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down p-values: the i-th smallest of m times m - i + 1, never below a smaller one's.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted, largest = [0.0] * len(p), 0.0
    for i, place in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        largest = max(largest, min(1.0, (len(p) - i) * p[place]))
        adjusted[place] = largest
    return adjusted


def compare_learners(
    store: Store,
    table: TaskTable,
    rule: LossRule,
    choose: str,
    estimates: Mapping[str, float],
    problems: Problems | None = None,
) -> Comparison:
    """Standings, best first, with the choice; statements and what is run later are still empty.

    `estimates` has the .632 estimates, by name; `problems` names the metrics that could not be made.
    """
    problems = Problems() if problems is None else problems
    trials = {c.name: Trial.of(c, store, table, rule) for c in table.compared}
    if not trials or not table.folds:
        reasons = "; ".join(
            dict.fromkeys(f"{result.task.name}: {result.reason}" for result in table.failures)
        )
        raise StudyError(f"no learner got through its first fold ({reasons or 'none was run'})")
    found = [ranked_learner(trial, rule, table, estimates, problems) for trial in trials.values()]
    found.sort(key=lambda s: (s.loss, s.log_loss or 0.0, s.complexity, s.name))
    ranked = [replace(s, rank=i + 1) for i, s in enumerate(found)]
    found = _against_best(ranked, trials, rule, problems)
    choice, reason = _choice(found, choose)
    n = len(np.unique(trials[found[0].name].sample.rows))
    low, high = rule.range
    bound = None
    if rule.n_classes is not None:
        bound = (high - low) * hoeffding(n=n, alpha=0.05, n_models=len(found)).within
    return Comparison(
        criterion=rule.criterion,
        learners=tuple(found),
        best=found[0].name,
        choice=choice,
        choice_reason=reason,
        n_rows=n,
        n_folds=len(table.folds),
        hoeffding=bound,
        learning_curve=None,
        holdout=None,
        statements=(),
    )


def _against_best(
    found: list[RankedLearner], trials: Mapping[str, Trial], rule: LossRule, problems: Problems
) -> list[RankedLearner]:
    best, others = found[0], found[1:]
    baseline = next((s.loss for s in found if s.is_baseline), best.loss)
    first = trials[best.name]
    pairs = [trials[s.name] for s in others]
    t = [problems.attempt("corrected t test", partial(_t_test, one, first)) for one in pairs]
    chi = [problems.attempt("McNemar test", partial(_mcnemar, one, first, rule)) for one in pairs]
    adjusted_t, adjusted_chi = _adjusted(t), _adjusted(chi)
    told = [
        replace(
            s,
            difference=float(trials[s.name].fold_losses.mean() - first.fold_losses.mean()),
            p_corrected_t=t[i],
            p_corrected_t_holm=adjusted_t[i],
            p_mcnemar=chi[i],
            p_mcnemar_holm=adjusted_chi[i],
        )
        for i, s in enumerate(others)
    ]
    limit = best.loss + best.standard_error
    near = [replace(s, within_one_se=s.loss <= limit) for s in (best, *told)]
    return [problems.attempt(f"verdict on {s.label}", partial(_with_verdict, s, baseline), s) for s in near]


def _with_verdict(learner: RankedLearner, baseline: float) -> RankedLearner:
    from lyceum.studies._statements import verdict

    fit = fit_verdict(learner.train_loss, learner.loss, baseline, learner.standard_error)
    learner = replace(learner, fit_word=fit.word)
    return replace(learner, verdict=verdict(learner, baseline))


def _adjusted(p: list[float | None]) -> list[float | None]:
    known = [value for value in p if value is not None]
    adjusted = iter(holm(known))
    return [None if value is None else next(adjusted) for value in p]


def _t_test(one: Trial, best: Trial) -> float | None:
    if len(one.fold_losses) < 2:
        return None
    return corrected_t(one.fold_losses, best.fold_losses, test_to_train=best.test_to_train).p_value


def _mcnemar(one: Trial, best: Trial, rule: LossRule) -> float | None:
    """On the first repeat, where every row is there once: right is an action that names the true class."""
    if rule.n_classes is None:
        return None
    b, c = _right(one, rule), _right(best, rule)
    return mcnemar(only_first_wrong=int((~b & c).sum()), only_second_wrong=int((b & ~c).sum())).p_value


def _right(trial: Trial, rule: LossRule) -> np.ndarray:
    first = trial.sample.repeats == 0
    assert trial.decided is not None
    assert rule.n_classes is not None
    names = np.arange(rule.n_classes) if rule.loss is None else rule.loss.names_class
    return np.append(names, -1)[trial.decided[first]] == trial.sample.y[first]


def _choice(found: Sequence[RankedLearner], choose: str) -> tuple[str, str]:
    """Occam's choice among the learners, the baseline only where nothing does better, and why."""
    best = found[0]
    if best.is_baseline:
        return best.name, "no learner does better than this constant guess"
    if choose == "best":
        return best.name, "the recipe asks for the least loss"
    near = [s for s in found if s.within_one_se and not s.is_baseline]
    simplest = min(near, key=lambda s: (s.complexity, s.loss))
    if simplest.name == best.name:
        return best.name, "the least loss, and nothing simpler is within one standard error of it"
    return simplest.name, (
        f"the simplest within one standard error of the best, {best.label} ({simplest.complexity:,} numbers "
        f"to predict with against {best.complexity:,})"
    )
