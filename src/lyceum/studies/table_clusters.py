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
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from lyceum import plot
from lyceum._core.base import pipeline_steps
from lyceum._core.data import (
    ArraySource,
    Block,
    Column,
    FileFormat,
    Kind,
    LoadedTable,
    Rows,
    read_data,
    scan,
)
from lyceum._core.distances import pairwise
from lyceum._core.files import replace_file, write_file
from lyceum._core.lazy_arrow import csv, pa, pq
from lyceum._core.packages import EXTRAS, check_installed
from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum._core.types import Data, Estimator
from lyceum.catalog import find
from lyceum.cluster import KChoice, Silhouette, choose_k, silhouette
from lyceum.decomposition import ClassicalMDS
from lyceum.errors import SettingError
from lyceum.prepare import StandardScaler, TextVectorizer
from lyceum.report import Summary, Table
from lyceum.studies.cluster_figures import choice_figure, plane_figure
from lyceum.studies.cluster_statements import ClusterFacts, cluster_statements
from lyceum.studies.report.page import templates
from lyceum.studies.report.parts import TableCells
from lyceum.studies.report.svg import figure_of
from lyceum.workflows import uninformative_columns

_SILHOUETTE_ROWS = 10_000
_FEW_ROWS = 20  # below which different texts may be categories
_WORDS = 5_000  # that are counted of every column
_LISTED_WORDS = 8  # that are named of every cluster
_PLANE_ROWS = 400  # points of the picture
_SHUFFLED_ROWS = 1_000
_SHUFFLES = 3
_MEMBER_COLUMNS = 10  # of the members that the report lists
_NEAREST = 5
_FARTHEST = 3


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
    statements : tuple of str
        What the clusters are like, in sentences.
    members : pyarrow.Table
        Every row with its number as in a spreadsheet, its cluster, its silhouette, and all columns
        of the table, those left out too.
    plane : array of shape (m, 3)
        For a picture: the index of a row, and two coordinates whose distances are near those of the
        rows; of at most 400 rows.
    plane_share : float
        The share of the squared distances that this plane holds.

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
    statements: tuple[str, ...] = ()
    members: Any = None
    plane: np.ndarray | None = None
    plane_share: float = 0.0

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
        """The summary, the sentences, and the choice of the number, in JSON's own types."""
        more = {"statements": list(self.statements), "choice": plain(self.choice)}
        return {**self.summary().as_dict(), **more}

    def write_report(self, path: str | os.PathLike[str]) -> Path:
        """Write one HTML page that needs nothing else."""
        check_installed("the report of clusters", *EXTRAS["report"])
        path = Path(path)
        figures = []
        if self.plane is not None:
            figures.append(plane_figure(self.plane, self.labels, self.plane_share))
        if self.choice is not None:
            figures.append(choice_figure(self.choice))
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
                statements=self.statements,
                tables=[TableCells.of(table) for table in summary.tables],
                members=[TableCells.of(table) for table in self._typical_members()],
                figures=figures,
            )
        )
        write_file(path, page.encode())
        return path

    def _typical_members(self) -> list[Table]:
        """The rows of every cluster that are nearest to it, and those that are least so."""
        if self.members is None:
            return []
        points = self.members.column("silhouette").to_numpy()
        order = np.argsort(-np.nan_to_num(points, nan=-2.0), kind="stable")
        # what rows are recognized by comes first
        names = ["row", "silhouette", *self.left_out]
        names += [n for n in self.members.column_names if n not in (*names, "cluster")]
        names = [n for n in names if n in self.members.column_names][:_MEMBER_COLUMNS]
        tables = []
        for c in np.unique(self.labels).tolist():
            rows = order[self.labels[order] == c]
            if len(rows) > _NEAREST + _FARTHEST:
                rows = np.concatenate([rows[:_NEAREST], rows[-_FARTHEST:]])
            lines = self.members.select(names).take(rows).to_pylist()
            # numbers as they were written: years and codes have no thousands
            cells = [[_as_written(v) for v in line.values()] for line in lines]
            head = "Noise" if c < 0 else f"Cluster {c}"
            tables.append(Table(f"{head}: the nearest and the farthest", names, cells))
        return tables

    def write_labels(self, path: str | os.PathLike[str]) -> Path:
        """Write every row with its number, cluster, silhouette and columns, as CSV, or as Parquet
        by the ending."""
        path = Path(path)
        write = pq.write_table if path.suffix.lower() == ".parquet" else csv.write_csv
        with replace_file(path) as file:
            write(self.members, file)
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
    source = type(data).__name__
    if isinstance(data, str | os.PathLike):
        source = Path(data).name
    if not isinstance(data, Rows | LoadedTable):
        # read once, for the columns, the rows and the list of members
        data = read_data(data, file_format)
    left_out = uninformative_columns(data, keep=ignore, kinds=kinds)
    rows, words = _read(data, kinds, (*ignore, *left_out))
    settings = dict(settings or {})
    if words is not None and learner is None:
        learner = "KMeans"
        settings = {"metric": "cosine", **settings}
    estimator = _build_learner(rows, learner, settings, seed)
    before, X = _prepare(rows, estimator, words)
    model, choice = _fit_clusters(estimator, X, len(rows), clusters, settings, seed)
    measures = _Measures.of(model, X, seed)
    plane, share = measures.plane()
    labels = measures.labels
    facts = measures.facts(None if words else rows, choice, left_out, seed)
    if facts.cells is not None:
        profile = _profile(facts.cells, rows, labels)
    else:
        assert words is not None
        profile = _word_profile(words, X, labels)
    return TableClusters(
        source,
        model if before is None else make_pipeline(before, model),
        labels,
        measures.silhouette,
        choice,
        profile,
        left_out,
        cluster_statements(facts),
        _member_table(data, labels, measures.points),
        plane,
        share,
    )


