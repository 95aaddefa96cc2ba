"""The clusters of a table: how many there are, what each is like, and a page that shows it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline

from lyceum import plot
from lyceum._core.base import pipeline_steps
from lyceum._core.data import FileFormat, Kind, Rows, scan
from lyceum._core.files import write_file
from lyceum._core.packages import EXTRAS, check_installed
from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum._core.types import Data, Estimator
from lyceum.catalog import find
from lyceum.cluster import KChoice, Silhouette, choose_k, silhouette
from lyceum.errors import SettingError
from lyceum.prepare import StandardScaler, TextVectorizer
from lyceum.report import Summary, Table
from lyceum.studies.report.page import templates
from lyceum.studies.report.parts import TableCells
from lyceum.studies.report.svg import figure_of
from lyceum.workflows import uninformative_columns

_SILHOUETTE_ROWS = 10_000
_FEW_ROWS = 20  # below which different texts may be categories
_WORDS = 5_000  # that are counted of every column
_LISTED_WORDS = 8  # that are named of every cluster


@dataclass(frozen=True, eq=False)
class TableClusters(Shown):
    """The clusters of a table.

    Attributes
    ----------
    source : str
        Where the rows came from.
    model : learner or pipeline
        The fitted model.
    labels : array of int
        The cluster of every row, -1 for noise.
    silhouette : Silhouette or None
        Of at most 10,000 rows; None for fewer than two clusters.
    choice : KChoice or None
        How the number of clusters was chosen, if it was not given.
    profile : Table
        What every cluster is like: means of numbers, the commonest category.
    left_out : dict of str to str
        Columns without information (identifiers, constants, empty ones, free text), and why.

    See Also
    --------
    cluster_table : Finds them.
    lyceum.cluster.KMeans, lyceum.cluster.KMedoids : The learners that are used by default.

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum.studies import cluster_table
    >>> towns = ["Ulm"] * 3 + ["Bonn"] * 3
    >>> table = pd.DataFrame({"age": [21.0, 22, 23, 61, 62, 63], "town": towns})
    >>> print(cluster_table(table, clusters=2).profile)
    What every cluster is like
    column  cluster 0   cluster 1
    ──────  ──────────  ───────────
    age     22          62
    town    Ulm (100%)  Bonn (100%)
    """

    source: str
    model: Any
    labels: np.ndarray
    silhouette: Silhouette | None
    choice: KChoice | None
    profile: Table
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def _learner(self) -> Any:
        return pipeline_steps(self.model)[-1]

    def summary(self) -> Summary:
        """Sizes, silhouettes and the profile."""
        names, counts = np.unique(self.labels, return_counts=True)
        n_rows = len(self.labels)
        facts: dict[str, Any] = {
            "rows": n_rows,
            "learner": type(self._learner).__name__,
            "clusters": int((names >= 0).sum()),
        }
        means = {}
        silhouette = self.silhouette
        if silhouette is not None:
            means = dict(zip(silhouette.clusters, silhouette.cluster_means))
            facts["mean silhouette"] = silhouette.mean
        rows = []
        for c, n in zip(names, counts):
            mean = means.get(c, float("nan"))
            rows.append((_cluster_name(c), int(n), n / n_rows, mean))
        choice = self.choice
        if choice is not None:
            # a bend takes three numbers of clusters
            elbow = choice.elbow if len(choice.clusters) > 2 else "none"
            facts["number of clusters"] = (
                f"{elbow} by elbow, {choice.by_silhouette} by silhouette, {choice.by_bic} by BIC"
            )
        if self.left_out:
            reasons = (f"{name} ({why})" for name, why in self.left_out.items())
            facts["left out"] = ", ".join(reasons)
        sizes = Table("Clusters", ("cluster", "rows", "share", "silhouette"), rows)
        return Summary(f"Clusters of {self.source}", facts, [sizes, self.profile])

    def as_dict(self) -> dict[str, Any]:
        """The summary, and the choice of the number, in JSON's own types."""
        return {**self.summary().as_dict(), "choice": plain(self.choice)}

    def write_report(self, path: str | os.PathLike[str]) -> Path:
        """Write one HTML page that needs nothing else."""
        check_installed("the report of clusters", *EXTRAS["report"])
        path = Path(path)
        figures = []
        if self.choice is not None:
            figures.append(_choice_figure(self.choice))
        if self.silhouette is not None:
            text = (
                "How much nearer a row is to its own cluster than to the next; below 0 it is"
                " farther."
            )
            draw = partial(plot.silhouette, self.silhouette)
            figures.append(figure_of("silhouette", "Silhouettes", text, draw))
        linkage = getattr(self._learner, "linkage_", None)
        if linkage is not None and len(linkage) > 1:
            text = "The tree of merges; a triangle is a branch, with the number of its rows."
            draw = partial(plot.dendrogram, linkage)
            figures.append(
                figure_of("dendrogram", "Dendrogram", text, draw, (8.0, 4.2))
            )
        summary = self.summary()
        page = (
            templates()
            .get_template("clusters.html")
            .render(
                title=summary.title,
                facts=dict(summary.facts),
                tables=[TableCells.of(table) for table in summary.tables],
                figures=figures,
            )
        )
        write_file(path, page.encode())
        return path

    def write_labels(self, path: str | os.PathLike[str]) -> Path:
        """Write the cluster of every row, in the order of the table, as CSV."""
        path = Path(path)
        lines = "\n".join(map(str, self.labels.tolist()))
        write_file(path, f"cluster\n{lines}\n".encode())
        return path


