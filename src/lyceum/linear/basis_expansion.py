"""Basis functions of the columns: polynomials, Gaussian bumps and sigmoid steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations_with_replacement
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import comb, expit
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Column, Schema, as_float
from lyceum._core.distances import pairwise
from lyceum._core.statistics import Moments, Quantiles, RowSample, seed_from
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.prepare import Transformer
from lyceum.report import Summary, Table

_HIGHEST_DEGREE = 1000


class BasisExpansion(Transformer):
    """Continuous columns as basis functions of them, for models that are linear in what comes out.

        polynomial  z, z², ..., z^degree          joint: all products of up to `degree` columns
        gaussian exp(-(z - c)² / (2h²)) joint: exp(-|z - c|² / (2h²)), h the bandwidth
        sigmoid 1 / (1 + exp(-(z - c) / h)) joint: of u·(z - c), u a direction over all columns
        radial |z|, |z|², ..., |z|^degree over all columns

    z is the column with mean 0 and standard deviation 1 (or as it is, with `standardize=False`).
    There is no constant function: linear models have an intercept. Columns of categories are left
    as they are, before the new ones. Fitting is one pass; `transform` streams.

    Parameters
    ----------
    kind : {"polynomial", "gaussian", "sigmoid", "radial"}, default="polynomial"
        The kind of basis function; "radial" is always joint.
    degree : int, default=2
        The highest power of "polynomial" and "radial".
    n_centers : int, default=5
        How many centers there are, a column or jointly.
    centers : {"quantiles", "sample"} or array-like, default="quantiles"
        Where the centers of "gaussian" and "sigmoid" are: at the quantiles (k + ½) / n_centers of
        every column; at rows drawn at random; or given, in the units of the columns: of shape
        (n_centers, n_continuous), or (n_centers,) for a single column. Joint centers are rows, so
        "quantiles" stands for "sample" there. Centers that fall on each other in a column are one.
    bandwidth : float or None, default=None
        In units of z; None: the mean distance of neighboring centers of the column, jointly of a
        center to its nearest.
    joint : bool, default=False
        Whether functions are of all columns together.
    directions : array-like of shape (n_centers, n_continuous), optional
        The directions u of joint sigmoids; None draws them, of length 1.
    standardize : bool, default=True
        Whether columns are brought to mean 0 and standard deviation 1 first.

    Attributes
    ----------
    centers_ : list of arrays, or one array (n_centers, n_continuous) if joint
        In units of z; absent for "polynomial" and "radial".
    directions_ : array of shape (n_centers, n_continuous)
        Of joint sigmoids only.
    bandwidths_ : array
        One a continuous column, or one if joint; absent for "polynomial" and "radial".
    mean_, scale_ : arrays of shape (n_continuous,)
        Means and standard deviations of the expanded columns; 0 and 1 without `standardize`.

    See Also
    --------
    LinearRegression : Linear in the basis functions.
    lyceum.prepare.StandardScaler : Mean 0 and standard deviation 1.

    References
    ----------
    Bishop (2006), Pattern recognition and machine learning, section 3.1.

    Examples
    --------
    >>> from lyceum.linear import BasisExpansion
    >>> expand = BasisExpansion(degree=2, joint=True, standardize=False)
    >>> expand = expand.fit([[1.0, 2.0], [3.0, 4.0]])
    >>> expand.transform([[2.0, 5.0]]).tolist(), expand.get_feature_names_out(["a", "b"]).tolist()
    ([[2.0, 5.0, 4.0, 10.0, 25.0]], ['a', 'b', 'a^2', 'a*b', 'b^2'])

    """

    _takes_missing: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict] = {
        "kind": [StrOptions({"polynomial", "gaussian", "sigmoid", "radial"})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "n_centers": [Interval(Integral, 1, None, closed="left")],
        "centers": [StrOptions({"quantiles", "sample"}), "array-like"],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "joint": ["boolean"],
        "directions": ["array-like", None],
        "standardize": ["boolean"],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        kind: str = "polynomial",
        degree: int = 2,
        n_centers: int = 5,
        centers: Any = "quantiles",
        bandwidth: float | None = None,
        joint: bool = False,
        directions: Any = None,
        standardize: bool = True,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.kind = kind
        self.degree = degree
        self.n_centers = n_centers
        self.centers = centers
        self.bandwidth = bandwidth
        self.joint = joint
        self.directions = directions
        self.standardize = standardize
        self.random_state = random_state
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn means, scales and centers in one pass.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : ignored
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        seed = seed_from(self.random_state)
        statistic = rows.reduce(partial(_Spread.of, **self._statistic_settings(seed)))
        on = self._on
        moments = statistic.moments
        spread = np.sqrt(np.maximum(moments.variance()[on], 0.0))
        self.mean_ = np.zeros(len(on))
        self.scale_ = np.ones(len(on))
        if self.standardize:
            self.mean_ = moments.mean[on]
            self.scale_ = np.where(spread > 0, spread, 1.0)
        for name in ("centers_", "bandwidths_", "directions_"):
            self.__dict__.pop(name, None)
        if self._has_centers:
            if isinstance(self.centers, str):
                centers = self._centers_from(statistic)
            else:
                centers = self._checked_centers()
            self._place(centers)
        if self.joint and self.kind == "sigmoid":
            self.directions_ = self._unit_directions(seed)
        elif self.directions is not None:
            raise SettingError(
                'directions are of kind="sigmoid" with joint=True: leave them out otherwise'
            )
        return self

    def _unit_directions(self, seed: int) -> np.ndarray:
        if self.directions is None:
            drawn = np.random.default_rng(seed).normal(size=self.centers_.shape)
            return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        directions = np.array(self.directions, dtype=np.float64)
        is_finite = np.isfinite(directions).all()
        if directions.shape != self.centers_.shape or not is_finite:
            raise SettingError(
                f"directions have the shape {directions.shape}: give finite numbers of shape "
                f"{self.centers_.shape}, a row for every center"
            )
        return directions

    @property
    def _has_centers(self) -> bool:
        return self.kind in ("gaussian", "sigmoid")

    @property
    def _on(self) -> np.ndarray:
        """The columns that are expanded."""
        return np.asarray(self.schema_.continuous, dtype=np.int64)

    def _statistic_settings(self, seed: int) -> dict[str, Any]:
        # centers in several columns at once are rows; in each column by itself, its quantiles
        is_learned = self._has_centers and isinstance(self.centers, str)
        by_rows = is_learned and (self.joint or self.centers == "sample")
        return {
            "quantiles": is_learned and not by_rows,
            "sample": self.n_centers if by_rows else None,
            "seed": seed,
        }

    def _checked_centers(self) -> np.ndarray:
        centers = np.asarray(self.centers, dtype=np.float64)
        if centers.ndim == 1 and len(self._on) == 1:
            centers = centers[:, None]
        if (
            centers.ndim != 2
            or centers.shape[1] != len(self._on)
            or not np.isfinite(centers).all()
        ):
            raise SettingError(
                f"centers have shape {centers.shape}: give finite numbers of shape (n_centers, "
                f"{len(self._on)}), a column for every continuous one"
            )
        return centers

    def _centers_from(self, statistic: _Spread) -> np.ndarray:
        if statistic.sample is not None:
            return statistic.sample.X[:, self._on].astype(np.float64)
        assert statistic.quantiles is not None
        # the middles of n_centers stretches of equal probability
        levels = (np.arange(self.n_centers) + 0.5) / self.n_centers
        return statistic.quantiles.quantile(levels)[:, self._on]

    def _place(self, centers: np.ndarray) -> None:
        """Centers in standardized columns; by default the width is the mean distance of
        neighboring ones."""
        Z = (centers - self.mean_) / self.scale_
        if self.joint:
            self.centers_: Any = np.unique(Z, axis=0)
            distances = pairwise(self.centers_)
            np.fill_diagonal(distances, np.inf)
            widths = [1.0]
            if len(distances) > 1:
                widths = [float(distances.min(axis=1).mean())]
        else:
            self.centers_ = [np.unique(column) for column in Z.T]
            widths = [
                float(np.ptp(c)) / (len(c) - 1) if len(c) > 1 else 1.0
                for c in self.centers_
            ]
        self.bandwidths_ = np.array(widths)
        if self.bandwidth is not None:
            self.bandwidths_ = np.full(len(widths), self.bandwidth)

    def _step(self, schema: Schema) -> _Expand:
        on = self._on
        other = np.setdiff1d(np.arange(len(schema)), on)
        names = [schema[int(j)].name for j in on]
        made, new = self._functions(names)
        return _Expand(on, other, self.mean_, self.scale_, made, tuple(new))

    def _functions(self, names: list[str]) -> tuple[partial[np.ndarray], list[str]]:
        """What makes the functions of a block of standardized cells, and their names."""
        if not self._has_centers and self.degree > _HIGHEST_DEGREE:
            raise SettingError(
                f"degree={self.degree} is beyond {_HIGHEST_DEGREE}, where powers overflow: lower it"
            )
        made: partial[np.ndarray]
        if self.kind == "polynomial":
            powers = _powers(len(names), self.degree, self.joint)
            made = partial(_polynomial, powers=tuple(powers))
            new = [_product(names, p) for p in powers]
        elif self.kind == "radial":
            made = partial(_radial, degree=self.degree)
            new = ["radius", *(f"radius^{k}" for k in range(2, self.degree + 1))]
        elif self.joint:
            made = partial(_joint_gaussian, centers=self.centers_)
            if self.kind == "sigmoid":
                made = partial(
                    _joint_sigmoid, centers=self.centers_, directions=self.directions_
                )
            made = partial(made, width=float(self.bandwidths_[0]))
            new = [f"{self.kind}_{k}" for k in range(len(self.centers_))]
        else:
            made = partial(
                _by_column,
                function=_gaussian if self.kind == "gaussian" else expit,
                centers=self.centers_,
                widths=self.bandwidths_,
            )
            new = [
                f"{name}_{self.kind}_{k}"
                for name, c in zip(names, self.centers_)
                for k in range(len(c))
            ]
        return made, new

    def summary(self) -> Summary:
        """The functions, with the centers and widths in the units of the columns."""
        check_is_fitted(self)
        step = self._step(Schema(self.schema_.columns))
        is_joint = self.joint or self.kind == "radial"
        facts = {
            "rows": self.n_rows_,
            "functions": f"{len(step.names)} of {len(self._on)} columns",
            "kind": f"{self.kind}, {'joint' if is_joint else 'column by column'}",
        }
        if not self._has_centers:
            return Summary(self._title(), facts)
        if self.joint:
            names = [self.schema_[int(j)].name for j in self._on]
            columns = ("function", *names)
            centers = self.centers_ * self.scale_ + self.mean_
            shown = [
                (name, *map(float, center)) for name, center in zip(step.names, centers)
            ]
            unit = " standard deviations" if self.standardize else ""
            facts["width"] = f"{self.bandwidths_[0]:.4g}{unit}"
            table = Table("Centers", columns, shown)
            return Summary(self._title(), facts, [table])
        return Summary(self._title(), facts, [self._centers_table()])

    def _centers_table(self) -> Table:
        rows = []
        for k, j in enumerate(self._on):
            scale = self.scale_[k]
            centers = self.centers_[k] * scale + self.mean_[k]
            width = float(self.bandwidths_[k] * scale)
            name = self.schema_[int(j)].name
            rows.append((name, centers.round(6).tolist(), width))
        return Table("Centers", ("column", "centers", "width"), rows)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self._on)
        return {"mean_": (d,), "scale_": (d,)}


@dataclass(frozen=True, slots=True)
class _Spread:
    """The result of one pass: moments, and quantiles or a sample of rows if they are wanted."""

    moments: Moments
    quantiles: Quantiles | None
    sample: RowSample | None

    @classmethod
    def of(
        cls,
        block: Block,
        quantiles: bool,
        sample: int | None,
        seed: int,
    ) -> _Spread:
        drawn = RowSample.of(block, sample, seed) if sample else None
        block = block.without_zero_weights()
        values = Quantiles.of(block) if quantiles else None
        return cls(Moments.of(block), values, drawn)

    def merge(self, other: _Spread) -> _Spread:
        quantiles = None
        if self.quantiles and other.quantiles:
            quantiles = self.quantiles.merge(other.quantiles)
        sample = None
        if self.sample and other.sample:
            sample = self.sample.merge(other.sample)
        return _Spread(self.moments.merge(other.moments), quantiles, sample)


@dataclass(frozen=True, eq=False)
class _Expand:
    """The cells of the other columns, followed by the functions of those that are expanded."""

    on: np.ndarray
    other: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    made: Callable[[np.ndarray], np.ndarray]
    names: tuple[str, ...]

    def schema(self, schema: Schema) -> Schema:
        other = [schema[int(j)] for j in self.other]
        new = [Column(name) for name in self.names]
        return Schema((*other, *new), schema.target, schema.weight)

    def __call__(self, block: Block) -> Block:
        X = as_float(block.X)
        cells = X[:, self.on].astype(np.float64)
        Z = (cells - self.mean) / self.scale
        out = np.column_stack([X[:, self.other], self.made(Z)])
        out = np.ascontiguousarray(out.astype(X.dtype, copy=False))
        return block.with_X(out, self.schema(block.schema))


def _powers(d: int, degree: int, joint: bool) -> list[tuple[int, ...]]:
    """The columns of every product, in the order of degree."""
    if not joint:
        return [(j,) * k for j in range(d) for k in range(1, degree + 1)]
    if comb(d + degree, degree) > 1e6:
        raise SettingError(
            f"degree={degree} gives more than a million products of {d} columns: lower it"
        )
    products = (
        combinations_with_replacement(range(d), k) for k in range(1, degree + 1)
    )
    return list(chain.from_iterable(products))


def _product(names: list[str], columns: tuple[int, ...]) -> str:
    """The name of a product: "a*b^2" of the columns (0, 1, 1)."""
    parts = {j: columns.count(j) for j in columns}
    powers = ("" if k == 1 else f"^{k}" for k in parts.values())
    return "*".join(names[j] + power for j, power in zip(parts, powers))


def _polynomial(Z: np.ndarray, powers: tuple[tuple[int, ...], ...]) -> np.ndarray:
    out = np.empty((len(Z), len(powers)))
    index = {p: k for k, p in enumerate(powers)}
    # every product is a shorter one times one more column
    for k, p in enumerate(powers):
        if len(p) == 1:
            out[:, k] = Z[:, p[0]]
        else:
            shorter = index[p[:-1]]
            out[:, k] = out[:, shorter] * Z[:, p[-1]]
    return out


def _radial(Z: np.ndarray, degree: int) -> np.ndarray:
    """|z|, |z|², ..., |z|^degree."""
    radius = np.linalg.norm(Z, axis=1)
    return radius[:, None] ** np.arange(1, degree + 1)


def _joint_sigmoid(
    Z: np.ndarray,
    centers: np.ndarray,
    directions: np.ndarray,
    width: float,
) -> np.ndarray:
    # (z - c)·v, without the differences of all rows and centers
    along = Z @ directions.T - (centers * directions).sum(axis=1)
    return expit(along / width)


def _by_column(
    Z: np.ndarray,
    function: Callable,
    centers: Any,
    widths: np.ndarray,
) -> np.ndarray:
    parts = [np.empty((len(Z), 0))]
    for z, of_column, width in zip(Z.T, centers, widths):
        u = (z[:, None] - of_column) / width
        parts.append(function(u))
    return np.column_stack(parts)


def _gaussian(u: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * u * u)


def _joint_gaussian(Z: np.ndarray, centers: np.ndarray, width: float) -> np.ndarray:
    squares = pairwise(Z, centers, metric="squared_euclidean")
    return np.exp(-0.5 * squares / width**2)
