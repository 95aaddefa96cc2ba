"""Numbers, losses and names as people read them in sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lyceum._core.text import show

if TYPE_CHECKING:
    from lyceum.studies.compare.comparison import Comparison, RankedLearner


_THINGS = (
    "classifier",
    "committee",
    "discriminant",
    "forest",
    "guess",
    "machine",
    "network",
    "perceptron",
    "tree",
)
# of a column of losses; with more, every loss has three digits of its own
_DECIMALS = 5
_LARGE = 1e7  # from here on numbers are written with a power of ten
_ALPHA = 0.05
_Z = 1.96  # standard errors to the end of a 95 % interval
_CATEGORIES = 6  # of a column, before the rest is counted


# -- in sentences ----------------------------------------------------------------------


def number_text(value: float) -> str:
    """A number with three significant digits, zeros at the end included, so that ends of intervals
    match.

    >>> tuple(map(number_text, [10.04, 0.21, 1234.5, 0.0, 120.3]))
    ('10.0', '0.210', '1,234', '0', '120')
    >>> number_text(999.7), number_text(456_516_888.0)
    ('1,000', '4.57e+08')
    """
    if value == 0.0:
        return "0"
    if abs(value) >= _LARGE:
        return f"{value:.3g}"
    # three digits of 999.7 would be 1.00e+03
    if abs(value) >= 999.5:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")


def percent_text(share: float) -> str:
    """A share in percent, with a decimal below ten and near a hundred; never a 100 % that is none.

    >>> percent_text(0.052), percent_text(0.25), percent_text(0.9996), percent_text(1.0)
    ('5.2 %', '25 %', '> 99.9 %', '100 %')
    """
    percent = 100.0 * share
    if 99.95 <= percent < 100.0:
        return "> 99.9 %"
    if 0.0 < percent < 0.05:
        return "< 0.1 %"
    # 9.95 is rounded to 10.0
    if percent < 9.95 or 99.0 <= percent < 100.0:
        return f"{percent:.1f} %"
    return f"{percent:.0f} %"


def p_text(p: float, smallest: float = 0.0) -> str:
    """A p-value with two digits; one below 0.05 is never rounded up to it, and the `smallest` that
    a test can have is a bound.

    >>> p_text(0.0002), p_text(0.31), p_text(0.0498), p_text(0.0502), p_text(0.031, 0.031)
    ('p < 0.001', 'p = 0.31', 'p = 0.0498', 'p = 0.05', 'p ≤ 0.031')
    """
    if p < 0.001:
        return "p < 0.001"
    sign = "≤" if p <= smallest * (1.0 + 1e-9) else "="
    return f"p {sign} {_below_alpha(p, f'{p:.2g}')}"


def _below_alpha(p: float, text: str) -> str:
    """The text of a p-value, with more digits where it would hide that p is below 0.05."""
    if p < _ALPHA <= float(text):
        return f"{min(p, 0.0499):.4f}"
    return text


# how criteria begin whose metric is the larger, the better: 1 − AUC, 1 − F1, 1 − R²
_FROM_ONE = "1 − "


def metric_name(criterion: str) -> str:
    """What people call a criterion: AUC for 1 − AUC.

    >>> metric_name("1 − AUC"), metric_name("error rate")
    ('AUC', 'error rate')
    """
    return criterion.removeprefix(_FROM_ONE)


def more_is_better(criterion: str) -> bool:
    """Whether the metric that is shown is the larger, the better."""
    return criterion.startswith(_FROM_ONE)


def metric_value(criterion: str, loss: Any) -> Any:
    """The metric that is shown for a loss: AUC for 1 − AUC, else the loss itself."""
    if more_is_better(criterion):
        return 1.0 - loss
    return loss


def metric_interval(criterion: str, span: tuple[float, float]) -> tuple[float, float]:
    """The ends of an interval of the metric that is shown, the smaller first."""
    low, high = (metric_value(criterion, end) for end in span)
    return (high, low) if more_is_better(criterion) else (low, high)


def interval_text(criterion: str, span: tuple[float, float]) -> str:
    """An interval of a loss as its metric is shown.

    >>> interval_text("1 − AUC", (0.111, 0.21)), interval_text("RMSE", (10.04, 11.8))
    ('0.790 to 0.889', '10.0 to 11.8')
    >>> interval_text("1 − R²", (8e-6, 0.00062))
    '0.99938 to 0.99999'
    """
    low, high = metric_interval(criterion, span)
    if more_is_better(criterion):
        # one more decimal where the upper end would be shown as 1 without being 1
        decimals = _decimals_to_one(1.0 - low)
        decimals += high < 1.0 and round(high, decimals) == 1.0
        return f"{decimal_text(low, decimals)} to {decimal_text(high, decimals)}"
    return f"{_amount(criterion, low)} to {_amount(criterion, high)}"


def loss_text(criterion: str, loss: float) -> str:
    """A loss as its metric is shown: an error rate in percent with a decimal, 1 − AUC as AUC.

    >>> losses = [("error rate", 0.1812), ("error rate", 0.00031), ("RMSE", 12.3456)]
    >>> tuple(loss_text(criterion, loss) for criterion, loss in losses)
    ('18.1 %', '< 0.1 %', '12.3')
    >>> loss_text("1 − AUC", 0.161), loss_text("1 − R²", 0.00021), loss_text("1 − R²", 0.0)
    ('0.839', '0.9998', '1.000')
    """
    return _amount(criterion, metric_value(criterion, loss))


def _amount(criterion: str, value: float) -> str:
    if more_is_better(criterion):
        return score_text(value)
    if criterion != "error rate":
        return number_text(value)
    percent = 100.0 * value
    if 9.95 <= percent < 99.95:
        return f"{percent:.1f} %"
    return percent_text(value)


def with_article(noun: str) -> str:
    """A noun with "a" or "an", by its sound: an error rate, an RMSE, a mean cost.

    >>> with_article("RMSE"), with_article("mean cost"), with_article("AUC")
    ('an RMSE', 'a mean cost', 'an AUC')
    """
    # letters that are spelt one by one have vowels of their own: an F, an M, an R
    is_spelt = len(noun) > 1 and noun[:2].isupper()
    vowels = "AEFHILMNORSX" if is_spelt else "AEIOaeio"
    if noun[:1] in vowels:
        return f"an {noun}"
    return f"a {noun}"


def in_sentence(label: str) -> str:
    """A learner inside a sentence, with an article where its name is that of a thing, not of a
    method.

    >>> tuple(map(in_sentence, ["random forest", "logistic regression", "neural network 2"]))
    ('the random forest', 'logistic regression', 'the neural network 2')
    """
    # "neural network 2" is the second of its kind
    words = label.rstrip("0123456789 ").split()
    if words and words[-1] in _THINGS:
        return f"the {label}"
    return label


def subject(label: str) -> str:
    """A learner at the beginning of a sentence.

    >>> subject("naive Bayes"), subject("constant guess"), subject("committee")
    ('Naive Bayes', 'A constant guess', 'The committee')
    """
    if label == "constant guess":
        return "A constant guess"
    return capitalize(in_sentence(label))


def by_count(n: int, one: str, several: str) -> str:
    """The form of a word for one thing, or for several: "was" or "were"."""
    return one if n == 1 else several


def join_names(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"; "none" without names."""
    if not names:
        return "none"
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def capitalize(text: str) -> str:
    """The text with a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]


# -- in tables -------------------------------------------------------------------------


def aligned_loss(comparison: Comparison, loss: float) -> str:
    """A loss as its metric is shown, with the decimals of its column: three digits for the smallest
    loss."""
    return _aligned_text(comparison, metric_value(comparison.criterion, loss))


def aligned_interval(
    comparison: Comparison, span: tuple[float, float]
) -> tuple[str, str]:
    """The ends of an interval as their metric is shown, the smaller first."""
    low, high = metric_interval(comparison.criterion, span)
    return _aligned_text(comparison, low), _aligned_text(comparison, high)


def gap_text(comparison: Comparison, learner: RankedLearner) -> str:
    """How far a learner is behind the best, with the reach of a 95 % interval."""
    if learner.difference is None or learner.difference_error is None:
        return "the best"
    if learner.is_level:
        return "level with the best"
    value = learner.difference
    reach = _Z * learner.difference_error
    # as many decimals as two digits of the smaller number need
    least = min(abs(value), reach) or abs(value)
    if comparison.criterion == "error rate":
        gap = f"behind by {100 * value:.1f} ± {100 * reach:.1f} points"
    elif max(abs(value), reach) >= _LARGE or least < 10.0**-_DECIMALS:
        gap = f"behind by {value:.2g} ± {reach:.2g}"
    else:
        decimals = min(_DECIMALS, max(0, 1 - math.floor(math.log10(least))))
        texts = [decimal_text(number, decimals) for number in (value, reach)]
        gap = f"behind by {' ± '.join(texts)}"
    if learner.p_adjusted is None or learner.p_adjusted >= _ALPHA:
        gap += ", perhaps by chance"
    return gap


def _decimals_to_one(least: float) -> int:
    """Three decimals, or as many as tell a value close to 1 from 1."""
    if least <= 0.0:
        return 3
    return min(6, max(3, -math.floor(math.log10(least))))


def _aligned_text(comparison: Comparison, value: float) -> str:
    if comparison.criterion == "error rate":
        if 0.0 < value < 0.0005 or 0.9995 <= value < 1.0:
            return percent_text(value)
        return f"{100 * value:.1f} %"
    if more_is_better(comparison.criterion):
        best = min((s.loss for s in comparison.learners), default=1.0)
        return decimal_text(value, _decimals_to_one(best))
    sizes = [abs(s.loss) for s in comparison.learners if s.loss]
    # three significant digits of the smallest loss
    decimals = max(0, 2 - math.floor(math.log10(min(sizes, default=1.0))))
    if decimals > _DECIMALS or max(sizes, default=1.0) >= _LARGE:
        return number_text(value)
    return decimal_text(value, decimals)


def score_text(value: float) -> str:
    """A score of at most 1 with three decimals, more where it would be rounded to 1.

    >>> score_text(0.9082), score_text(0.99971), score_text(1.0), score_text(-0.0001)
    ('0.908', '0.9997', '1.000', '0.000')
    """
    return decimal_text(value, _decimals_to_one(1.0 - value))


def decimal_text(value: float, decimals: int = 3) -> str:
    """A number with a given number of decimals, a zero without a sign.

    >>> decimal_text(-0.0004), decimal_text(1234.5, 1), decimal_text(-0.25)
    ('0.000', '1,234.5', '-0.250')
    """
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def show_cell(value: object) -> str:
    """A value of a table: whole numbers without decimals, "none" for None."""
    if value is None:
        return "none"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6:
        return f"{int(value):,}"
    return show(value)


def target_text(value: object, error: float | None) -> str:
    """A value of the target, with two digits of its usual error where four digits would hide the
    error.

    >>> target_text(100_000_003.2714, 0.103), target_text(12.3456, 3.2), target_text("a", None)
    ('100,000,003.27', '12.35', 'a')
    """
    if (
        isinstance(value, float)
        and error
        and 0.0 < error < 1e-3 * abs(value) < math.inf
    ):
        # the last decimal is the second digit of the error
        decimals = 1 - math.floor(math.log10(error))
        if decimals + math.log10(abs(value)) < 15:  # the digits that a float has
            return decimal_text(value, max(0, decimals))
    return show_cell(value)


def show_values(values: Sequence[Any]) -> str:
    """The first values of a list, and how many more there are."""
    more = len(values) - _CATEGORIES
    first = ", ".join(map(show_cell, values[:_CATEGORIES]))
    if more > 0:
        return f"{first} and {more:,} more"
    return first


def keep_units(text: str) -> str:
    """The text with every percent sign on the line of its number."""
    return text.replace(" %", "\u00a0%")


def percent_cell(share: float) -> str:
    """A share in percent that is not broken over two lines."""
    return keep_units(percent_text(share))


def signed_text(value: float) -> str:
    """A number with its sign and three digits."""
    if value == 0.0:
        return "0"
    if abs(value) >= 1e4:
        return f"{value:+,.0f}"
    return f"{value:+#.3g}".rstrip(".")


def p_cell(p: float | None) -> str:
    """A p-value in a table; nothing without one."""
    if p is None or math.isnan(p):
        return ""
    if p < 0.001:
        return "< 0.001"
    return _below_alpha(p, f"{p:.3f}" if p < 0.1 else f"{p:.2f}")


def duration(seconds: float) -> str:
    """A time in ms, s, min or h."""
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def size_text(size: int) -> str:
    """Bytes in kB or MB."""
    if size >= 2**20:
        return f"{size / 2**20:.0f} MB"
    return f"{size / 2**10:.0f} kB"