def cluster_table(
    data: Data,
    *,
    learner: str | None = None,
    clusters: int | None = None,
    settings: Mapping[str, Any] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    ignore: Collection[str] = (),
    file_format: FileFormat | None = None,
    seed: int = 0,
) -> TableClusters:
    """Find the clusters of a table, and say what each is like.

    Numbers are standardized first where the metric does not do so itself. Identifiers, constants,
    empty columns and free text are left out, unless their kind is declared; texts alone are
    clustered by their words (TF-IDF weights, cosine).

    Parameters
    ----------
    data : path, frame or anything that `lyceum.scan` takes
    learner : str, optional
        A clustering learner of the catalog. By default KMeans, or KMedoids where columns hold
        categories or cells are missing.
    clusters : int, optional
        The number of clusters; by default the one of the largest mean silhouette from 2 to 10.
    settings : mapping, optional
        Further parameters of the learner.
    kinds : mapping, optional
        The kinds of some columns, where what is inferred is not wanted.
    ignore : collection of str, default=()
        Columns to leave out.
    file_format : FileFormat, optional
        How the file is written; by default that is found out.
    seed : int, default=0
        What chance is drawn from.

    Returns
    -------
    TableClusters

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum.studies import cluster_table
    >>> towns = ["Ulm"] * 3 + ["Bonn"] * 3
    >>> table = pd.DataFrame({"age": [21.0, 22, 23, 61, 62, 63], "town": towns})
    >>> cluster_table(table, clusters=2).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    left_out = uninformative_columns(
        data, keep=ignore, kinds=kinds, file_format=file_format
    )
    rows, words = _read(data, kinds, (*ignore, *left_out), file_format or FileFormat())
    settings = dict(settings or {})
    if words is not None and learner is None:
        learner = "KMeans"
        settings = {"metric": "cosine", **settings}
    estimator = _build_learner(rows, learner, settings, seed)
    before, X = _prepare(rows, estimator, words)
    model, choice = _fit_clusters(estimator, X, len(rows), clusters, settings, seed)
    labels = getattr(model, "labels_", None)
    if labels is None:
        labels = model.predict(X)
    labels = np.asarray(labels)
    source = type(data).__name__
    if isinstance(data, str | os.PathLike):
        source = Path(data).name
    pipeline = model
    if before is not None:
        pipeline = make_pipeline(before, model)
    measured = _silhouette(model, X, labels, seed)
    if words is None:
        profile = _profile(rows, labels)
    else:
        profile = _word_profile(words, X, labels)
    return TableClusters(source, pipeline, labels, measured, choice, profile, left_out)


def _read(
    data: Data,
    kinds: Mapping[str, Kind] | None,
    ignore: Collection[str],
    file_format: FileFormat,
) -> tuple[Rows, TextVectorizer | None]:
    """The rows of the table, and their words where every column is free text."""
    options = file_format.options()
    rows = scan(data, kinds=kinds, ignore=ignore, **options)
    # columns with another text in most rows: only their words say which rows are alike
    are_free_texts = all(
        column.categories is not None and 2 * len(column.categories) > len(rows)
        for column in rows.schema
    )
    if kinds or len(rows) < _FEW_ROWS or not are_free_texts:
        return rows, None
    texts: Any = dict.fromkeys(rows.schema.names, "text")
    rows = scan(data, kinds=texts, ignore=ignore, **options)
    return rows, TextVectorizer(max_features=_WORDS, sparse_output=True).fit(rows)


def _prepare(
    rows: Rows, learner: Estimator, words: TextVectorizer | None
) -> tuple[Any, Any]:
    """The step before the learner, None where it needs none, and the rows after this step."""
    if words is not None:
        blocks = words.transform(rows).blocks()
        return words, sparse.vstack([block.X for block in blocks], format="csr")
    metric = getattr(learner, "metric", None)  # a name, or a function
    by_gower = isinstance(metric, str) and metric == "gower"
    by_kind = isinstance(metric, str) and metric == "auto"
    # Gower's distance takes mixed columns and missing cells as they are
    if by_gower or (by_kind and _is_mixed(rows)):
        return None, rows
    scaler = StandardScaler().fit(rows)
    return scaler, scaler.transform(rows)


def _fit_clusters(
    learner: Estimator,
    X: Data,
    n_rows: int,
    clusters: int | None,
    settings: Mapping[str, Any],
    seed: int,
) -> tuple[Any, Any]:
    """The fitted learner, and how the number of clusters was chosen where none is given."""
    params = learner.get_params()
    name = "n_clusters" if "n_clusters" in params else "n_components"
    if clusters is not None and name in params:
        learner.set_params(**{name: clusters})
    elif name in params and name not in settings:
        most = min(10, max(2, n_rows - 1))
        choice = choose_k(X, range(2, most + 1), learner=learner, random_state=seed)
        return choice.model, choice
    return learner.fit(X), None


def _build_learner(
    rows: Rows, learner: str | None, settings: dict[str, Any], seed: int
) -> Any:
    if learner is None:
        learner = "KMedoids" if _is_mixed(rows) else "KMeans"
    entry = find(learner)
    has_task = entry.task in ("clustering", "density")
    if not has_task or entry.package not in ("lyceum.cluster", "lyceum.mixtures"):
        raise SettingError(
            f"{learner} finds no clusters: choose e.g. KMeans, KMedoids, AgglomerativeClustering"
        )
    estimator = entry.load()()
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=seed)
    if odd := sorted(set(settings) - set(estimator.get_params())):
        names = ", ".join(sorted(estimator.get_params(deep=False)))
        raise SettingError(f"{learner} has no setting {odd[0]!r}: it has {names}")
    return estimator.set_params(**settings)


def _is_mixed(rows: Rows) -> bool:
    """Whether columns hold categories, or cells are missing."""
    if any(column.is_categorical for column in rows.schema):
        return True
    return any(
        bool(np.isnan(np.asarray(block.X, dtype=np.float64)).any())
        for block in rows.blocks()
    )


def _silhouette(
    model: Estimator, rows: Any, labels: np.ndarray, seed: int
) -> Silhouette | None:
    if len(np.unique(labels[labels >= 0])) < 2:
        return None
    X = model.rows_to_predict(rows).in_one_block("a silhouette").X
    # its cost grows with the square of the rows
    n = len(labels)
    if n > _SILHOUETTE_ROWS:
        rng = np.random.default_rng(seed)
        sample = np.sort(rng.choice(n, _SILHOUETTE_ROWS, replace=False))
        X = X[sample]
        labels = labels[sample]
        if len(np.unique(labels[labels >= 0])) < 2:
            return None
    return silhouette(X, labels, metric=getattr(model, "metric_", "euclidean"))


def _profile(rows: Rows, labels: np.ndarray) -> Table:
    """For every column its mean, or its commonest category and its share, in every cluster."""
    blocks = [np.asarray(block.X, dtype=np.float64) for block in rows.blocks()]
    X = np.concatenate(blocks)
    clusters = np.unique(labels)
    lines = []
    for j, column in enumerate(rows.schema):
        cells = [column.name]
        for c in clusters:
            values = X[labels == c, j]
            values = values[~np.isnan(values)]
            cells.append(_typical_value(values, column))
        lines.append(cells)
    heads = ["noise" if c < 0 else f"cluster {c}" for c in clusters]
    return Table("What every cluster is like", ("column", *heads), lines)


def _word_profile(words: TextVectorizer, X: Any, labels: np.ndarray) -> Table:
    """The words that weigh most in the texts of a cluster, compared with all texts."""
    names = np.asarray(words.get_feature_names_out(), dtype=str)
    if len(words.schema_) == 1:
        prefix = f"{words.schema_.names[0]}: "
        names = np.array([name.removeprefix(prefix) for name in names])
    # mean TF-IDF weights of all texts, and of those of a cluster
    usual = np.asarray(X.mean(axis=0)).ravel()
    lines = []
    for c in np.unique(labels):
        more = np.asarray(X[labels == c].mean(axis=0)).ravel() - usual
        heaviest = np.argsort(-more, kind="stable")[:_LISTED_WORDS]
        heavier = heaviest[more[heaviest] > 0]
        lines.append((_cluster_name(c), ", ".join(names[heavier])))
    heads = ("cluster", "words heavier than elsewhere")
    return Table("What every cluster is like", heads, lines)


def _cluster_name(c: int) -> str | int:
    return "noise" if c < 0 else int(c)


def _typical_value(values: np.ndarray, column: Any) -> Any:
    if not len(values):
        return "missing"
    if not column.is_categorical:
        return float(values.mean())
    codes, counts = np.unique(values, return_counts=True)
    best = int(counts.argmax())
    name = codes[best]
    if not column.numeric:
        name = column.categories[int(name)]
    return f"{name} ({counts[best] / len(values):.0%})"


def _choice_figure(choice: KChoice) -> Any:
    blue, orange = plot.style.COLORS[:2]

    def draw(ax: Any) -> None:
        points = {"color": blue, "marker": "o", "markersize": 4}
        ax.plot(choice.clusters, choice.silhouettes, **points)
        ax.axvline(choice.k, color=orange, linewidth=0.8, linestyle=(0, (4, 3)))
        plot.style.finish(ax, "clusters", "mean silhouette", None)

    text = f"The larger, the better apart are clusters: {choice.k} are taken."
    return figure_of("number", "How many clusters?", text, draw)
