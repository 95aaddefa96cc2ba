"""Several learners on several tables: are their ranks more than chance?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum.errors import DataError, SettingError
from lyceum.evaluate.printable import Printable
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True)
class RankedPair(Shown):
    """Two learners compared over tables.

    Attributes
    ----------
    first, second : str
        Their names.
    difference : float
        The mean rank of the first less that of the second; below 0 the first is better.
    p_value : float
        Of Wilcoxon's signed ranks of the losses, two-sided.
    p_holm : float
        The same, corrected for the number of pairs by Holm's step-down rule.

    See Also
    --------
    RankComparison : All pairs.

    Examples
    --------
    >>> from lyceum.evaluate import RankedPair
    >>> RankedPair("tree", "forest", 1.2, 0.01, 0.03).p_holm
    0.03
    """

    first: str
    second: str
    difference: float
    p_value: float
    p_holm: float


@dataclass(frozen=True, eq=False)
class RankComparison(Printable):
    """Learners ranked on several tables: Friedman's test, and what is level with what.

    Attributes
    ----------
    learners, tables : tuple of str
        Their names.
    losses : array of shape (n_tables, n_learners)
        What was compared; smaller is better.
    ranks : array of shape (n_tables, n_learners)
        Of the learners on every table, 1 for the best; ties share the mean of their ranks.
    mean_ranks : array of shape (n_learners,)
        Over the tables.
    statistic, p_value : float
        Friedman's chi-square, corrected for ties, and its probability if all learners are level.
    critical_difference : float
        Nemenyi's: mean ranks that differ by more are not level, for all pairs at once.
    alpha : float
        The level of that.
    pairs : tuple of RankedPair
        Every pair by Wilcoxon's test, corrected by Holm.
    level : tuple of tuples of str
        The largest sets of learners whose mean ranks lie within the critical difference, the best
        first.

    See Also
    --------
    compare_ranks : Makes it.
    lyceum.studies.compare_studies : From studies.
    CorrectedT : Two learners on one table.

    References
    ----------
    Demšar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine
    Learning Research 7, 2006.

    Examples
    --------
    >>> from lyceum.evaluate import compare_ranks
    >>> comparison = compare_ranks([[0.1, 0.2, 0.3], [0.2, 0.2, 0.4], [0.1, 0.3, 0.2]])
    >>> comparison.mean_ranks.round(3).tolist(), round(comparison.critical_difference, 3)
    ([1.167, 2.167, 2.667], 1.914)
    """

    learners: tuple[str, ...]
    tables: tuple[str, ...]
    losses: np.ndarray
    ranks: np.ndarray
    statistic: float
    p_value: float
    critical_difference: float
    alpha: float
    pairs: tuple[RankedPair, ...]

    @property
    def mean_ranks(self) -> np.ndarray:
        """The mean rank of every learner."""
        return self.ranks.mean(axis=0)

    @property
    def level(self) -> tuple[tuple[str, ...], ...]:
        """The largest sets of learners within the critical difference of each other."""
        order = np.argsort(self.mean_ranks, kind="stable")
        means = self.mean_ranks[order]
        ends = np.searchsorted(means, means + self.critical_difference, side="right")
        sets = []
        last = 0
        for start, end in enumerate(ends.tolist()):
            # a set that the one before does not hold, of two learners at least
            if end > last and end - start > 1:
                sets.append(tuple(self.learners[i] for i in order[start:end]))
            last = max(last, end)
        return tuple(sets)

    def summary(self) -> Summary:
        """The tests, the mean ranks and the losses."""
        order = np.argsort(self.mean_ranks, kind="stable")
        facts = {
            "tables": len(self.tables),
            "Friedman's chi-square": self.statistic,
            "p-value": self.p_value,
            "critical difference (Nemenyi)": self.critical_difference,
        }
        ranks = [(self.learners[i], self.mean_ranks[i]) for i in order]
        losses = [
            (name, *(row[i] for i in order))
            for name, row in zip(self.tables, self.losses.tolist())
        ]
        pairs = [
            (p.first, p.second, p.difference, p.p_value, p.p_holm) for p in self.pairs
        ]
        heads = ("", "", "difference of ranks", "p (Wilcoxon)", "p (Holm)")
        names = tuple(self.learners[i] for i in order)
        tables = (
            Table("Mean ranks", ("learner", "mean rank"), ranks),
            Table("Losses", ("table", *names), losses),
            Table("Pairs", heads, pairs),
        )
        return Summary("Ranks over tables", facts, tables)

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types."""
        return plain(
            {
                "learners": self.learners,
                "tables": self.tables,
                "losses": self.losses,
                "ranks": self.ranks,
                "mean_ranks": self.mean_ranks,
                "statistic": self.statistic,
                "p_value": self.p_value,
                "critical_difference": self.critical_difference,
                "alpha": self.alpha,
                "pairs": [asdict(pair) for pair in self.pairs],
                "level": self.level,
            }
        )


