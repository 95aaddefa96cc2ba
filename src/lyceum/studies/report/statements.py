"""The study in plain sentences: the answer, and what to know."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from lyceum._core.text import show_count
from lyceum.studies.compare.comparison import Comparison, HoldoutResult, RankedLearner
from lyceum.studies.compare.difference_tests import is_shown
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.plan.candidate import ColumnWarning, Failure
from lyceum.studies.report import posterior_statements as posteriors
from lyceum.studies.report.format import (
    by_count,
    capitalize,
    in_sentence,
    interval_text,
    join_names,
    loss_text,
    metric_name,
    more_is_better,
    p_text,
    percent_text,
    score_text,
    subject,
    with_article,
)
from lyceum.studies.report.verdicts import gain_text, learning_trend
from lyceum.studies.result import Study
from lyceum.studies.run.problems import Problems

_READABLE = 200  # numbers at most of a model that a person can read as a whole,
_SIMPLER = 5  # with so many times fewer than the choice has
_NAMES = 6  # learners named in a sentence, before the rest is counted


# -- the answer ------------------------------------------------------------------------


def answer(study: Study) -> str:
    """What predicts the target best and how well, what that is worth, and what the rows held out
    say."""
    comparison = study.comparison
    choice = study.choice
    span = interval_text(comparison.criterion, choice.interval)
    first = (
        f"{subject(choice.label)} predicts {study.recipe.target!r} with "
        f"{_loss_phrase(comparison, choice.loss)} on rows it has not seen (95 % interval {span})"
        f"{_decisions(study, choice)}."
    )
    sentences = [*_not_tried(study), first, *_worth(study)]
    held_out = comparison.holdout
    if held_out is not None:
        measured = _loss_phrase(comparison, held_out.loss)
        if held_out.n_rows == 1:
            sentences.append(
                f"On 1 row held out, which was not used for any choice, it has {measured}: too few"
                " to say more."
            )
        else:
            span = interval_text(comparison.criterion, held_out.interval)
            sentences.append(
                f"On {held_out.n_rows:,} rows held out, which were not used for any choice, it has"
                f" {measured} (95 % interval {span}){_decisions(study, held_out)}."
            )
    return " ".join(sentences)


def _not_tried(study: Study) -> Iterator[str]:
    """The learners that the time allowed left out, before all that the others have found."""
    if not study.skipped:
        return
    labels = [
        c.label for c in study.candidates if c.name in study.skipped and not c.members
    ]
    if labels:
        learners = study.comparison.learners
        n_tried = sum(not s.is_baseline and not s.members for s in learners)
        yield (
            f"The time allowed was enough for {n_tried} of {n_tried + len(labels)} learners; not"
            f" compared: {_name_list(labels)}."
        )


def _loss_phrase(comparison: Comparison, loss: float) -> str:
    """A loss with its name: "an RMSE of 12.3", "an AUC of 0.839"."""
    name = with_article(metric_name(comparison.criterion))
    return f"{name} of {loss_text(comparison.criterion, loss)}"


def _decisions(study: Study, result: RankedLearner | HoldoutResult) -> str:
    """The errors of the decisions made, where the study is ranked by something else."""
    if study.classes is None:
        return ""
    if result.error is None:
        if result.reject_rate == 1.0:
            return "; it rejects every row"
        return "; it names a class for no row"
    rejects = ""
    if result.reject_rate:
        rejects = f"; it rejects {percent_text(result.reject_rate)} of the rows"
    if study.comparison.criterion == "error rate" and not rejects:
        return ""
    wrong = percent_text(result.error)
    labels = {str(label) for label in study.classes}
    n_unnamed = sum(str(action) not in labels for action in study.actions)
    # an action that is neither a class nor a rejection
    if n_unnamed > (study.doubt is not None):
        return f"{rejects}; of the rows that it names a class for, {wrong} are wrong"
    if rejects:
        return f"{rejects} and decides {wrong} of the others wrong"
    return f"; it decides {wrong} of the rows wrong"


def _worth(study: Study) -> Iterator[str]:
    """What the result is worth beside a constant guess."""
    comparison = study.comparison
    baseline = comparison.baseline
    choice = comparison[comparison.choice]
    criterion = comparison.criterion
    if baseline is None:
        return
    base = loss_text(criterion, baseline.loss)
    gain = gain_text(choice.loss, baseline.loss, criterion)
    if choice.is_baseline:
        yield _nothing_better(study)
    elif choice.loss >= baseline.loss:
        ranks = posteriors.best_ranking(comparison)
        but = ""
        if ranks is not None:
            but = f", but {_ranks_rows(ranks)})"
        yield f"That is no better than a constant guess, which has {base}{but}."
    elif gain is None:
        yield f"A constant guess has {base}{_chance(comparison, choice.p_baseline)}."
    else:
        chance = _chance(comparison, choice.p_baseline)
        yield f"That is {gain} less than a constant guess, which has {base}{chance}."


def _chance(comparison: Comparison, p: float | None) -> str:
    if p is None:
        few = "rows" if comparison.n_groups is None else "groups"
        return f"; there are too few {few} to test whether chance alone could make that difference"
    if is_shown(p):
        return ""
    p_value = p_text(p, comparison.smallest_p)
    return f", a difference that chance alone could make ({p_value})"


def _nothing_better(study: Study) -> str:
    others = [s for s in study.comparison.learners if not s.is_baseline]
    if not others:
        return "No learner was compared with this constant guess."
    ranks = posteriors.best_ranking(study.comparison)
    if ranks is None and study.skipped:
        return (
            "None of the learners that there was time for does better than this constant guess;"
            " that says nothing of the columns, as others were not compared."
        )
    if ranks is None or study.classes is None:
        return (
            "No learner does better than this constant guess: none found anything in the columns"
            " that helps."
        )
    criterion = study.comparison.criterion
    if criterion == "error rate":
        fewer = "fewer errors"
    elif more_is_better(criterion):
        fewer = f"a higher {metric_name(criterion)}"
    else:
        fewer = f"a lower {metric_name(criterion)}"
    return (
        f"No learner has {fewer} than this constant guess, but the columns do tell something:"
        f" {_ranks_rows(ranks)}, where 0.5 is guessing)."
    )


def _ranks_rows(learner: RankedLearner) -> str:
    """The statements about a learner that ranks rows, up to its AUC."""
    return (
        f"{in_sentence(learner.label)} ranks rows better than chance (AUC"
        f" {score_text(learner.auc or 0.0)}"
    )


# -- what to know ----------------------------------------------------------------------


def statements(
    comparison: Comparison,
    sample: OutOfSample,
    rule: LossRule,
    *,
    classes: Sequence[Any] | None = None,
    suspects: Iterable[ColumnWarning],
    failures: Sequence[Failure],
    skipped: Sequence[str],
    notes: Iterable[str],
    finished: bool,
    folds_planned: int,
    not_made: Sequence[str] = (),
    problems: Problems,
) -> tuple[str, ...]:
    """All that a careful reader should know, in order of importance; `sample` is of the choice.

    `not_made` has the conclusions that there was no time for, such as "the learning curve".
    `problems` names the statements that could not be made.
    """
    parts: dict[str, Callable[[], Iterable[str]]] = {
        "the time allowed": partial(
            _budget, comparison, skipped, not_made, finished, folds_planned
        ),
        "differences": partial(_differences, comparison),
        "the price of simplicity": partial(_simplicity, comparison),
        "groups": partial(_group_counts, comparison),
        "rare classes": partial(
            posteriors.rare_classes, comparison, sample, rule, classes
        ),
        "what the test rows support": partial(_support, comparison),
        "rejecting rows": partial(posteriors.rejection, comparison, sample, rule),
        "calibrating posteriors": partial(_calibration_maps, comparison, rule),
        "calibration": partial(
            posteriors.calibration_quality, comparison, sample, rule
        ),
        "the learning curve": partial(_more_rows, comparison, rule),
        "suspicious columns": partial(_suspicions, suspects),
        "failures": lambda: (
            f"{capitalize(failure.label)} failed and was not compared:"
            f" {failure.reason.rstrip('.')}."
            for failure in failures
        ),
        "the data": lambda: notes,
    }
    sentences: list[str] = []
    for about, make in parts.items():
        sentences += problems.collect(f"statement on {about}", make)
    return tuple(sentences)


def _budget(
    comparison: Comparison,
    skipped: Sequence[str],
    not_made: Sequence[str],
    finished: bool,
    folds_planned: int,
) -> Iterator[str]:
    """What the time allowed left undone, if anything."""
    undone = []
    if not finished:
        n_folds = comparison.n_folds
        if n_folds < folds_planned:
            were = by_count(n_folds, "was", "were")
            undone.append(f"{n_folds} of {folds_planned} folds {were} compared")
        if skipped:
            were = by_count(len(skipped), "was", "were")
            undone.append(
                f"{_name_list(skipped)} {were} not run, or on too few folds to be compared"
            )
        untuned = [s.label for s in comparison.learners if not s.is_tuned]
        if untuned:
            have = by_count(len(untuned), "has", "have")
            undone.append(
                f"{_name_list(untuned)} {have} default settings in some or all folds, where none"
                " were searched yet"
            )
    if not_made:
        were = by_count(len(not_made), "was", "were")
        undone.append(f"{join_names(list(not_made))} {were} not made")
    if undone:
        yield (
            f"The time allowed ended the study early: {'; '.join(undone)}. Run it again with more"
            " time to continue it."
        )


def _calibration_maps(comparison: Comparison, rule: LossRule) -> Iterator[str]:
    """By which map, and in how many folds, the posteriors of the choice were calibrated."""
    choice = comparison[comparison.choice]
    if choice.folds_calibrated:
        how = ""
        if choice.calibration:
            how = f", most often by {_MAPS[choice.calibration]}"
        yield (
            f"The posteriors of {in_sentence(choice.label)} were calibrated in"
            f" {choice.folds_calibrated} of {choice.folds_done} folds{how}: where the inner folds"
            f" had a lower {rule.inner_criterion} by it."
        )


_MAPS = {
    "temperature": "a temperature",
    "logit": "a sigmoid of their logits",
    "bounded": "isotonic regression",
}


def _differences(comparison: Comparison) -> Iterator[str]:
    """Which learners are worse than the best beyond chance, and whether the best is more than a
    guess."""
    best = comparison[comparison.best]
    rest = comparison.learners[1:]
    others = rest if best.is_baseline else [s for s in rest if not s.is_baseline]
    tested = [s for s in others if s.p_adjusted is not None]
    if rest and not comparison.test:
        groups = ""
        if comparison.n_groups is not None:
            groups = f" of {show_count(comparison.n_groups, 'group')}"
        yield (
            f"With {comparison.n_rows:,} rows{groups} in {comparison.n_folds} folds no test can"
            " tell the learners apart: take the ranking as a hint only."
        )
        return
    yield from _standings(comparison, tested)
    yield from _against_guess(comparison, best)


def _simplicity(comparison: Comparison) -> Iterator[str]:
    """What the best model that a person can read as a whole gives away."""
    choice = comparison[comparison.choice]
    # what predicts no better than a constant guess has no price worth knowing
    guess = comparison.baseline
    limit = math.inf if guess is None else guess.loss
    readable = [
        s
        for s in comparison.learners
        if s.loss < limit
        and not s.is_baseline
        and 0 < s.complexity <= min(_READABLE, choice.complexity / _SIMPLER)
    ]
    if choice.is_baseline or not readable:
        return
    simple = min(readable, key=lambda s: s.loss)
    if simple.loss <= choice.loss:
        return
    losses = [loss_text(comparison.criterion, s.loss) for s in (simple, choice)]
    if losses[0] != losses[1]:
        yield (
            f"The price of simplicity: {in_sentence(simple.label)} predicts with"
            f" {show_count(simple.complexity, 'number')} instead of {choice.complexity:,}, and has"
            f" {_loss_phrase(comparison, simple.loss)} instead of {losses[1]}."
        )


def _standings(
    comparison: Comparison, tested: Sequence[RankedLearner]
) -> Iterator[str]:
    """Who is level with the best, who is behind perhaps by chance, and who is worse."""
    level = [in_sentence(s.label) for s in tested if s.is_level]
    behind = [s for s in tested if not s.is_level]
    same = [in_sentence(s.label) for s in behind if not is_shown(s.p_adjusted)]
    worse = [in_sentence(s.label) for s in behind if is_shown(s.p_adjusted)]
    several = by_count(len(tested), "", f", corrected for {len(tested)} comparisons")
    test = f"{comparison.test}{several}"
    name = in_sentence(comparison[comparison.best].label)
    for names, text in (
        (level, _LEVEL_TEXT.format(name)),
        (same, f"not shown to be worse than {name} ({test})"),
        (worse, f"worse than {name} beyond chance ({test})"),
    ):
        if names:
            are = by_count(len(names), "is", "are")
            yield f"{capitalize(_name_list(names))} {are} {text}."


_LEVEL_TEXT = (
    "level with {}: behind by at most half a standard error of the difference, or by too little"
    " to matter"
)


def _against_guess(comparison: Comparison, best: RankedLearner) -> Iterator[str]:
    """Whether the best is more than a guess."""
    if best.p_baseline is not None:
        how = "better than a constant guess beyond chance"
        if not is_shown(best.p_baseline):
            how = "not shown to be better than a constant guess"
        p = p_text(best.p_baseline, comparison.smallest_p)
        test = comparison.test
        yield f"{subject(best.label)} is {how} ({p}, {test})."


def _group_counts(comparison: Comparison) -> Iterator[str]:
    if comparison.n_groups is not None:
        yield (
            "Rows of one group are alike, so that intervals and tests take the"
            f" {comparison.n_groups:,} groups, not the {comparison.n_rows:,} rows, as independent"
            " of each other."
        )


def _name_list(names: Sequence[str]) -> str:
    more = len(names) - _NAMES
    if more > 1:
        names = [*names[:_NAMES], f"{more} others"]
    return join_names(names)


def _support(comparison: Comparison) -> Iterator[str]:
    if comparison.hoeffding is None:
        return
    off = loss_text(comparison.criterion, comparison.hoeffding)
    off = off.replace(" %", " percentage points")
    groups = ""
    if comparison.n_groups is not None:
        groups = f" in {show_count(comparison.n_groups, 'group')}"
    n = len(comparison.learners)
    if n > 1:
        which = f"no {comparison.criterion} of the {n} models is"
    else:
        which = f"this {comparison.criterion} is not"
    wider = ""
    low, high = comparison[comparison.choice].interval
    if 2.0 * comparison.hoeffding > high - low:
        wider = (
            ", which is wider than the interval above as it assumes nothing of the rows"
        )
    yield (
        f"A bound for the worst case, {comparison.n_rows:,} test rows{groups}: with probability"
        f" 95 % {which} off by {off} or more (Hoeffding's bound, for models fixed in"
        f" advance{wider})."
    )


def _more_rows(comparison: Comparison, rule: LossRule) -> Iterator[str]:
    curve = comparison.learning_curve
    choice = comparison[comparison.choice]
    can_gain = choice.loss > rule.range[0]
    if curve is not None and can_gain:
        trend = _TREND[learning_trend(curve)].format(in_sentence(choice.label))
        yield f"By its learning curve, {trend}."


_TREND = {
    "helps": "{} would still gain from more rows",
    "flat": "{} would hardly gain from more rows of this kind",
    "open": (
        "it cannot be told whether more rows would help {}: what the last rows gained is too"
        " uncertain"
    ),
}


def _left_out_text(columns: list[str], why: str) -> str:
    """One sentence on the columns that were left out for the same reason."""
    names = [repr(column) for column in columns]
    keep = f"--keep {names[0]}, or keep = [{names[0]}] in the recipe"
    if len(names) == 1:
        return f"Column {names[0]} was left out: it {why}. Keep it with {keep}."
    return f"Columns {join_names(names)} were left out: each {why}. Keep one with e.g. {keep}."


# what to do about columns with these suspicions, which are named with their text
_ADVICE = {
    "ordered": (
        "Column {0} rises from row to row: the rows are in order of time. To predict later rows"
        " from earlier ones, use --time {0}: random folds mix later with earlier rows, and errors"
        " may be too small."
    ),
    "repeated_identifier": (
        "Column {0} {1}. If new rows will be about other cases, use --group {0}: random folds test"
        " on cases that were learned from, and errors may be too small."
    ),
    "pile": (
        "Column {0} {1} If so, leave these cells empty: as a number they mislead most learners."
    ),
}


def _suspicions(suspects: Iterable[ColumnWarning]) -> Iterator[str]:
    suspects = list(suspects)
    # why a column was left out: the first of its reasons
    out: dict[str, str] = {}
    for suspect in suspects:
        if suspect.left_out:
            out.setdefault(suspect.column, suspect.text)
    for leak in (s for s in suspects if s.code == "leak" and s.column not in out):
        yield (
            f"Column {leak.column!r} {leak.text} If not, ignore it: every error here would be too"
            " small."
        )
    for text in dict.fromkeys(out.values()):
        columns = [column for column, why in out.items() if why == text]
        yield _left_out_text(columns, text.rstrip(".?"))
    for suspect in suspects:
        left_out = suspect.column in out
        # a case may be what rows are grouped by though its number tells nothing
        if suspect.code in _ADVICE and (
            suspect.code == "repeated_identifier" or not left_out
        ):
            yield _ADVICE[suspect.code].format(repr(suspect.column), suspect.text)
    sparse = [s for s in suspects if s.code == "mostly_missing" and s.column not in out]
    for text in dict.fromkeys(suspect.text for suspect in sparse):
        names = [repr(suspect.column) for suspect in sparse if suspect.text == text]
        which = f"Column {names[0]} {text}: it was"
        it = "it"
        its = "its"
        if len(names) > 1:
            which = f"Columns {join_names(names)}: each {text}; they were"
            it = "them"
            its = "their"
        yield (
            f"{which} used with the missing cells filled or skipped; ignore {it} if {its} values"
            " will not be known when the model is used."
        )
