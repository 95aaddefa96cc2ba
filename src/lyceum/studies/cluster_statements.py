"""What the clusters of a table are like, in sentences: one function per sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from lyceum._core.data import Column
from lyceum._core.text import show_count
from lyceum.cluster import KChoice
from lyceum.studies.report.format import (
    by_count,
    decimal_text,
    join_names,
    number_text,
    percent_text,
)

# by Kaufman and Rousseeuw (1990), Finding groups in data: from 0.5 on a reasonable structure,
# below 0.25 none of substance
_APART = 0.5
_HARDLY_APART = 0.25
_SAME = 0.02  # silhouettes that differ by less are as clear
_TELLING = 0.5  # standard deviations of a mean from that of all rows
_TELLING_SHARE = 0.2  # by which the commonest category is commoner than in all rows
_MOST_TRAITS = 3
_NEARLY_ALL = 0.9
_FEW_ROWS = 3
_FEW = 0.01  # of the rows
_TOLD = 0.95  # of the variation of a column between clusters, which tell it
_UNTOLD = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class ClusterFacts:
    """The numbers that sentences on clusters are made of.

    Attributes
    ----------
    labels : array of shape (n,)
        The cluster of every row, -1 for noise.
    points : array of shape (n,)
        The silhouette of every row, NaN where it was not computed.
    cells : array of shape (n, d), or None
        The coded cells; None where rows are texts.
    columns : sequence of Column
        The columns of the cells.
    choice : KChoice or None
        How the number of clusters was chosen, if it was.
    shuffled : float or None
        The mean silhouette of clusters of the same table with every column shuffled by itself.
    left_out : mapping
        Columns that had no part in the clusters, and why.
    """

    labels: np.ndarray
    points: np.ndarray
    cells: np.ndarray | None
    columns: tuple[Column, ...]
    choice: KChoice | None
    shuffled: float | None
    left_out: Mapping[str, str]

    @property
    def sizes(self) -> dict[int, int]:
        """The rows of every cluster, without noise."""
        names, counts = np.unique(self.labels[self.labels >= 0], return_counts=True)
        return dict(zip(names.tolist(), counts.tolist()))

    @property
    def clearness(self) -> float | None:
        """The mean silhouette, None where there is none."""
        known = self.points[~np.isnan(self.points)]
        return float(known.mean()) if len(known) else None


def cluster_statements(facts: ClusterFacts) -> tuple[str, ...]:
    """All sentences that the numbers support."""
    functions = (
        how_many,
        how_clear,
        beside_shuffled_columns,
        other_numbers,
        between_clusters,
        sizes,
        one_column,
        traits,
        columns_kept,
    )
    return tuple(sentence for of in functions for sentence in of(facts))


def how_many(facts: ClusterFacts) -> Iterator[str]:
    n = len(facts.labels)
    counts = facts.sizes
    rows = show_count(n, "row")
    if not counts:
        yield f"No clusters were found: all {rows} are noise."
        return
    listed = join_names([f"{count:,}" for count in counts.values()])
    sentence = f"{listed} of {rows} form one cluster"
    if len(counts) > 1:
        sentence = f"The {rows} form {len(counts)} clusters, of {listed} rows"
    n_noise = n - sum(counts.values())
    if n_noise:
        belong = by_count(n_noise, "belongs", "belong")
        sentence += f"; {show_count(n_noise, 'row')} {belong} to none (noise)"
    yield f"{sentence}."


def how_clear(facts: ClusterFacts) -> Iterator[str]:
    s = facts.clearness
    if s is None:
        return
    value = f"(mean silhouette {decimal_text(s, 2)}, of at most 1)"
    if s >= _APART:
        yield f"The clusters are well apart {value}."
    elif s >= _HARDLY_APART:
        yield f"The clusters touch each other {value}: rows between them could go either way."
    else:
        yield (
            f"The clusters are hardly apart {value}: there may be no groups here, only a way to"
            " divide the rows."
        )


def beside_shuffled_columns(facts: ClusterFacts) -> Iterator[str]:
    s = facts.clearness
    if s is None or facts.shuffled is None or s > facts.shuffled + _SAME:
        return
    yield (
        "If the cells of every column are shuffled, clusters are as clear (mean silhouette"
        f" {decimal_text(facts.shuffled, 2)}): the columns hardly go together, and the clusters say"
        " no more than the columns do one by one."
    )


def other_numbers(facts: ClusterFacts) -> Iterator[str]:
    choice = facts.choice
    if choice is None:
        return
    best = max(choice.silhouettes)
    near = [
        str(k)
        for k, s in zip(choice.clusters, choice.silhouettes)
        if k != choice.k and s >= best - _SAME
    ]
    if near:
        listed = join_names(near)
        yield (
            f"{listed} clusters would be as clear as {choice.k}: the number of clusters is a matter"
            " of what they are for."
        )


def between_clusters(facts: ClusterFacts) -> Iterator[str]:
    n_known = int((~np.isnan(facts.points)).sum())
    n = int((facts.points < 0).sum())
    if n:
        are = by_count(n, "row is", "rows are")
        share = percent_text(n / n_known)
        yield (
            f"{n:,} {are} nearer to another cluster than to the own one ({share}): negative"
            " silhouettes in the list of members."
        )


def sizes(facts: ClusterFacts) -> Iterator[str]:
    counts = facts.sizes
    n = len(facts.labels)
    if len(counts) < 2:
        return
    for c, count in counts.items():
        if count >= _NEARLY_ALL * n:
            share = percent_text(count / n)
            yield f"Cluster {c} holds {share} of the rows: the others are exceptions, not groups."
        elif count <= max(_FEW_ROWS, _FEW * n) and n > 10 * _FEW_ROWS:
            rows = show_count(count, "row")
            yield f"Cluster {c} has only {rows}: outliers perhaps, or mistakes in the table."


def one_column(facts: ClusterFacts) -> Iterator[str]:
    """Where clusters are no more than the values of one column."""
    if facts.cells is None or len(facts.sizes) < 2 or len(facts.columns) < 2:
        return
    told = [_share_told(facts, j) for j in range(len(facts.columns))]
    best = int(np.argmax(told))
    others = told[:best] + told[best + 1 :]
    if told[best] >= _TOLD and max(others) <= _UNTOLD:
        name = facts.columns[best].name
        yield (
            f"The clusters are little more than the values of {name!r}: without that column rows of"
            " different clusters are much alike."
        )


def _share_told(facts: ClusterFacts, j: int) -> float:
    """How much of the variation of a column lies between clusters: R² of numbers, Goodman and
    Kruskal's tau of categories."""
    assert facts.cells is not None
    x = facts.cells[:, j]
    known = ~np.isnan(x) & (facts.labels >= 0)
    x = x[known]
    if not len(x):
        return 0.0
    spread = _spread(x, facts.columns[j].is_categorical)
    if spread <= 0.0:
        return 0.0
    labels = facts.labels[known]
    within = 0.0
    for c in np.unique(labels):
        here = x[labels == c]
        within += len(here) / len(x) * _spread(here, facts.columns[j].is_categorical)
    return 1.0 - within / spread


