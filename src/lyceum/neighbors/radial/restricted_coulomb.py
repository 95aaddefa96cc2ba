"""Restricted Coulomb energy network: spheres of one class each, added where they are needed."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.base import CATEGORICAL_FEATURES, Learner, PosteriorClassifier
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import ArraySource, Block, Rows, Schema, design_change
from lyceum._core.distances import check_class_codes, nearest, pairwise
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.neighbors.stored_rows import check_not_empty, moments_of, number_scales
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table

_INSIDE = 1 - 1e-9  # a radius ends just before the row that limits it


class RestrictedCoulombClassifier(PosteriorClassifier, Learner):
    """Restricted Coulomb energy network: a class is where the spheres about some of its rows are.

    The first row that no sphere of its class covers becomes the center of one; its radius is the
    distance to the nearest row of another class, but at most `max_radius`. So it goes on until all
    rows are covered. A query is *identified* if all spheres that cover it are of one class,
    *ambiguous* if they are of several, *unknown* if there are none (see `region`). Spheres that
    cover it vote by the weight of the rows that they were the first to cover; where there are none,
    the sphere whose surface is nearest decides. The result depends on the order of the rows.

    Parameters
    ----------
    max_radius : float or None, default=None
        The largest radius, in scaled units; None sets no limit.
    min_radius : float, default=0.0
        The smallest radius, in scaled units; spheres of different classes may then overlap rows.
    standardize : bool or "range", default=True
        Whether columns of numbers are divided by their standard deviation, or range, first;
        learned in the first `fit` or `partial_fit`.

    Attributes
    ----------
    centers_ : array of shape (m, d)
        The centers of the spheres, which are rows.
    radii_ : array of shape (m,)
        Their radii, in scaled units.
    center_class_ : array of int of shape (m,)
        Their classes, as numbers of `classes_`.
    counts_ : array of shape (m,)
        The weight of the rows of its class that every sphere was the first to cover.
    mean_, scale_ : arrays of shape (d,)
        What is subtracted from every column, and what it is divided by.

    See Also
    --------
    RBFNetworkClassifier : a fixed number of soft units.
    KNeighborsClassifier : with `stored="condensed"`, another way to keep few rows.

    References
    ----------
    Reilly, D. L., Cooper, L. N. and Elbaum, C. (1982). A neural model for category learning.
    Biological Cybernetics 45(1). Duda, R. O., Hart, P. E. and Stork, D. G. (2001). Pattern
    Classification, section 4.8.

    Examples
    --------
    >>> from lyceum.neighbors import RestrictedCoulombClassifier
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]
    >>> model = RestrictedCoulombClassifier(standardize=False, max_radius=2.0).fit(X, y)
    >>> model.centers_.ravel().tolist(), model.radii_.round(6).tolist()
    ([0.0, 4.0], [2.0, 2.0])
    >>> model.region([[1.5], [2.5], [9.0]]).tolist()
    ['identified', 'identified', 'unknown']
    """

    _reads_rows = "in memory"
    _coding = "every_category"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_radius": [Interval(Real, 0, None, closed="neither"), None],
        "min_radius": [Interval(Real, 0, None, closed="left")],
        "standardize": ["boolean", StrOptions({"range"})],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    centers_: np.ndarray
    radii_: np.ndarray
    center_class_: np.ndarray

    def __init__(
        self,
        *,
        max_radius: float | None = None,
        min_radius: float = 0.0,
        standardize: bool | str = True,
        categorical_features: Categories = "from_dtype",
    ):
        self.max_radius = max_radius
        self.min_radius = min_radius
        self.standardize = standardize
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Cover the rows with spheres.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        block = self._gather(self._rows(X, y, sample_weight))
        self._start(block)
        self._grow(block)
        return self

    def partial_fit(
        self,
        X: Data,
        y: Target = None,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ):
        """Grow by more rows: spheres of other classes shrink until they no longer cover them, and
        new ones cover those that are not covered yet.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        classes : array of shape (K,), optional
            Classes that will come, so that they are in `classes_` at once.
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        known = getattr(self, "schema_", None)
        old_classes = getattr(self, "classes_", None)
        block = self._gather(self._more_rows(X, y, sample_weight, classes))
        if known is None or old_classes is None:
            self._start(block)
        else:
            self._recode(known, old_classes)
        self._grow(block)
        return self

    def _gather(self, rows: Rows) -> Block:
        block = rows.in_one_block(type(self).__name__, "NearestCentroid")
        block = block.without_zero_weights()
        check_not_empty(self, block)
        return block

    def _start(self, block: Block) -> None:
        """Learn the units of the columns; there is no sphere yet."""
        source = ArraySource(block.X, block.y, block.w, block.schema, coded=True)
        moments = moments_of(Rows(source))
        self.mean_ = moments.mean
        self.scale_ = number_scales(
            moments, self.schema_, self._design, self.standardize
        )
        self._keep(
            centers=np.empty((0, len(self.design_names))),
            radii=np.empty(0),
            classes=np.empty(0, dtype=np.int64),
        )

    def _recode(self, known: Schema, old_classes: np.ndarray) -> None:
        """Bring what was learned to the categories and classes of now."""
        matrix, offset = design_change(known, self._design)
        if not np.array_equal(matrix, np.eye(len(matrix))):
            self.centers_ = self.centers_ @ matrix.T + offset
            self.mean_ = self.mean_ @ matrix.T + offset
            scale = np.abs(matrix) @ self.scale_
            self.scale_ = np.where(scale > 0, scale, 1.0)
        codes = np.searchsorted(self.classes_, old_classes)
        self.center_class_ = codes[self.center_class_]

    def _keep(
        self, centers: np.ndarray, radii: np.ndarray, classes: np.ndarray
    ) -> None:
        self.centers_ = centers
        self.radii_ = radii
        self.center_class_ = classes
        self.counts_ = np.zeros(len(radii))

    def _grow(self, block: Block) -> None:
        Z = self._scale_rows(block.X)
        y = np.asarray(block.y, dtype=np.int64)
        self._shrink(Z, y)
        limits = self._limits(Z, y)
        centers = [self.centers_]
        radii = [self.radii_]
        classes = [self.center_class_]
        # the first row that no sphere of its class covers gets one, until all are covered
        covered = self._is_covered(Z, y)
        while not covered.all():
            row = int(covered.argmin())
            centers.append(np.asarray(block.X[row : row + 1], dtype=np.float64))
            radii.append(limits[row : row + 1])
            classes.append(y[row : row + 1])
            is_within = pairwise(Z[row : row + 1], Z)[0] <= limits[row]
            covered |= is_within & (y == y[row])
            covered[row] = True
            report("spheres", int(covered.sum()), len(covered))
        old_counts = self.counts_
        self._keep(
            np.concatenate(centers), np.concatenate(radii), np.concatenate(classes)
        )
        self.counts_[: len(old_counts)] = old_counts
        self._count(Z, y, block.weights)

    def _count(self, Z: np.ndarray, y: np.ndarray, w: np.ndarray) -> None:
        """Add the weight of every row to the first sphere of its class that covers it."""
        for c in np.unique(y):
            own = np.flatnonzero(y == c)
            spheres = np.flatnonzero(self.center_class_ == c)
            apart = pairwise(Z[own], self._scale_rows(self.centers_[spheres]))
            first = (apart <= self.radii_[spheres]).argmax(axis=1)
            self.counts_ += np.bincount(spheres[first], w[own], len(self.radii_))

    def _shrink(self, Z: np.ndarray, y: np.ndarray) -> None:
        """Spheres of other classes end before the new rows."""
        radii = self.radii_.copy()
        for c in np.unique(self.center_class_):
            own = np.flatnonzero(self.center_class_ == c)
            others = Z[y != c]
            if len(others):
                centers = self._scale_rows(self.centers_[own])
                distance = nearest(centers, 1, among=others).distances[:, 0]
                limit = np.maximum(distance * _INSIDE, self.min_radius)
                radii[own] = np.minimum(radii[own], limit)
        self.radii_ = radii

    def _limits(self, Z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The largest radius of a sphere around every row: up to rows and centers of other
        classes."""
        most = 1e300  # finite, where there is one class alone
        if self.max_radius is not None:
            most = min(most, float(self.max_radius))
        limits = np.full(len(Z), most)
        centers = self._scale_rows(self.centers_)
        for c in np.unique(y):
            others = np.concatenate([Z[y != c], centers[self.center_class_ != c]])
            if len(others):
                own = np.flatnonzero(y == c)
                distance = nearest(Z[own], 1, among=others).distances[:, 0]
                limits[own] = np.minimum(limits[own], distance * _INSIDE)
        return np.maximum(limits, self.min_radius)

    def _is_covered(self, Z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Which rows a sphere of their class covers already."""
        out = np.zeros(len(Z), dtype=bool)
        for c in np.unique(self.center_class_):
            own = np.flatnonzero(y == c)
            spheres = np.flatnonzero(self.center_class_ == c)
            if len(own):
                apart = pairwise(Z[own], self._scale_rows(self.centers_[spheres]))
                out[own] = (apart <= self.radii_[spheres]).any(axis=1)
        return out

    def _scale_rows(self, X: np.ndarray) -> np.ndarray:
        centered = np.asarray(X, dtype=np.float64) - self.mean_
        return np.ascontiguousarray(centered / self.scale_)

    # -- predict -----------------------------------------------------------------------

    def _counts(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """The votes of covering spheres by class, (n, K), and the class of the nearest surface."""
        apart = pairwise(self._scale_rows(block.X), self._scale_rows(self.centers_))
        # a sphere without a row of its own still counts a little
        votes = np.maximum(self.counts_, 1e-9)
        inside = np.where(apart <= self.radii_, votes, 0.0)
        counts = np.zeros((len(block), len(self.classes_)))
        for c in np.unique(self.center_class_):
            counts[:, c] = inside[:, self.center_class_ == c].sum(axis=1)
        return counts, self.center_class_[(apart - self.radii_).argmin(axis=1)]

    def _posteriors(self, block: Block) -> np.ndarray:
        counts, nearest_class = self._counts(block)
        lost = np.flatnonzero(counts.sum(axis=1) == 0)
        counts[lost, nearest_class[lost]] = 1.0
        return counts / counts.sum(axis=1, keepdims=True)

    def region(self, X: Data) -> Any:
        """Whether every row is "identified", "ambiguous" or "unknown".

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array of str of shape (n_samples,)
        """
        return self._apply(self._regions, X)

    def _regions(self, block: Block) -> np.ndarray:
        n_classes = (self._counts(block)[0] > 0).sum(axis=1)
        regions = np.array(["unknown", "identified", "ambiguous"])
        return regions[np.minimum(n_classes, 2)]

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """The posterior by columns: shares of how near every column is to the nearest sphere of the
        class.

        The base is the share of the class among the spheres.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        return self._explain(X, self._columns, "posterior")

    def _columns(self, block: Block) -> np.ndarray:
        shares = self._posteriors(block)
        Z = self._scale_rows(block.X)
        C = self._scale_rows(self.centers_)
        code = shares.argmax(axis=1)
        # the sphere of the predicted class whose surface is nearest, and how near each column is
        is_of_class = self.center_class_ == code[:, None]
        apart = np.where(is_of_class, pairwise(Z, C) - self.radii_, np.inf)
        nearness = np.exp(-0.5 * (Z - C[apart.argmin(axis=1)]) ** 2)
        nearness /= nearness.sum(axis=1, keepdims=True)
        n_spheres = np.bincount(self.center_class_, minlength=len(self.classes_))
        base = (n_spheres / len(self.radii_))[code]
        gain = shares[np.arange(len(code)), code] - base
        return np.column_stack([code, base, gain[:, None] * nearness])

    def summary(self) -> Summary:
        """The number of spheres and their radii, class by class."""
        head = super().summary()
        rows = []
        for c, label in enumerate(self.classes_.tolist()):
            radii = self.radii_[self.center_class_ == c]
            median = float(np.median(radii)) if len(radii) else None
            rows.append((str(label), len(radii), median))
        facts = {**head.facts, "rows seen": self.n_rows_, "spheres": len(self.radii_)}
        table = Table("Classes", ("class", "spheres", "median radius"), rows)
        return Summary(head.title, facts, [table])

    def _check_model(self) -> None:
        super()._check_model()
        if hasattr(self, "center_class_"):
            check_class_codes(self, "center_class_")

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        m = len(self.radii_)
        d = len(self.design_names)
        return {
            "centers_": (m, d),
            "radii_": (m,),
            "center_class_": (m,),
            "counts_": (m,),
            "mean_": (d,),
            "scale_": (d,),
        }
