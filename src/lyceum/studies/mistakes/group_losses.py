"""Groups of rows by the cells of one column, and what each of them costs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from lyceum._core.data import Column, row_weights, time_text
from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.metrics import loss_and_interval, n_independent
from lyceum.studies.compare.out_of_sample import OutOfSample

_FEWEST = 20  # rows of a group
_PARTS = 4  # of a column of numbers, by its quantiles
_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class GroupLoss(Shown):
    """Rows that share a cell, and what they cost on average.

    Attributes
    ----------
    column : str
        The column that makes the group.
    cells : str
        Its cells: a category, "12 to 24", or "missing".
    n_rows : int
        Rows of the group.
    loss : float
        Their mean cost, error rate, or RMSE.
    low, high : float
        Its interval, corrected for the number of groups that were searched (Bonferroni): with
        probability 95 % the intervals of all groups hold at once.
    rest : float
        The same of all other rows.
    name : str
        The group in words.

    See Also
    --------
    StudyErrors : The groups of a study, the worst first.

    Examples
    --------
    >>> from lyceum.studies import GroupLoss
    >>> print(GroupLoss("purpose", "new car", 234, 0.35, 0.25, 0.46, 0.24))
    purpose = new car: 0.35 (0.25 to 0.46) on 234 rows, 0.24 elsewhere
    """

    column: str
    cells: str
    n_rows: int
    loss: float
    low: float
    high: float
    rest: float

    @property
    def name(self) -> str:
        """The group in words."""
        return f"{self.column} = {self.cells}"

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain(asdict(self))

    def __str__(self) -> str:
        interval = f"{self.low:.4g} to {self.high:.4g}"
        where = f"on {self.n_rows:,} rows, {self.rest:.4g} elsewhere"
        return f"{self.name}: {self.loss:.4g} ({interval}) {where}"


def group_losses(
    sample: OutOfSample,
    losses: np.ndarray,
    rule: LossRule,
    columns: Mapping[Column, np.ndarray],
) -> list[GroupLoss]:
    """What every group costs; the surest bad one, by its excess in interval widths, is first.

    The sample has every row once; `columns` has the cells of these rows, coded.
    """
    masks = [
        (column, text, mask)
        for column, cells in columns.items()
        for text, mask in _groups(column, cells)
        if _FEWEST <= np.count_nonzero(mask) < len(mask)
    ]
    groups = []
    w = row_weights(sample.weight, len(losses))
    weighted = w * losses
    weight = w.sum()
    total = weighted.sum()
    for column, text, mask in masks:
        part = sample.take(mask)
        # Student's quantile at α / m, as few rows tell their own spread badly
        freedom = max(1.0, n_independent(part) - 1.0)
        z = stats.t.isf(_ALPHA / (2.0 * len(masks)), freedom)
        confidence = 1.0 - 2.0 * float(stats.norm.sf(z))
        loss, (low, high), _ = loss_and_interval(rule, part, losses[mask], confidence)
        others = (total - weighted[mask].sum()) / (weight - w[mask].sum())
        rest = float(np.sqrt(others) if rule.is_root else others)
        groups.append(
            GroupLoss(column.name, text, len(part.rows), loss, low, high, rest)
        )
    return sorted(groups, key=_excess, reverse=True)


def _excess(group: GroupLoss) -> float:
    """The excess over the rest in half widths of the interval: above 1 it is more than chance."""
    return (group.loss - group.rest) / max(group.loss - group.low, 1e-300)


def _groups(column: Column, cells: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The cells of every group in words, and which rows have them."""
    is_missing = np.isnan(cells)
    if not column.numeric:
        is_missing |= cells < 0
    yield "missing", is_missing
    if column.is_categorical:
        for value in np.unique(cells[~is_missing]).tolist():
            label = value
            if not column.numeric and column.categories is not None:
                label = column.categories[int(value)]
            yield _text(column, label), cells == value
        return
    ends = np.unique(np.quantile(cells[~is_missing], np.linspace(0, 1, _PARTS + 1)))
    for j, (low, high) in enumerate(itertools.pairwise(ends.tolist())):
        is_last = j == len(ends) - 2
        below = cells <= high if is_last else cells < high
        ending = "" if is_last else "below "
        text = f"{_text(column, low)} to {ending}{_text(column, high)}"
        yield text, (cells >= low) & below


def _text(column: Column, value: Any) -> str:
    if column.is_time:
        return time_text(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
