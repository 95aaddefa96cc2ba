"""The number of clusters: by elbow, silhouette and BIC, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from lyceum._core.data import dense_cells
from lyceum._core.text import plain, show_count
from lyceum._core.types import Data, Estimator
from lyceum.cluster.kmeans.kmeans import KMeans
from lyceum.cluster.validity.internal import silhouette, sums_of_squares
from lyceum.errors import DataError, SettingError
from lyceum.progress import report
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True)
class KChoice:
    """Measures of several numbers of clusters, and the number that each criterion chooses.

    Attributes
    ----------
    clusters : array of int
        The numbers tried.
    sse : array
        The sum of squares within clusters (the loss, for medoids).
    second_differences : array
        sse(k-1) - 2 sse(k) + sse(k+1), how sharp the bend is at k; NaN at both ends.
    silhouettes : array
        The mean silhouette, NaN for one cluster.
    bic : array
        The Bayesian information criterion; lower is better.
    models : list
        The fitted models.
    criterion : str
        What `k` is chosen by.
    elbow, by_silhouette, by_bic : int
        The number with the sharpest bend of the SSE, the largest mean silhouette, and the least
        BIC.
    k : int
        The number chosen by `criterion`.
    model : learner
        The fitted model with that number.

    See Also
    --------
    choose_k : Makes it.
    lyceum.plot.elbow : The picture.
    Silhouette : Of one clustering.

    References
    ----------
    D. Pelleg and A. W. Moore, "X-means: extending k-means with efficient estimation of the number
    of clusters", International Conference on Machine Learning, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.cluster import choose_k
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    >>> choice = choose_k(X, range(1, 5))
    >>> choice.k, choice.elbow, choice.sse[:3].round(6).tolist()
    (3, 2, [401.5, 101.5, 1.5])
    >>> choice.model.n_clusters
    3
    """

    clusters: np.ndarray
    sse: np.ndarray
    second_differences: np.ndarray
    silhouettes: np.ndarray
    bic: np.ndarray
    models: list[Any]
    criterion: str

    @property
    def elbow(self) -> int:
        """The number with the sharpest bend of the SSE; the first where there are too few to
        tell."""
        if not np.isfinite(self.second_differences).any():
            return int(self.clusters[0])
        return int(self.clusters[np.nanargmax(self.second_differences)])

    @property
    def by_silhouette(self) -> int:
        """The number with the largest mean silhouette; the first where there are none."""
        if not np.isfinite(self.silhouettes).any():
            return int(self.clusters[0])
        return int(self.clusters[np.nanargmax(self.silhouettes)])

    @property
    def by_bic(self) -> int:
        """The number with the least BIC."""
        return int(self.clusters[np.nanargmin(self.bic)])

    @property
    def k(self) -> int:
        """The number chosen by the criterion."""
        if self.criterion == "bic":
            return self.by_bic
        if self.criterion == "elbow":
            return self.elbow
        return self.by_silhouette

    @property
    def model(self) -> Any:
        """The fitted model with the number chosen."""
        index = int(np.flatnonzero(self.clusters == self.k)[0])
        return self.models[index]

    def as_dict(self) -> dict[str, Any]:
        """The numbers tried with their measures, and the choices."""
        return {
            "k": self.k,
            "elbow": self.elbow,
            "silhouette": self.by_silhouette,
            "bic": self.by_bic,
            "clusters": self.clusters.tolist(),
            "sse": self.sse.tolist(),
            "silhouettes": plain(self.silhouettes),
            "bics": plain(self.bic),
        }

    def summary(self) -> Summary:
        """The choices and the measures."""
        facts = {
            "elbow": self.elbow,
            "silhouette": self.by_silhouette,
            "BIC": self.by_bic,
        }
        columns = (
            self.clusters,
            self.sse,
            self.second_differences,
            self.silhouettes,
            self.bic,
        )
        rows = list(zip(*columns))
        head = ("clusters", "SSE", "second difference", "silhouette", "BIC")
        return Summary("The number of clusters", facts, [Table("Measures", head, rows)])

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def choose_k(
    X: Data,
    clusters: Sequence[int] = range(1, 11),
    *,
    learner: Any = None,
    criterion: Literal["elbow", "silhouette", "bic"] = "silhouette",
    silhouette_rows: int = 10_000,
    random_state: int | None = 0,
) -> KChoice:
    """Fit a learner for several numbers of clusters, and measure each.

    Parameters
    ----------
    X : array, frame or `scan(...)` of shape (n, d)
    clusters : sequence of int, default=range(1, 11)
        The numbers to try, each one above the one before.
    learner : clustering learner with `n_clusters`, or mixture with `n_components`, optional
        `KMeans(n_init=4)` by default.
    criterion : {"elbow", "silhouette", "bic"}, default="silhouette"
        What `k` and `model` of the result are chosen by; all three are there.
    silhouette_rows : int, default=10_000
        Silhouettes of more rows are taken over a random sample of this size.
    random_state : int or None, default=0
        The seed of the sample, and of the learner by default.

    Returns
    -------
    KChoice

    Notes
    -----
    The BIC of a learner without `bic(X)` is that of spherical Gaussians with one variance σ² = SSE
    / (n d) and hard assignments: -2 [Σ_k n_k log(n_k / n) - n d / 2 (log(2πσ²) + 1)] + (k d + k)
    log n.

    See Also
    --------
    lyceum.plot.elbow : the picture.
    silhouette : of one clustering.

    References
    ----------
    Pelleg, D. and Moore, A. W. (2000). X-means: extending k-means with efficient estimation of the
    number of clusters. ICML.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from lyceum.cluster import choose_k
    >>> X, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> choice = choose_k(X, range(1, 7))
    >>> choice.elbow, choice.by_silhouette, choice.by_bic
    (3, 3, 3)
    """
    numbers = _check_numbers(clusters, criterion)
    if learner is None:
        learner = KMeans(n_init=4, random_state=random_state)
    has_clusters = "n_clusters" in learner.get_params()
    if has_clusters:
        name = "n_clusters"
    else:
        name = "n_components"
    models: list[Any] = []
    measures = []
    n_rows = 0  # not known before the first fit
    for step, k in enumerate(numbers):
        report("numbers of clusters", step, len(numbers))
        if 0 < n_rows < k:
            raise DataError(
                f"clusters goes up to {numbers[-1]}, but there are {show_count(n_rows, 'row')}:"
                f" give clusters=range(1, {n_rows + 1})"
            )
        model = clone(learner).set_params(**{name: int(k)}).fit(X)
        models.append(model)
        n_rows = len(getattr(models[0], "labels_", ()))
        measures.append(_measure(model, X, silhouette_rows, random_state))
    sse, silhouettes, bic = np.array(measures).T
    bends = np.full(len(numbers), np.nan)
    if len(numbers) > 2:
        # how much slower the SSE falls after every inner number than before it, per cluster
        slopes = np.diff(sse) / np.diff(numbers)
        bends[1:-1] = np.diff(slopes)
    return KChoice(numbers, sse, bends, silhouettes, bic, models, criterion)


def _check_numbers(clusters: Any, criterion: str) -> np.ndarray:
    """The numbers of clusters to try, ascending, and enough of them for the criterion."""
    numbers = np.asarray(list(clusters))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise SettingError(
            "clusters must be whole numbers to try, e.g. range(1, 11), but it has shape"
            f" {numbers.shape} and type {numbers.dtype}: call choose_k(X, clusters, learner=...)"
        )
    ascends = (np.diff(numbers) > 0).all()
    if len(numbers) < 1 or not ascends or numbers[0] < 1:
        raise SettingError(
            f"clusters must be ascending numbers of at least 1, not {numbers.tolist()}"
        )
    if criterion not in ("elbow", "silhouette", "bic"):
        raise SettingError(
            f"criterion must be 'elbow', 'silhouette' or 'bic', not {criterion!r}"
        )
    if criterion == "elbow" and len(numbers) < 3:
        raise SettingError("an elbow needs at least three numbers of clusters")
    return numbers


def _measure(
    model: Estimator, X: Data, most: int, seed: int | None
) -> tuple[float, float, float]:
    """SSE, mean silhouette and BIC of one model."""
    block = model.rows_to_predict(X).in_one_block(
        "choose_k", "KMeans with a number of your own"
    )
    rows = block.X
    labels = getattr(model, "labels_", None)
    labels = np.asarray(model.predict(X) if labels is None else labels)
    cells = dense_cells(rows)
    inertia = getattr(model, "inertia_", None)
    if inertia is None:
        sse = sums_of_squares(cells, labels).within
    else:
        sse = float(inertia)
    # silhouettes compare all pairs: of many rows a sample, the same for every number of clusters
    sample = np.arange(len(labels))
    if len(labels) > most:
        rng = np.random.default_rng(seed)
        sample = np.sort(rng.choice(len(labels), most, replace=False))
    sample_labels = labels[sample]
    mean = np.nan
    if len(np.unique(sample_labels[sample_labels >= 0])) > 1:
        metric = getattr(model, "metric_", "euclidean")
        mean = silhouette(rows[sample], sample_labels, metric=metric).mean
    if hasattr(model, "bic"):
        bic = float(model.bic(X))
    else:
        bic = _spherical_bic(labels, sse, cells)
    return sse, mean, bic


def _spherical_bic(
    labels: np.ndarray,
    sse: float,
    cells: np.ndarray,
) -> float:
    """BIC of k spherical normal distributions with one variance σ² = SSE / (n d), every row drawn
    from its own cluster: ln L = Σ_c n_c ln(n_c / n) - n d / 2 (ln 2πσ² + 1), with k d means, k - 1
    shares and σ² free."""
    counts = np.unique(labels[labels >= 0], return_counts=True)[1]
    n = counts.sum()
    k = len(counts)
    d = cells.shape[1]
    # below this, the squared distance of equal rows from their center is rounding
    largest = np.abs(cells).max(initial=0.0)
    rounding = (np.finfo(cells.dtype).eps * largest) ** 2
    variance = max(sse / (n * d), rounding, 1e-300)
    spread = n * d / 2 * (np.log(2 * np.pi * variance) + 1)
    log_likelihood = counts @ np.log(counts / n) - spread
    return float(-2 * log_likelihood + (k * d + k) * np.log(n))
