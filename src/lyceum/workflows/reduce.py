"""Fewer columns for a file: scores or chosen columns, and a page that shows them."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from lyceum import plot
from lyceum._core.data import FileFormat, scan
from lyceum._core.files import spool
from lyceum._core.lazy_arrow import pa
from lyceum._core.packages import check_installed
from lyceum._core.report import Shown
from lyceum._core.types import Data, Estimator
from lyceum.decomposition import (
    PCA,
    ClassicalMDS,
    DiscriminantProjection,
    SelectKBest,
    SequentialFeatureSelector,
    TruncatedSVD,
)
from lyceum.errors import SettingError
from lyceum.prepare import SimpleImputer, StandardScaler
from lyceum.report import Summary
from lyceum.workflows.original_columns import original_columns
from lyceum.workflows.uninformative import uninformative_columns

Method = Literal["pca", "svd", "mds", "fisher", "ranking", "subset"]
_SUPERVISED = ("fisher", "ranking", "subset")
_MOST_POINTS = 2_000
_MOST_BARS = 30


@dataclass(frozen=True, eq=False)
class Reduction(Shown):
    """A table with fewer columns.

    Attributes
    ----------
    model : fitted transformer
        As in `lyceum.decomposition`.
    table : pyarrow.Table
        The rows with the new columns, and the target if there is one.
    method : str
        The method, by the name that was given.
    left_out : dict of str to str
        Columns without information (identifiers, constants, empty ones, free text), and why.

    See Also
    --------
    reduce_table : Computes it.
    lyceum.decomposition.PCA, lyceum.decomposition.DiscriminantProjection : Some of its methods.
    lyceum.decomposition.SequentialFeatureSelector : Some of its methods.

    Examples
    --------
    Two of the three columns are the same length in two units:

    >>> import pandas as pd
    >>> from lyceum.workflows import reduce_table
    >>> table = pd.DataFrame(
    ...     {"cm": [1.0, 2.0, 3.0, 4.0], "mm": [10, 20, 30, 40], "g": [1, -1, -1, 1]})
    >>> reduction = reduce_table(table, n_components=2)
    >>> reduction.table.column_names, reduction.model.explained_variance_ratio_.round(4).tolist()
    (['pca0', 'pca1'], [0.6667, 0.3333])
    """

    model: Any
    table: pa.Table
    method: str
    left_out: Mapping[str, str] = field(default_factory=dict)

    def summary(self) -> Summary:
        """What was learned, and the columns that were left out."""
        summary = self.model.summary()
        if not self.left_out:
            return summary
        reasons = ", ".join(f"{name} ({why})" for name, why in self.left_out.items())
        return Summary(
            summary.title, {**summary.facts, "left out": reasons}, summary.tables
        )

    def as_dict(self) -> dict[str, Any]:
        """The summary and the columns, as plain values."""
        return {
            "method": self.method,
            "columns": self.table.column_names,
            "summary": self.summary().as_dict(),
        }

    def page(self, name: str = "") -> str:
        """One HTML page, with pictures and tables and no need of a network."""
        check_installed("the report of a reduction", "matplotlib")
        learner = type(self.model).__name__
        title = html.escape(f"{learner} of {name}" if name else learner)
        figures = "".join(_figures(self.model, self.table, self.method))
        style = (
            "body{font-family:sans-serif;max-width:60rem;margin:2rem"
            " auto;color:#222}table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem"
            " .7rem;text-align:right;border-bottom:1px solid"
            " #ddd}td:first-child,th:first-child{text-align:left}figure{margin:1rem 0}figure"
            " svg{max-width:36rem;height:auto}figcaption{color:#666}"
        )
        return (
            f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title}</title>"
            f"<style>{style}</style></head><body><h1>{title}</h1>"
            f"{figures}{self.summary()._repr_html_()}</body></html>\n"
        )


def reduce_table(
    data: Data,
    target: str | None = None,
    *,
    method: Method = "pca",
    n_components: float | None = None,
    keep: Collection[str] = (),
    file_format: FileFormat | None = None,
) -> Reduction:
    """Fewer columns for a file or a frame: missing cells are filled and numbers standardized first.

    Identifiers, constants, empty columns and free text are left out.

    Parameters
    ----------
    data : path or frame
    target : str, optional
        The column to predict; needed by "fisher", "ranking" and "subset".
    method : {"pca", "svd", "mds", "fisher", "ranking", "subset"}, default="pca"
        Principal components, a factorization, classical scaling by Gower's distance, Fisher's
        projection, the best columns one by one, or the best set of columns.
    n_components : int or float, optional
        How many columns to keep; for "pca" a number below 1 is the proportion of the variance.
    keep : collection of str, default=()
        Columns that are not left out, whatever they look like.
    file_format : FileFormat, optional
        How the file is written.

    Returns
    -------
    Reduction

    Examples
    --------
    >>> from lyceum.datasets import path
    >>> reduce_table(path("penguins"), "species", method="fisher").table.column_names
    ['discriminantprojection0', 'discriminantprojection1', 'species']
    """
    if method in _SUPERVISED and target is None:
        raise SettingError(
            f"method {method!r} compares columns with a target: name one with target="
        )
    options = (file_format or FileFormat()).options()
    with spool(data) as source:
        left_out = uninformative_columns(
            source, target, keep=keep, file_format=file_format
        )
        rows = scan(source, target, ignore=tuple(left_out), **options)
    model = _model(method, n_components)
    # Gower's distance and the measures of a ranking take missing cells; variances depend on units
    if method not in ("mds", "ranking"):
        rows = SimpleImputer().fit(rows).transform(rows)
    if method in ("pca", "svd"):
        # PCA divides by N - 1: its variances are then eigenvalues of the correlation matrix
        ddof = 1 if method == "pca" else 0
        rows = StandardScaler(ddof=ddof).fit(rows).transform(rows)
    reduced = model.fit(rows).transform(rows)
    if method in ("ranking", "subset"):
        # rows with some of the columns, as they were written
        columns = original_columns(reduced.in_one_block("reduce"))
    else:
        names = model.get_feature_names_out().tolist()
        columns = dict(zip(names, np.asarray(reduced).T))
    if target is not None:
        columns[target] = pa.array(rows.y)
    return Reduction(model, pa.table(columns), method, left_out)


def _model(method: str, n: float | None) -> Any:
    if n is not None and not 0 < n < np.inf:
        raise SettingError(
            f"n_components={n} keeps no columns: give a number of columns, or a share below 1"
        )
    n_columns = None
    n_scores = 2
    if n is not None:
        n_columns = n_scores = int(n)
    # below 1 it is a share of the variance, which only PCA takes
    n_or_share = n if n is not None and n < 1 else n_columns
    makers: dict[str, Callable[[], Any]] = {
        "pca": partial(PCA, n_or_share),
        "svd": partial(TruncatedSVD, n_scores),
        "mds": partial(ClassicalMDS, n_scores, metric="gower"),
        "fisher": partial(DiscriminantProjection, n_columns),
        "ranking": partial(SelectKBest, k=n_columns),
        "subset": partial(
            SequentialFeatureSelector, n_features_to_select=n_columns, random_state=0
        ),
    }
    if method not in makers:
        raise SettingError(f"method={method!r} is none of {', '.join(makers)}")
    return makers[method]()


# -- pictures of the page --------------------------------------------------------------


def _figures(model: Estimator, table: pa.Table, method: str) -> Iterator[str]:
    """Figures as HTML, one after the other."""
    if method == "pca":
        yield _figure("Proportion of the variance", lambda ax: plot.scree(model, ax=ax))
    if method in ("pca", "svd", "mds", "fisher"):
        yield _figure("Rows by the new columns", lambda ax: _scatter(model, table, ax))
    elif method == "ranking":
        yield _figure("Merit of the columns", lambda ax: _bars(model, ax))
    elif len(getattr(model, "history_", ())) > 1:
        yield _figure("Loss along the search", lambda ax: _way(model, ax))


def _figure(title: str, draw: Callable[[Any], Any]) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    # the same model gives the same page: no date, and identifiers from the title, not at random
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 10}
    with matplotlib.rc_context(settings):
        canvas = Figure(figsize=(5.6, 4.0), layout="constrained")
        draw(canvas.add_subplot())
        out = io.StringIO()
        undated = {"Date": None, "Creator": None}
        canvas.savefig(out, format="svg", metadata=undated, transparent=True)
    svg = out.getvalue()
    picture = svg[svg.index("<svg") :]
    caption = f"<figcaption>{html.escape(title)}</figcaption>"
    return f"<figure>{picture}{caption}</figure>"


def _scatter(model: Estimator, table: pa.Table, ax: Any) -> None:
    names = model.get_feature_names_out().tolist()
    # at most some thousand rows at even distances: more cannot be told apart
    rows = np.unique(np.linspace(0, table.num_rows - 1, _MOST_POINTS).astype(int))
    first = table[names[0]].to_numpy()[rows]
    # one new column only: all points on a line
    second = np.zeros(len(rows))
    if len(names) > 1:
        second = table[names[1]].to_numpy()[rows]
    target = [name for name in table.column_names if name not in names]
    values = np.full(len(rows), "")
    if target:
        values = np.array(table[target[0]].to_pylist(), dtype=object)[rows]
    _draw_points(ax, first, second, values=values, target=target)
    ax.set(xlabel=names[0], ylabel=names[1] if len(names) > 1 else "")
    if len(names) == 1:
        ax.set_yticks([])


def _draw_points(
    ax: Any,
    first: np.ndarray,
    second: np.ndarray,
    *,
    values: np.ndarray,
    target: list[str],
) -> None:
    """The points, in colors of their classes or numbers where there is a target."""
    # few values are classes, each with a color; other numbers have a scale
    classes = sorted({str(value) for value in values})
    if 1 < len(classes) <= 10:
        labels = np.array([str(value) for value in values])
        for label in classes:
            is_of = labels == label
            ax.scatter(first[is_of], second[is_of], s=9, alpha=0.7, label=label)
        ax.legend(title=target[0], frameon=False, fontsize=8)
    elif target and all(isinstance(value, int | float) for value in values):
        dots = ax.scatter(first, second, c=values.astype(float), s=9, alpha=0.7)
        ax.figure.colorbar(dots, ax=ax, label=target[0])
    else:
        ax.scatter(first, second, s=9, alpha=0.7)


def _bars(model: Estimator, ax: Any) -> None:
    # the best at the top: bars are drawn from below
    order = np.asarray(model.ranking_)[:_MOST_BARS][::-1]
    names = [model.schema_.names[j] for j in order]
    colors = ["C0" if model.support_[j] else "0.75" for j in order]
    ax.barh(np.arange(len(order)), np.asarray(model.scores_)[order], color=colors)
    ax.set_yticks(np.arange(len(order)), names)
    ax.set_xlabel("merit (blue: kept)")


def _way(model: Any, ax: Any) -> None:
    x, y = type(model).history_axes
    ax.plot(np.arange(len(model.history_)), model.history_, marker="o", markersize=3)
    ax.set(xlabel=x, ylabel=y)