def _as_written(value: Any) -> Any:
    if value is None:
        return "missing"
    return value if isinstance(value, float) else str(value)


def _member_table(data: Any, labels: np.ndarray, points: np.ndarray) -> Any:
    """Every row with its number, its cluster, its silhouette and its own columns."""
    table = getattr(data, "table", None)
    first_row = getattr(data, "first_row", 2)
    columns: dict[str, Any] = {
        "row": np.arange(first_row, first_row + len(labels)),
        "cluster": labels,
        "silhouette": pa.array(points.round(4), from_pandas=True),
    }
    if table is not None:
        for name in table.column_names:
            new = f"{name} (in the data)" if name in columns else name
            columns[new] = table.column(name)
    return pa.table(columns)


def _read(
    data: Data,
    kinds: Mapping[str, Kind] | None,
    ignore: Collection[str],
) -> tuple[Rows, TextVectorizer | None]:
    """The rows of the table, and their words where every column is free text."""
    rows = scan(data, kinds=kinds, ignore=ignore)
    # columns with another text in most rows: only their words say which rows are alike
    are_free_texts = all(
        column.categories is not None and 2 * len(column.categories) > len(rows)
        for column in rows.schema
    )
    if kinds or len(rows) < _FEW_ROWS or not are_free_texts:
        return rows, None
    texts: Any = dict.fromkeys(rows.schema.names, "text")
    rows = scan(data, kinds=texts, ignore=ignore)
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


@dataclass(frozen=True, eq=False)
class _Measures:
    """Silhouettes and distances of clustered rows."""

    model: Any
    block: Any
    labels: np.ndarray
    silhouette: Silhouette | None
    points: np.ndarray  # the silhouette of every row, NaN where it was not computed

    @classmethod
    def of(cls, model: Estimator, X: Data, seed: int) -> _Measures:
        labels = getattr(model, "labels_", None)
        if labels is None:
            labels = model.predict(X)
        labels = np.asarray(labels)
        block = model.rows_to_predict(X).in_one_block("a silhouette")
        n = len(labels)
        points = np.full(n, np.nan)
        sample = np.arange(n)
        if n > _SILHOUETTE_ROWS:  # its cost grows with the square of the rows
            rng = np.random.default_rng(seed)
            sample = np.sort(rng.choice(n, _SILHOUETTE_ROWS, replace=False))
        measured = None
        if len(np.unique(labels[sample][labels[sample] >= 0])) > 1:
            metric = getattr(model, "metric_", "euclidean")
            measured = silhouette(block.X[sample], labels[sample], metric=metric)
            points[sample] = measured.points
        return cls(model, block, labels, measured, points)

    def _sample(self, n: int) -> np.ndarray:
        """Rows at equal steps, at most n."""
        m = len(self.labels)
        return np.unique(np.linspace(0, m - 1, min(n, m)).round().astype(np.intp))

    def facts(
        self,
        rows: Rows | None,
        choice: KChoice | None,
        left_out: Mapping[str, str],
        seed: int,
    ) -> ClusterFacts:
        """What sentences are made of; `rows` are None where they are texts."""
        cells = None
        columns: tuple[Column, ...] = ()
        shuffled = None
        if rows is not None:
            columns = tuple(rows.schema)
            cells = np.concatenate([np.asarray(b.X, float) for b in rows.blocks()])
            # indicators of categories cannot be shuffled one by one
            if self.block.X.shape[1] == cells.shape[1]:
                shuffled = self.of_shuffled_columns(seed)
        return ClusterFacts(
            self.labels, self.points, cells, columns, choice, shuffled, left_out
        )

    def of_shuffled_columns(self, seed: int) -> float | None:
        """The mean silhouette of clusters of the same table with every column shuffled by itself;
        the largest of three trials."""
        if self.silhouette is None:
            return None
        rng = np.random.default_rng(seed)
        X = np.asarray(self.block.dense, dtype=np.float64)[self._sample(_SHUFFLED_ROWS)]
        means = []
        for _ in range(_SHUFFLES):
            shuffled = rng.permuted(X, axis=0)
            block = Block(shuffled, None, None, 0, self.block.schema)
            model = clone(self.model).fit(Rows(ArraySource.of_block(block)))
            labels = np.asarray(model.labels_)
            if len(np.unique(labels[labels >= 0])) > 1:
                metric = getattr(model, "metric_", "euclidean")
                means.append(silhouette(shuffled, labels, metric=metric).mean)
        return max(means, default=None)

    def plane(self) -> tuple[np.ndarray | None, float]:
        """Rows and their coordinates in the plane, and the share of squared distances it holds."""
        sample = self._sample(_PLANE_ROWS)
        metric = getattr(self.model, "metric_", "euclidean")
        distances = pairwise(self.block.X[sample], metric=metric)
        if not distances.any():
            return None, 0.0
        scaling = ClassicalMDS(2, metric="precomputed").fit(distances)
        return np.column_stack([sample, scaling.embedding_]), float(scaling.kept_ratio_)


def _profile(X: np.ndarray, rows: Rows, labels: np.ndarray) -> Table:
    """For every column its mean, or its commonest category and its share, in every cluster."""
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