def compare_ranks(
    losses: Any,
    learners: Sequence[str] | None = None,
    tables: Sequence[str] | None = None,
    *,
    alpha: float = 0.05,
) -> RankComparison:
    """Compare learners over several tables by their ranks.

    Friedman's test says whether any ranks differ; Nemenyi's critical difference says which mean
    ranks are apart, at once for all pairs; Wilcoxon's signed ranks with Holm's correction compare
    pairs by the sizes of the differences too.

    Parameters
    ----------
    losses : array of shape (n_tables, n_learners)
        One loss of every learner on every table, smaller is better. Losses of different tables are
        not compared, so that they may have different units.
    learners, tables : sequences of str, optional
        Their names.
    alpha : float, default=0.05
        The level of the critical difference.

    Returns
    -------
    RankComparison

    See Also
    --------
    mcnemar, corrected_t : Two learners on one table.

    References
    ----------
    Demšar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine
    Learning Research 7, 2006.

    Examples
    --------
    >>> from lyceum.evaluate import compare_ranks
    >>> losses = [[0.10, 0.12, 0.30]] * 6 + [[0.20, 0.15, 0.31]] * 6
    >>> compare_ranks(losses, ["ridge", "lasso", "guess"]).level
    (('ridge', 'lasso'),)
    """
    values = np.asarray(losses, dtype=np.float64)
    if values.ndim != 2 or min(values.shape) < 2:
        raise DataError(
            f"losses has shape {values.shape}: give a row per table and a column per learner, two"
            " of each at least"
        )
    if not np.isfinite(values).all():
        raise DataError("losses: every learner needs a finite loss on every table")
    if not 0.0 < alpha < 1.0:
        raise SettingError(f"alpha={alpha} is no level: give a number between 0 and 1")
    n, k = values.shape
    names = tuple(learners or (f"learner {j}" for j in range(k)))
    rows = tuple(tables or (f"table {i}" for i in range(n)))
    if len(names) != k or len(rows) != n:
        raise DataError(
            f"{len(names)} learners and {len(rows)} tables for losses of shape {values.shape}"
        )
    ranks = np.apply_along_axis(stats.rankdata, 1, values)
    statistic, p_value = _friedman(ranks)
    # Nemenyi: q / √2 of the studentized range of k means with infinite degrees of freedom
    q = float(stats.studentized_range.isf(alpha, k, np.inf)) / np.sqrt(2.0)
    critical = float(q * np.sqrt(k * (k + 1) / (6.0 * n)))
    pairs = tuple(_pairs(names, values, ranks.mean(axis=0)))
    return RankComparison(
        names, rows, values, ranks, statistic, p_value, critical, alpha, pairs
    )


def _friedman(ranks: np.ndarray) -> tuple[float, float]:
    """Friedman's chi-square with the correction for ties, and its p-value."""
    n, k = ranks.shape
    # (k - 1) Σ_j (R_j - n (k+1)/2)² / Σ_ij (r_ij - (k+1)/2)²; all tied: nothing differs
    within = float(((ranks - (k + 1) / 2.0) ** 2).sum())
    if within == 0.0:
        return 0.0, 1.0
    between = float(((ranks.sum(axis=0) - n * (k + 1) / 2.0) ** 2).sum())
    statistic = (k - 1) * between / within
    return statistic, float(stats.chi2.sf(statistic, k - 1))


def _pairs(
    names: tuple[str, ...], losses: np.ndarray, means: np.ndarray
) -> Iterator[RankedPair]:
    index = list(itertools.combinations(range(len(names)), 2))
    p_values = []
    for i, j in index:
        difference = losses[:, i] - losses[:, j]
        p = 1.0
        if difference.any():
            p = float(stats.wilcoxon(difference).pvalue)
        p_values.append(p)
    for (i, j), p, corrected in zip(index, p_values, holm(p_values)):
        yield RankedPair(
            names[i], names[j], float(means[i] - means[j]), p, float(corrected)
        )


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down p-values: the i-th smallest of m times m - i + 1, never below a smaller
    one's.

    Parameters
    ----------
    p : sequence of float
        The p-values of m tests.

    Returns
    -------
    list of float
        In the same order.

    See Also
    --------
    compare_ranks : Corrects its pairs so.

    References
    ----------
    Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6, 1979.

    Examples
    --------
    >>> from lyceum.evaluate import holm
    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p)
    largest = 0.0
    # the i-th smallest of m p-values (i from 0) counts m − i times
    for i, index in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        largest = max(largest, min(1.0, (len(p) - i) * p[index]))
        adjusted[index] = largest
    return adjusted
