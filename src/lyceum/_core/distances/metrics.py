"""The base of metrics, and metrics by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lyceum._core import data as core_data
from lyceum._core.data import Block, Rows, Schema, is_frame
from lyceum._core.distances.matrices import check_finite, float_matrix
from lyceum._core.statistics import Moments
from lyceum._core.types import Data, Target
from lyceum.errors import SchemaError, SettingError, undefined

Points = Any  # (n, d) array of float32 or float64, or CSR


class Space(NamedTuple):
    """The native comparison of two rows, by name, with its power and its columns."""

    name: str
    power: float = 2.0
    weight: np.ndarray | None = None  # (d,) of float64
    matched: np.ndarray | None = None  # (d,) of uint8: 1 where cells are equal or not

    @property
    def has_boxes(self) -> bool:
        """Whether a box of rows bounds their distances, as an index needs."""
        return self.name in ("squares", "absolute", "largest", "powers")


@dataclass(frozen=True)
class Metric:
    """A distance between rows: an immutable value that knows its name.

    A subclass defines `space`, the native comparison of two rows. It overrides `points` if rows are
    transformed before they are compared, and `distances` and `raw` if the raw value of the
    comparison is not yet the distance (for example its square).

    Attributes
    ----------
    name : str
        The name that `metric(name)` finds it by.
    takes_sparse : bool
        Whether rows may be sparse.
    takes_missing : bool
        Whether cells may be missing (NaN).
    takes_categories : bool
        Whether codes of categories may be compared.
    is_metric : bool
        Whether the triangle inequality holds.
    space : Space
        The native comparison of two rows.

    See Also
    --------
    metric : A metric by its name.
    pairwise, nearest, within_radius : Functions that take a metric.

    Examples
    --------
    >>> from lyceum.distances import Euclidean
    >>> Euclidean().name, Euclidean().is_metric
    ('euclidean', True)
    """

    name: ClassVar[str] = ""
    takes_sparse: ClassVar[bool] = False
    takes_missing: ClassVar[bool] = False
    takes_categories: ClassVar[bool] = False

    @property
    def is_metric(self) -> bool:
        """Whether the triangle inequality holds: d(x, z) <= d(x, y) + d(y, z)."""
        return True

    @property
    def space(self) -> Space:
        """The comparison that the kernels make."""
        raise undefined(self, "space")

    def learn(self, rows: Any) -> Metric:
        """This metric with the parameters that it learns from rows; itself if it learns nothing.

        Parameters
        ----------
        rows : Rows, or anything that `lyceum.scan` takes

        Returns
        -------
        Metric
        """
        return self

    def points(self, X: Data) -> Points:
        """The rows as the native comparisons take them.

        Parameters
        ----------
        X : array or CSR array of shape (n, d)
            float32 or float64; coded cells for metrics of mixed columns.

        Returns
        -------
        array or CSR array of shape (n, m)
        """
        return X

    def distances(self, raw: np.ndarray, n_columns: int) -> np.ndarray:
        """Distances from raw values.

        Parameters
        ----------
        raw : array
            Raw values; they may be overwritten.
        n_columns : int
            The number of columns that were compared.

        Returns
        -------
        array
        """
        return raw

    def raw(self, distance: float, n_columns: int) -> float:
        """The raw value of a distance.

        Parameters
        ----------
        distance : float
        n_columns : int
            The number of columns that are compared.

        Returns
        -------
        float
        """
        return distance

    def check_schema(self, schema: Schema) -> None:
        """Raise SchemaError if the columns cannot be compared, or are not those that were learned.

        Parameters
        ----------
        schema : Schema
            The columns of the rows to compare.
        """
        for column in schema:
            if (
                not self.takes_categories
                and column.categories is not None
                and len(column.categories) > 2
            ):
                raise SchemaError(
                    f"column {column.name!r} holds categories, and the metric {self.name!r} would"
                    " compare their codes as numbers: use Gower().learn(rows), or code them first,"
                    " e.g. by lyceum.prepare.OneHotEncoder()"
                )

    def __call__(self, x: ArrayLike, y: Target) -> float:
        """The distance of two rows.

        >>> from lyceum.distances import Manhattan
        >>> Manhattan()([0, 0], [3, 4])
        7.0
        """
        from lyceum._core.distances.pairs import pairwise

        X = np.asarray(x, dtype=np.float64).reshape(1, -1)
        Y = np.asarray(y, dtype=np.float64).reshape(1, -1)
        return float(pairwise(X, Y, metric=self)[0, 0])


# scikit-learn's other names of metrics, and of their parameters
ALIASES = {
    "cityblock": "manhattan",
    "infinity": "chebyshev",
    "l1": "manhattan",
    "l2": "euclidean",
    "p": "minkowski",
    "sqeuclidean": "squared_euclidean",
}
_OPTION_ALIASES = {
    ("mahalanobis", "V"): "covariance",
    ("mahalanobis", "VI"): "precision",
}

Class = TypeVar("Class", bound=type[Metric])
_METRICS: dict[str, type[Metric]] = {}


def register_metric(name: str) -> Callable[[Class], Class]:
    """A class decorator that registers a metric for `metric(name)`."""

    def register(cls: Class) -> Class:
        cls.name = name
        _METRICS[name] = cls
        return cls

    return register


def metric(
    name: str | Metric | type[Metric] | Callable[..., float], **options: Any
) -> Metric:
    """A metric by its name; a metric is given back as it is.

    Parameters
    ----------
    name : {"euclidean", "squared_euclidean", "manhattan", "minkowski", "chebyshev", \
"mahalanobis", "seuclidean", "nan_euclidean", "cosine", "correlation", "squared_correlation", \
"canberra", "braycurtis", "haversine", "hamming", "jaccard", "dice", "rogerstanimoto", \
"russellrao", "sokalmichener", "sokalsneath", "gower", "value_difference"}, Metric, its class, \
callable or object with `pairwise`
        scikit-learn's "cityblock", "l1", "l2", "sqeuclidean", "infinity" and "p" name the same
        metrics. A callable takes two rows and gives their distance; it is called for every pair
        (`FunctionMetric`). scikit-learn's `DistanceMetric` objects compare rows by their
        `pairwise`.
    **options
        Parameters of the metric, e.g. `p` of "minkowski".

    Returns
    -------
    Metric

    See Also
    --------
    Metric : what all metrics share.

    Examples
    --------
    >>> from lyceum.distances import metric
    >>> metric("minkowski", p=3)
    Minkowski(p=3.0)
    """
    if isinstance(name, Metric):
        if options:
            raise SettingError(
                f"{name!r} is a metric with its parameters: give {_name_list(options)} to it"
            )
        return name
    if isinstance(name, type) and issubclass(name, Metric):
        return _with_options(name, options)
    if callable(name):
        from lyceum._core.distances.function import FunctionMetric

        return FunctionMetric(name, **options)  # type: ignore[arg-type]
    if hasattr(name, "pairwise"):
        from lyceum._core.distances.arrays import ForeignMetric

        return ForeignMetric(name)
    # the modules of all metrics, which register them by their names
    from lyceum._core.distances import model_parts  # noqa: F401

    known = ALIASES.get(name, name) if isinstance(name, str) else name
    if not isinstance(known, str) or known not in _METRICS:
        raise SettingError(
            f"there is no metric {name!r}: choose one of {', '.join(sorted(_METRICS))}"
        )
    return _with_options(_METRICS[known], options)


def _with_options(kind: type[Metric], options: dict[str, Any]) -> Metric:
    known = [field.name for field in fields(kind)]
    options = {
        _OPTION_ALIASES.get((kind.name, name), name): value
        for name, value in options.items()
    }
    unknown = [option for option in options if option not in known]
    if unknown:
        takes = f"choose among {_name_list(known)}" if known else "it has none"
        raise SettingError(
            f"{unknown[0]!r} is no parameter of the metric {kind.name!r}: {takes}"
        )
    return kind(**options)


def _name_list(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


# -- rows in ---------------------------------------------------------------------------


def as_rows(rows: Any) -> Rows:
    """Rows as they are, or scanned."""
    if isinstance(rows, Rows):
        return rows
    return core_data.scan(rows)


def moments_of(rows: Rows) -> Moments:
    """Mean, spread and range of every column; zero-weight rows are ignored."""
    return rows.reduce(_block_moments)


def _block_moments(block: Block) -> Moments:
    return Moments.of(block.without_zero_weights())


def points_of(metric: Metric, X: Data) -> Points:
    """All rows of X in memory, as the kernels compare them.

    X is an array, sparse or not, a block, rows, or a frame, which is read as rows by a metric of
    its columns.
    """
    if is_frame(X) and hasattr(metric, "schema"):
        if metric.schema is None:
            X = as_rows(X)
        else:
            X = core_data.scan(X, kinds=metric.schema)
    if isinstance(X, Rows):
        X = X.in_one_block(
            "a search among rows in memory",
            "nearest(..., among=rows), which streams them",
        )
    if isinstance(X, Block):
        metric.check_schema(X.schema)
        X = X.X
    if sparse.issparse(X):
        X = _int32_csr(metric, X)
        cells = X.data.reshape(1, -1)
    else:
        X = cells = float_matrix(X, "distances need")
    caller = f"the metric {metric.name!r}"
    check_finite(cells, caller, metric.takes_missing, "the metric 'gower'")
    return metric.points(X)


def _int32_csr(metric: Metric, X: Data) -> Any:
    """A copy of sparse rows as the kernels take them: CSR, every cell once, indices of int32."""
    if not metric.takes_sparse:
        raise SettingError(
            f"the metric {metric.name!r} cannot take sparse rows: give X.toarray(), or take one"
            " that can, such as 'euclidean', 'manhattan' or 'cosine'"
        )
    X = sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    X.indices = X.indices.astype(np.int32, copy=False)
    X.indptr = X.indptr.astype(np.int32, copy=False)
    return X


def check_columns(caller: str, learned: Schema | None, schema: Schema) -> None:
    """Refuse rows of other columns or other categories than those that were learned."""
    if learned is None:
        return
    same_number = len(learned) == len(schema)
    if not (same_number and all(a.same_as(b) for a, b in zip(learned, schema))):
        raise SchemaError(
            f"the columns of the rows are not those that {caller} was fitted on: names, kinds and"
            " categories must agree, e.g. scan(..., kinds=rows.schema) of the fitted rows"
        )


def schema_of(X: Data) -> Schema | None:
    """The schema of rows, None of arrays."""
    if isinstance(X, Rows | Block):
        return X.schema
    return None


def check_same_categories(known: Schema | None, other: Schema | None) -> None:
    """Refuse two sets of rows in which one code stands for different categories."""
    for a, b in zip(known or (), other or ()):
        if not (a.categories is b.categories is None) and not a.same_as(b):
            raise SchemaError(
                f"the two sets of rows cannot be compared, as {a.difference(b)} in one of them:"
                " read both by scan(..., kinds=schema) with one schema that has all categories"
            )
