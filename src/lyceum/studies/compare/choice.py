"""The choice among learners: level with the best in loss, then in log loss, then the simplest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lyceum._core.statistics import log_losses
from lyceum._core.text import show_count
from lyceum.studies.compare.comparison import RankedLearner
from lyceum.studies.compare.difference_tests import is_shown, standard_errors_behind
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.trials import Trial
from lyceum.studies.report.format import in_sentence, metric_name, more_is_better

_NEAR = "half a standard error of the difference"
_LEVEL = 0.25  # standard errors of the difference, within which log losses are level


def choose_learner(
    ranking: Sequence[RankedLearner],
    trials: Mapping[str, Trial],
    rule: LossRule,
    choose: str,
) -> tuple[str, str]:
    """The name of the learner to fit on all rows, and why.

    1. Learners are level with the best if they are behind it by half a standard error of the
       difference at most, not shown to be worse, and better than the constant guess: which of them
       has the lowest loss is a matter of chance.
    2. Of these, classifiers must have a log loss within a quarter of a standard error of the
       lowest. It tells learners apart that are right on the same rows, and bad posteriors decide
       badly as soon as errors have costs.
    3. The simplest of the rest, the one that needs the fewest numbers to predict, is chosen.
    """
    best = ranking[0]
    if best.is_baseline:
        if len(ranking) > 1:
            return best.name, "no learner does better"
        return best.name, "no learner was compared with it"
    if choose == "best":
        return best.name, "the recipe asks for the least loss"
    limit = next((s.loss for s in ranking if s.is_baseline), math.inf)
    if best.loss >= limit:
        return best.name, _reason_for_equal(best, rule.criterion)
    level = [
        s for s in ranking if s.is_level and not is_shown(s.p_value) and s.loss < limit
    ]
    if not level:
        level = [best]
    if len(level) == 1:
        return best.name, _reason_for_best(ranking, rule.criterion)
    rest = _level_in_log_loss(level, trials, rule)
    simplest = min(
        rest, key=lambda s: (s.complexity, s.loss, s.log_loss or 0.0, s.name)
    )
    return simplest.name, _reason(simplest, best, level, rest, rule.criterion)


def _level_in_log_loss(
    level: list[RankedLearner], trials: Mapping[str, Trial], rule: LossRule
) -> list[RankedLearner]:
    """Those that are level with the lowest log loss; all where there is none to compare."""
    if (
        rule.n_classes is None
        or rule.criterion == "log loss"
        or any(s.log_loss is None for s in level)
    ):
        return level
    least = min(level, key=lambda s: (s.log_loss, s.rank))
    return [
        s
        for s in level
        if _log_loss_behind(trials[s.name], trials[least.name]) <= _LEVEL
    ]


def _log_loss_behind(one: Trial, least: Trial) -> float:
    first, second = (
        log_losses(trial.sample.y, trial.sample.predicted) for trial in (one, least)
    )
    return standard_errors_behind(one.sample, first, second)


def _reason_for_equal(best: RankedLearner, criterion: str) -> str:
    """Why the first is chosen where it is as good as the constant guess and no better."""
    if more_is_better(criterion):
        low = "higher"
    else:
        low = "lower"
    if best.log_loss is None:
        by = "it is the simplest"
    else:
        by = f"it has the lowest log loss ({best.log_loss:.3f})"
    metric = metric_name(criterion)
    return f"no learner has a {low} {metric} than a constant guess, and of those with the same {by}"


def _reason_for_best(ranking: Sequence[RankedLearner], criterion: str) -> str:
    """Why the best is chosen where no other is level with it."""
    learners = [s for s in ranking if not s.is_baseline]
    if len(learners) == 1:
        return "it is the only learner that was compared with a constant guess"
    metric = metric_name(criterion)
    if more_is_better(criterion):
        most = "highest"
    else:
        most = "lowest"
    first = f"it has the {most} {metric}, and"
    if sum(s.is_level for s in learners) > 1:
        return (
            f"{first} no other learner is level with it (behind it by at most {_NEAR}, not shown to"
            " be worse, and better than a constant guess)"
        )
    return f"{first} every other learner is behind it by more than {_NEAR}"


def _reason(
    choice: RankedLearner,
    best: RankedLearner,
    level: Sequence[RankedLearner],
    rest: Sequence[RankedLearner],
    criterion: str,
) -> str:
    """Why one of several that are level was chosen, as what follows "was chosen:"."""
    metric = metric_name(criterion)
    if more_is_better(criterion):
        most = "highest"
    else:
        most = "lowest"
    learners = f"the {len(level)} learners whose {metric} is behind the {most} by at most {_NEAR}"
    is_best = choice.name == best.name
    leader = f"{in_sentence(best.label)}, with the {most} {metric},"
    if len(rest) == 1:
        if is_best:
            than = ""
        else:
            than = f"; {leader} has {best.log_loss:.3f}"
        return (
            f"of {learners}, it has the lowest log loss ({choice.log_loss:.3f}{than})"
        )
    size = f"{show_count(choice.complexity, 'number')} to predict with"
    if not is_best:
        size = f"{size}; {leader} takes {best.complexity:,}"
    if _is_alone(choice, rest):
        simplest = "the simplest"
    else:
        simplest = "one of the simplest"
    if len(rest) == len(level):
        return f"it is {simplest} of {learners} ({size})"
    return (
        f"of {learners}, {len(rest)} are level in log loss too, and it is {simplest} of these"
        f" ({size})"
    )


def _is_alone(choice: RankedLearner, rest: Sequence[RankedLearner]) -> bool:
    return all(s.complexity > choice.complexity for s in rest if s.name != choice.name)
