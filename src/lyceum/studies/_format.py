"""Numbers, losses and names as people read them in sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lyceum.report import show

if TYPE_CHECKING:
    from lyceum.studies._comparison import Comparison

__all__ = [
    "aligned_loss",
    "capitalized",
    "joined_names",
    "loss_text",
    "number_text",
    "p_text",
    "percent_text",
    "with_article",
]

_CATEGORIES = 6  # of a column, before the rest is counted


# -- in sentences --------------------------------------------------------------------------------------------


def number_text(value: float) -> str:
    """A number with three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


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
    return f"{percent:.1f} %" if percent < 9.95 or 99.0 <= percent < 100.0 else f"{percent:.0f} %"


def p_text(p: float) -> str:
    """A p-value with two digits."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def loss_text(criterion: str, value: float) -> str:
    """A loss in its own unit: an error rate in percent with a decimal, as in the ranking.

    >>> loss_text("error rate", 0.1812), loss_text("error rate", 0.00031), loss_text("RMSE", 12.3456)
    ('18.1 %', '< 0.1 %', '12.3')
    """
    if criterion != "error rate":
        return number_text(value)
    percent = 100.0 * value
    return f"{percent:.1f} %" if 9.95 <= percent < 99.95 else percent_text(value)


def with_article(noun: str) -> str:
    """A noun with "a" or "an", by its sound: an error rate, an RMSE, a mean cost.

    >>> with_article("RMSE"), with_article("mean cost"), with_article("AUC")
    ('an RMSE', 'a mean cost', 'an AUC')
    """
    spelt = len(noun) > 1 and noun[:2].isupper()
    vowel = noun[:1] in "AEFHILMNORSX" if spelt else noun[:1].lower() in "aeio"
    return f"{'an' if vowel else 'a'} {noun}"


def joined_names(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"; "none" without names."""
    if len(names) < 2:
        return names[0] if names else "none"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def capitalized(text: str) -> str:
    """The text with a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]


# -- in tables -----------------------------------------------------------------------------------------------


def aligned_loss(comparison: Comparison, value: float) -> str:
    """A loss with as many decimals as the others in its column: three digits for the smallest."""
    if comparison.criterion == "error rate":
        return f"{100 * value:.1f} %"
    least = min((abs(one.loss) for one in comparison.learners if one.loss), default=1.0)
    return f"{value:,.{max(0, 2 - math.floor(math.log10(least)))}f}"


def show_cell(value: Any) -> str:
    """A value of a table: whole numbers without decimals, "none" for None."""
    if value is None:
        return "none"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6:
        return f"{int(value):,}"
    return show(value)


def show_values(values: Sequence[Any]) -> str:
    """The first values of a list, and how many more there are."""
    more = len(values) - _CATEGORIES
    first = ", ".join(map(show_cell, values[:_CATEGORIES]))
    return f"{first} and {more:,} more" if more > 0 else first


def keep_units(text: str) -> str:
    """The text with every percent sign on the line of its number."""
    return text.replace(" %", "\u00a0%")


def percent_cell(share: float) -> str:
    """A share in percent that is not broken over two lines."""
    return keep_units(percent_text(share))


def signed(value: float) -> str:
    """A number with its sign and three digits."""
    return f"{value:+#.3g}".rstrip(".") if abs(value) < 1e4 else f"{value:+,.0f}"


def p_cell(p: float | None) -> str:
    """A p-value in a table; nothing without one."""
    if p is None or math.isnan(p):
        return ""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def duration(seconds: float) -> str:
    """A time in ms, s, min or h."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds >= 0.1 else f"{1000 * seconds:.0f} ms"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def size_text(size: int) -> str:
    """Bytes in kB or MB."""
    return f"{size / 2**20:.0f} MB" if size >= 2**20 else f"{size / 2**10:.0f} kB"