def _spread(x: np.ndarray, is_categorical: bool) -> float:
    """The variance of numbers, or the chance that two categories differ (Gini's index)."""
    if not is_categorical:
        return float(x.var())
    shares = np.unique(x, return_counts=True)[1] / len(x)
    return float(1.0 - shares @ shares)


def traits(facts: ClusterFacts) -> Iterator[str]:
    """What sets every cluster apart, the most telling columns first."""
    if facts.cells is None or len(facts.sizes) < 2:
        return
    for c in facts.sizes:
        telling = []
        for j, column in enumerate(facts.columns):
            trait = _category_trait if column.is_categorical else _number_trait
            of_column = trait(facts.cells[:, j], facts.labels == c, column)
            if of_column is not None:
                telling.append(of_column)
        telling.sort(key=lambda trait: -trait[0])
        if telling:
            listed = "; ".join(text for _, text in telling[:_MOST_TRAITS])
            yield f"Cluster {c}: {listed}."
        else:
            yield f"Cluster {c} is near the average of all rows in every column."


def _number_trait(
    x: np.ndarray, here: np.ndarray, column: Column
) -> tuple[float, str] | None:
    """How far the mean of a cluster lies from that of all rows, in standard deviations."""
    known = ~np.isnan(x)
    if column.is_time or not (known & here).any() or not x[known].std():
        return None
    mean = x[known].mean()
    mean_here = x[known & here].mean()
    size = (mean_here - mean) / x[known].std()
    if abs(size) < _TELLING:
        return None
    word = "high" if size > 0 else "low"
    values = f"{number_text(float(mean_here))}, on average {number_text(float(mean))}"
    return abs(float(size)), f"{column.name!r} is {word} ({values})"


def _category_trait(
    x: np.ndarray, here: np.ndarray, column: Column
) -> tuple[float, str] | None:
    """How much commoner the commonest category of a cluster is than in all rows."""
    known = ~np.isnan(x)
    if not (known & here).any():
        return None
    codes, counts = np.unique(x[known & here], return_counts=True)
    code = codes[counts.argmax()]
    share_here = float(counts.max() / counts.sum())
    share = float((x[known] == code).mean())
    if share_here - share < _TELLING_SHARE:
        return None
    name = f"{code:g}"
    if not column.numeric:
        name = repr(str(np.asarray(column.categories)[int(code)]))
    text = f"{column.name!r} is {name} in {percent_text(share_here)}"
    # in the unit of standard deviations, as numbers are
    size = (share_here - share) / np.sqrt(share * (1.0 - share))
    return float(size), f"{text} ({percent_text(share)} of all rows)"


def columns_kept(facts: ClusterFacts) -> Iterator[str]:
    if facts.left_out:
        names = [f"{name!r} ({why})" for name, why in facts.left_out.items()]
        had = by_count(len(names), "has", "have")
        stand = by_count(len(names), "stands", "stand")
        yield (
            f"{join_names(names)} {had} no part in the clusters, and {stand} beside every row in"
            " the list of members."
        )
