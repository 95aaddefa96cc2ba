"""The study in plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from lyceum.decision import error_reject_curve
from lyceum.studies._candidate import Failure, Suspect
from lyceum.studies._comparison import Comparison, OutOfSample, RankedLearner
from lyceum.studies._format import capitalized, joined_names, loss_text, p_text, percent_text
from lyceum.studies._problems import Problems
from lyceum.studies._study_result import Study

if TYPE_CHECKING:
    from lyceum.studies._loss_rule import LossRule

__all__ = ["answer", "statements", "verdict"]

_ALPHA = 0.05


# -- one learner ---------------------------------------------------------------------------------------------


def verdict(learner: RankedLearner, baseline: float) -> str:
    """One sentence on a learner."""
    if learner.is_baseline:
        return "A constant guess: what the others have to beat."
    against = "the best" if learner.rank == 1 else _against(learner.p_corrected_t_holm)
    gain = 1.0 - learner.loss / baseline if baseline > 0 else 0.0
    better = "no better than a constant guess"
    if learner.loss < baseline:
        better = f"{percent_text(gain)} below a constant guess" if baseline > 0 else "below a constant guess"
    return capitalized(f"{against}; {better}; {_FIT[learner.fit_word]}.")


_FIT = {
    "balanced": "neither under- nor overfitting",
    "overfitting": "overfitting: much better on the rows it learned from than on new ones",
    "underfitting": "underfitting: not much better than a constant even on the rows it learned from",
}


def _against(p: float | None) -> str:
    if p is None:
        return "behind the best, by an unknown margin"
    return (
        f"worse than the best ({p_text(p)})"
        if p < _ALPHA
        else f"not shown to be worse than the best ({p_text(p)})"
    )


# -- the answer ----------------------------------------------------------------------------------------------


def answer(study: Study) -> str:
    """Two sentences: what predicts the target best and how well, and what that is worth."""
    comparison, choice = study.comparison, study.choice
    how = loss_text(comparison.criterion, choice.loss)
    low, high = (loss_text(comparison.criterion, end) for end in choice.interval)
    first = (
        f"{capitalized(choice.label)} predicts {study.recipe.target!r} with {_article(comparison.criterion)} "
        f"of {how} on rows it has not seen (95 % interval {low} to {high})."
    )
    return f"{first} {_worth(comparison)}"


def _article(criterion: str) -> str:
    return f"an {criterion}" if criterion[0] in "eR" else f"a {criterion}"


def _worth(comparison: Comparison) -> str:
    baseline, choice = comparison.baseline, comparison[comparison.choice]
    if baseline is None or choice.is_baseline:
        return "No learner does better than this constant guess: the columns tell nothing that was found."
    base = loss_text(comparison.criterion, baseline.loss)
    if choice.loss >= baseline.loss:
        return f"That is no better than a constant guess, which has {base}."
    less = baseline.loss - choice.loss
    gain = percent_text(less / baseline.loss) if baseline.loss > 0 else loss_text(comparison.criterion, less)
    sure = baseline.p_corrected_t_holm is not None and baseline.p_corrected_t_holm < _ALPHA
    doubt = "" if sure else ", a difference that chance alone could make"
    return f"That is {gain} less than a constant guess, which has {base}{doubt}."


# -- what to know --------------------------------------------------------------------------------------------


def statements(
    comparison: Comparison,
    sample: OutOfSample,
    rule: LossRule,
    *,
    suspects: Iterable[Suspect],
    failures: Sequence[Failure],
    skipped: Sequence[str],
    notes: Iterable[str],
    finished: bool,
    folds_planned: int,
    problems: Problems,
) -> tuple[str, ...]:
    """All that a careful reader should know, in order of importance; `sample` is of the choice.

    `problems` names the statements that could not be made.
    """
    parts: dict[str, Callable[[], Iterable[str]]] = {
        "the time allowed": partial(_budget, comparison, skipped, finished, folds_planned),
        "differences": partial(_differences, comparison),
        "what the test rows support": partial(_support, comparison),
        "rejecting rows": partial(_doubt, comparison, sample, rule),
        "calibration": partial(_calibrated, comparison),
        "the learning curve": partial(_curve, comparison),
        "the rows held out": partial(_held_out, comparison),
        "suspicious columns": partial(_suspected, suspects),
        "failures": partial(_failed, failures),
        "the data": lambda: notes,
    }
    said: list[str] = []
    for subject, say in parts.items():
        said += problems.attempt(f"statement on {subject}", partial(_all, say), [])
    return tuple(said)


def _all(say: Callable[[], Iterable[str]]) -> list[str]:
    return list(say())


def _failed(failures: Iterable[Failure]) -> Iterator[str]:
    for failure in failures:
        yield f"{capitalized(failure.label)} failed and was not compared: {failure.reason.rstrip('.')}."


def _budget(
    comparison: Comparison, skipped: Sequence[str], finished: bool, folds_planned: int
) -> Iterator[str]:
    if finished:
        return
    missing = f"; {joined_names(list(skipped))} not at all" if skipped else ""
    yield (
        f"The time allowed ended the study early: {comparison.n_folds} of {folds_planned} folds were "
        f"compared{missing}. Run it again with more time to continue it."
    )


def _differences(comparison: Comparison) -> Iterator[str]:
    best = comparison[comparison.best]
    rest = [s for s in comparison.learners[1:] if s.p_corrected_t_holm is not None]
    same = [_named(s) for s in rest if s.p_corrected_t_holm >= _ALPHA]  # type: ignore[operator]
    worse = [_named(s) for s in rest if s.p_corrected_t_holm < _ALPHA]  # type: ignore[operator]
    test = "corrected resampled t test, Holm's correction for several comparisons"
    if same:
        verb = "is" if len(same) == 1 else "are"
        yield f"{capitalized(joined_names(same))} {verb} not shown to be worse than {best.label} ({test})."
    if worse:
        verb = "is" if len(worse) == 1 else "are"
        yield f"{capitalized(joined_names(worse))} {verb} worse than {best.label} beyond chance ({test})."


def _named(learner: RankedLearner) -> str:
    return f"the {learner.label}" if learner.is_baseline else learner.label


def _support(comparison: Comparison) -> Iterator[str]:
    if comparison.hoeffding is None:
        yield (
            f"The errors come from {comparison.n_rows:,} test rows; a squared error has no bound, so that no "
            "guarantee without assumptions can be given for it."
        )
        return
    off = loss_text(comparison.criterion, comparison.hoeffding)
    yield (
        f"{comparison.n_rows:,} test rows support this much and no more: with probability 95 % no "
        f"{comparison.criterion} of the {len(comparison.learners)} models is off by {off} or more "
        "(Hoeffding's bound, for models fixed in advance)."
    )


def _doubt(comparison: Comparison, sample: OutOfSample, rule: LossRule) -> Iterator[str]:
    if rule.n_classes is None:
        return
    choice = comparison[comparison.choice]
    curve = error_reject_curve(sample.y, sample.predicted, _unlabelled(rule), sample_weight=sample.weight)
    if rule.doubt is not None:
        at = curve.at(rule.doubt)
        rejected = percent_text(at["reject_rate"])
        yield (
            f"At a cost of {rule.doubt:g} for doubt, {choice.label} rejects {rejected} of the rows; "
            f"{percent_text(at['error'])} of the others are decided wrong."
        )
        return
    # the point that rejects at least a tenth
    place = int((curve.reject_rate >= 0.1).nonzero()[0][-1])
    kept, everything = float(curve.cost[place]), float(curve.cost[-1])
    if everything > 0 and curve.reject_rate[place] < 0.5:
        rejected = percent_text(float(curve.reject_rate[place]))
        yield (
            f"If {choice.label} could leave to a person the {rejected} of the rows that it is least certain "
            f"of, its {comparison.criterion} on the rest would be "
            f"{loss_text(comparison.criterion, kept)} and not {loss_text(comparison.criterion, everything)}."
        )


def _unlabelled(rule: LossRule):
    return None if rule.loss is None else rule.loss.without_reject().values


def _calibrated(comparison: Comparison) -> Iterator[str]:
    choice = comparison[comparison.choice]
    if choice.calibration_error is None or choice.is_baseline:
        return
    off = percent_text(choice.calibration_error)
    how = "can be taken as they are" if choice.calibration_error < 0.05 else "should be calibrated before use"
    yield (
        f"The posteriors of {choice.label} are off by {off} on average (expected calibration error): they "
        f"{how}."
    )


def _curve(comparison: Comparison) -> Iterator[str]:
    curve = comparison.learning_curve
    if curve is None:
        return
    label = comparison[comparison.choice].label
    more = (
        "more rows would still help" if curve.more_rows_help else "more rows of this kind would hardly help"
    )
    word = {"balanced": "is balanced", "overfitting": "overfits", "underfitting": "underfits"}[
        curve.verdict.word
    ]
    yield f"By its learning curve {label} {word}, and {more}."


def _held_out(comparison: Comparison) -> Iterator[str]:
    held = comparison.holdout
    if held is None:
        return
    low, high = (loss_text(comparison.criterion, end) for end in held.interval)
    label = comparison[comparison.choice].label
    yield (
        f"On {held.n_rows:,} rows that were not used for any choice, {label} has "
        f"{_article(comparison.criterion)} of {loss_text(comparison.criterion, held.loss)} (95 % interval "
        f"{low} to {high})."
    )


def _suspected(suspects: Iterable[Suspect]) -> Iterator[str]:
    suspects = list(suspects)
    for leak in (s for s in suspects if s.code == "leak"):
        yield f"Column {leak.column!r} {leak.text} If not, ignore it: every error here would be too small."
    out: dict[str, str] = {}
    for suspect in suspects:
        if suspect.left_out:
            out.setdefault(suspect.column, suspect.text)
    for column, text in out.items():
        yield f"Column {column!r} was left out: it {text.rstrip('.?')}. Keep it with keep = [{column!r}]."
    for suspect in suspects:
        if suspect.code == "mostly_missing" and suspect.column not in out:
            yield (
                f"Column {suspect.column!r} {suspect.text}: it was used with its missing cells filled or "
                "skipped; ignore it if its values will not be known when the model is used."
            )
