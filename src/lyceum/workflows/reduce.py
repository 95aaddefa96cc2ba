"""Fewer columns for a file: scores or chosen columns, and a page that shows them."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lyceum._core.data import FileFormat, scan
from lyceum._core.files import spool
from lyceum._core.lazy_arrow import pa
from lyceum._core.packages import check_installed
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
from lyceum.workflows.reduction_figures import reduction_figures
from lyceum.workflows.uninformative import uninformative_columns

Method = Literal["pca", "svd", "mds", "fisher", "ranking", "subset"]
_SUPERVISED = ("fisher", "ranking", "subset")


@dataclass(frozen=True, eq=False)
class Reduction:
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
        title = html.escape(
            f"{type(self.model).__name__} of {name}"
            if name
            else type(self.model).__name__
        )
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
            f"{''.join(reduction_figures(self.model, self.table, self.method))}"
            f"{self.summary()._repr_html_()}</body></html>\n"
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
        Principal components, a factorisation, classical scaling by Gower's distance, Fisher's
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
    with spool(data) as source:
        left_out = uninformative_columns(
            source, target, keep=keep, file_format=file_format
        )
        rows = scan(
            source,
            target,
            ignore=tuple(left_out),
            **(file_format or FileFormat()).options(),
        )
    model = _model(method, n_components)
    if method not in ("mds", "ranking"):
        rows = SimpleImputer().fit(rows).transform(rows)
    if method in ("pca", "svd"):
        rows = StandardScaler().fit(rows).transform(rows)
    model.fit(rows)
    columns = _columns(model, rows, method)
    if target is not None:
        columns[target] = pa.array(rows.y)
    return Reduction(model, pa.table(columns), method, left_out)


def _model(method: str, n: float | None) -> Any:
    if n is not None and not 0 < n < np.inf:
        raise SettingError(
            f"n_components={n} keeps no columns: give a number of columns, or a share below 1"
        )
    if n is None:
        n_columns = None
    else:
        n_columns = int(n)
    makers = {
        "pca": lambda: PCA(n if n is None or n < 1 else n_columns),
        "svd": lambda: TruncatedSVD(2 if n_columns is None else n_columns),
        "mds": lambda: ClassicalMDS(
            2 if n_columns is None else n_columns, metric="gower"
        ),
        "fisher": lambda: DiscriminantProjection(n_columns),
        "ranking": lambda: SelectKBest(k=n_columns),
        "subset": lambda: SequentialFeatureSelector(
            n_features_to_select=n_columns, random_state=0
        ),
    }
    if method not in makers:
        raise SettingError(f"method={method!r} is none of {', '.join(makers)}")
    return makers[method]()


def _columns(model: Estimator, rows: Any, method: str) -> dict[str, Any]:
    reduced = model.transform(rows)
    # rows with some of the columns, as they were written
    if method in ("ranking", "subset"):
        return original_columns(reduced.in_one_block("reduce"))
    scores = np.asarray(reduced)
    return dict(zip(model.get_feature_names_out().tolist(), scores.T))
