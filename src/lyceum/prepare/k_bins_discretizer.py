"""Numbers to intervals."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn import preprocessing
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, Reading
from lyceum._core.constraints import Options, StrOptions
from lyceum._core.data import Block, Column, Inputs, Rows, Schema, as_float, is_dask
from lyceum._core.statistics import Quantiles, entropy, midpoints, quantile_cuts
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.errors import ModelFileError, SettingError, number_setting
from lyceum.prepare.shared_transformer import SharedTransformer, has_words
from lyceum.prepare.statistics import of_weighted_rows
from lyceum.report import Summary, Table


class _ClassInputs(Inputs):
    """The way in for a transformer that learns from classes."""

    task: ClassVar[Any] = "classes"


class KBinsDiscretizer(SharedTransformer, preprocessing.KBinsDiscretizer):
    """Continuous columns to intervals, which are categories; other columns stay as they are.

    An array, or a frame of numbers, is coded as scikit-learn does: `n_bins` intervals of every
    column, x in the interval that begins at the last edge of at most x. What follows is the other
    way, for rows of `scan(...)`, Dask collections, pyarrow tables and frames with words, and
    wherever `strategy` is "auto" or "mdl", `encode` is "categories" or `cuts` are given.

    With classes to learn from, a column is cut where this shortens the description of the classes
    (minimum description length): it is cut at T while

    .. math:: \\mathrm{gain}(T) > \\frac{\\log_2(N - 1) + \\Delta(T)}{N},

    and a column without information on the classes becomes one interval. Without classes there are
    `n_bins` intervals of equal frequency or width. Missing cells stay missing. The numbers of a
    column are kept as a sketch: up to some 2,000 distinct values the cuts are exact, beyond that
    they are among that many.

    Parameters
    ----------
    n_bins : int or array of shape (n_features,), default=5
        The number of intervals for "quantile", "uniform" and "kmeans".
    encode : {"onehot", "onehot-dense", "ordinal", "categories"}, default="onehot"
        What intervals of an array become: 0/1 columns, sparse or not, or their numbers;
        "categories" is one column of categories, as by kinds of columns.
    strategy : {"uniform", "quantile", "kmeans", "auto", "mdl"}, default="quantile"
        "quantile" cuts into intervals of equal frequency, "uniform" of equal width, "kmeans"
        between the centers of clusters (of arrays), "mdl" by the classes; "auto" is "mdl" where
        `fit` gets classes, else "quantile".
    quantile_method : str, default="averaged_inverted_cdf"
        How the quantiles of an array are computed, as in `numpy.percentile`.
    dtype : {float32, float64}, default=None
        The type of the coded array; None is that of the array.
    subsample : int or None, default=200000
        The most rows of an array that are looked at, drawn with replacement.
    random_state : int, RandomState or None, default=None
        The seed of that draw.
    better_encoding : bool, default=False
        For "mdl", whether a cut is named among the places between neighboring values, of which
        there are m, and not among the N − 1 places between rows: log₂ m takes the place of
        log₂(N − 1), so that columns of few distinct values are cut more readily (WEKA's
        `useBetterEncoding`).
    cuts : dict of name to numbers, or numbers for all columns, default=None
        Given cuts; columns that a dict does not name are cut by `strategy`.
    categorical_features : str, bool, mask, indices, names, dict or Schema, default="from_dtype"
        Columns to leave alone because they hold categories: a mask, indices or names; True for all;
        the kinds of some columns as a dict, or of all as a `Schema`. Columns of text, of category
        types and of true and false are always left alone.

    Attributes
    ----------
    bin_edges_ : array of arrays
        The edges of the intervals of every column of an array.
    n_bins_ : array of shape (n_features,)
        Their numbers.
    cuts_ : list of arrays
        The cuts of every column, ascending; None for a column of categories. x belongs to the
        interval that ends at the first cut of at least x.
    strategy_ : str
        How columns were cut.

    See Also
    --------
    StandardScaler : columns to mean 0 and standard deviation 1.

    References
    ----------
    U. M. Fayyad and K. B. Irani, "Multi-interval discretization of continuous-valued attributes for
    classification learning", IJCAI 1993.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.prepare import KBinsDiscretizer
    >>> ages = pa.table({"age": [20.0, 22.0, 25.0, 27.0, 60.0, 62.0, 65.0, 70.0]})
    >>> coder = KBinsDiscretizer(strategy="auto").fit(ages, ["young"] * 4 + ["old"] * 4)
    >>> coder.cuts_[0].tolist()
    [43.5]
    >>> coder.transform(pa.table({"age": [30.0, 50.0, None]})).to_pydict()
    {'age': ['≤ 43.5', '> 43.5', None]}
    """

    _theirs = preprocessing.KBinsDiscretizer
    _theirs_takes_weights = True
    _parameter_constraints: ClassVar[dict] = {
        **preprocessing.KBinsDiscretizer._parameter_constraints,
        "dtype": [Options(type, {np.float64, np.float32}), None],
        "encode": [StrOptions({"onehot", "onehot-dense", "ordinal", "categories"})],
        "strategy": [StrOptions({"auto", "mdl", "quantile", "uniform", "kmeans"})],
        "better_encoding": ["boolean"],
        "cuts": [dict, "array-like", None],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        n_bins: Any = 5,
        *,
        encode: Literal["onehot", "onehot-dense", "ordinal", "categories"] = "onehot",
        strategy: Literal["uniform", "quantile", "kmeans", "auto", "mdl"] = "quantile",
        quantile_method: str = "averaged_inverted_cdf",
        dtype: Any = None,
        subsample: int | None = 200_000,
        random_state: int | np.random.RandomState | None = None,
        better_encoding: bool = False,
        cuts: Any = None,
        categorical_features: Categories = "from_dtype",
    ) -> None:
        self.n_bins = n_bins
        self.encode = encode
        self.strategy = strategy
        self.quantile_method = quantile_method
        self.dtype = dtype
        self.subsample = subsample
        self.random_state = random_state
        self.better_encoding = better_encoding
        self.cuts = cuts
        self.categorical_features = categorical_features

    strategy_: str

    def _goes_by_kinds(self, X: Data) -> bool:
        is_own = self.strategy in ("auto", "mdl") or self.encode == "categories"
        is_own = is_own or self.cuts is not None or has_words(X)
        return is_own or super()._goes_by_kinds(X)

    @property
    def _reads_rows(self) -> Reading:  # type: ignore[override]
        # cuts by classes need a second look at the rows
        if self.strategy in ("auto", "mdl"):
            return "many passes"
        return "one pass"

    def _fit_by_kinds(self, X: Data, y: Target, sample_weight: Weights) -> None:
        """Find the cuts: a pass for the numbers, and another one for their classes."""
        self._check_own_settings()
        rows = self._class_rows(X, y, sample_weight)
        given = self._given_cuts()
        target = rows.schema.target
        has_classes = target is not None and target.is_categorical
        if self.strategy == "mdl" and not has_classes:
            raise SettingError(
                "strategy='mdl' cuts by classes: give fit a y of classes, or choose 'quantile' or"
                " 'uniform'"
            )
        if self.strategy != "auto":
            self.strategy_ = self.strategy
        elif has_classes:
            self.strategy_ = "mdl"
        else:
            self.strategy_ = "quantile"
        sketch = rows.reduce(partial(of_weighted_rows, statistic=Quantiles))
        continuous = self.schema_.continuous.tolist()
        to_learn = [j for j in continuous if self.schema_[j].name not in given]
        if self.strategy_ == "mdl":
            cuts = _class_cuts(rows, sketch, to_learn, self.better_encoding)
        else:
            cuts = {j: self._plain_cuts(sketch.columns[j]) for j in to_learn}
        for name, numbers in given.items():
            cuts[self.schema_.index(name)] = numbers
        self.cuts_ = [cuts.get(j) for j in range(len(self.schema_))]

    def _check_own_settings(self) -> None:
        """Refuse the settings that only arrays have."""
        is_number = isinstance(self.n_bins, Integral)
        if (
            self.encode in ("onehot", "categories")
            and is_number
            and (self.strategy != "kmeans")
        ):
            return
        raise SettingError(
            "KBinsDiscretizer goes by the kinds of columns here, which takes encode='categories',"
            " one number of bins, and not strategy='kmeans': give an array of numbers for these"
        )

    def _finish_array(self, X: Data) -> Any:
        self.cuts_ = [edges[1:-1] for edges in self.bin_edges_]
        self.strategy_ = self.strategy
        return super()._finish_array(X)

    def _plain_cuts(self, sketch: Any) -> np.ndarray:
        """Cuts of equal frequency or of equal width, from the sketch of a column."""
        if self.strategy_ == "quantile":
            return quantile_cuts(sketch.values, sketch.weights, self.n_bins)
        values = sketch.values
        if not len(values) or not values[-1] > values[0]:
            return np.empty(0)
        return np.linspace(float(values[0]), float(values[-1]), self.n_bins + 1)[1:-1]

    def _class_rows(
        self,
        X: Data,
        y: Target,
        w: Weights,
    ) -> Rows:
        """The rows with their classes, if there are any."""
        if isinstance(X, Rows) or y is None or not _are_classes(y):
            return self._rows(X, None, w)
        self._validate_params()
        rows = _ClassInputs(self).for_fit(X, y, w)
        del self.classes_
        return self._prepare_rows(rows)

    def _given_cuts(self) -> dict[str, np.ndarray]:
        """The cuts that the user gave, checked, by column."""
        if self.cuts is None:
            return {}
        named = self.cuts
        if not isinstance(named, Mapping):
            continuous = [self.schema_[int(j)].name for j in self.schema_.continuous]
            named = dict.fromkeys(continuous, self.cuts)
        by_name = {}
        for name, cuts in named.items():
            array = number_setting("cuts", cuts)
            if self.schema_[str(name)].is_categorical:
                raise SettingError(
                    f"cuts has the column {name!r}, which holds categories, not numbers"
                )
            is_finite = array.ndim == 1 and np.isfinite(array).all()
            if not is_finite or (np.diff(array) <= 0).any():
                raise SettingError(
                    f"the cuts of {name!r} must be ascending numbers, got {cuts}"
                )
            by_name[str(name)] = array
        return by_name

    def _step(self, schema: Schema) -> ColumnCuts:
        if not self.by_kinds_:
            raise self._no_step(f"encode={self.encode!r}")
        return ColumnCuts(schema, tuple(self.cuts_))

    def as_step(self) -> ColumnCuts:
        """The change to every block of rows, for a learner that puts it before its own steps."""
        check_is_fitted(self)
        return self._step(Schema(self.schema_.columns))

    def summary(self) -> Summary:
        """The cuts of every continuous column."""
        check_is_fitted(self)
        rows = [
            (column.name, len(cuts) + 1, cuts.tolist())
            for column, cuts in zip(self.schema_, self.cuts_)
            if cuts is not None
        ]
        table = Table("Continuous columns", ("column", "intervals", "cuts"), rows)
        facts = {"rows": self.n_rows_, "strategy": self.strategy_}
        return Summary(self._title(), facts, [table])

    def complexity(self) -> int:
        """The number of cuts."""
        check_is_fitted(self)
        return sum(len(cuts) for cuts in self.cuts_ if cuts is not None)

    def _check_model(self) -> None:
        super()._check_model()
        if len(getattr(self, "cuts_", ())) != len(getattr(self, "schema_", ())):
            raise ModelFileError(
                "holds a KBinsDiscretizer whose cuts are not those of its columns"
            )
        for cuts in getattr(self, "cuts_", ()):
            if cuts is None:
                continue
            numbers = (
                isinstance(cuts, np.ndarray)
                and cuts.ndim == 1
                and cuts.dtype.kind == "f"
            )
            if not numbers or not (np.diff(cuts) > 0).all():
                raise ModelFileError(
                    "holds a KBinsDiscretizer whose cuts are not rising numbers"
                )


@dataclass(frozen=True, eq=False)
class ColumnCuts:
    """A step from numbers to codes of intervals; columns whose cuts are None stay as they are.

    Attributes
    ----------
    before : Schema
        The columns before the step.
    cuts : tuple of array or None
        The cuts of every column, ascending; None where it stays as it is.
    after : Schema
        The columns after it, with the intervals as categories.

    See Also
    --------
    KBinsDiscretizer : Learns the cuts; its `as_step` gives this step.

    Examples
    --------
    >>> from lyceum.data import scan
    >>> from lyceum.prepare import KBinsDiscretizer
    >>> import numpy as np
    >>> ages = np.array([[20.0], [30.0], [70.0]])
    >>> step = KBinsDiscretizer(cuts=[25.0, 60.0]).fit(ages).as_step()
    >>> step.after["x0"].categories.tolist()
    ['≤ 25', '25 – 60', '> 60']
    >>> next(scan(ages).then(step).blocks()).X[:, 0].tolist()
    [0.0, 1.0, 2.0]
    """

    before: Schema
    cuts: tuple[np.ndarray | None, ...]

    @cached_property
    def after(self) -> Schema:
        columns = []
        for column, cuts in zip(self.before, self.cuts):
            if cuts is None:
                columns.append(column)
            else:
                labels = np.array(interval_labels(cuts))
                kind: Literal["binary", "categorical"] = "categorical"
                if len(labels) == 2:
                    kind = "binary"
                columns.append(
                    Column(column.name, kind, labels, "intervals of numbers")
                )
        return Schema(tuple(columns))

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=self.after.columns)

    def __call__(self, block: Block) -> Block:
        if all(cuts is None for cuts in self.cuts):
            return block
        X = as_float(block.X).copy()
        for j, cuts in enumerate(self.cuts):
            if cuts is not None:
                x = X[:, j].astype(np.float64)
                codes = np.searchsorted(cuts, x, side="left")
                X[:, j] = np.where(np.isnan(x), np.nan, codes)
        return block.with_X(X, self.schema(block.schema))

    def operations(self, schema: Schema) -> list[Operation]:
        """The same for exported models."""
        cuts = [None if each is None else each.tolist() for each in self.cuts]
        return [("cut", {"cuts": cuts})]


def interval_labels(cuts: np.ndarray) -> list[str]:
    """The intervals in words, with as many digits as tell the cuts apart.

    >>> interval_labels(np.array([1.5, 4.0]))
    ['≤ 1.5', '1.5 – 4', '> 4']
    """
    if not len(cuts):
        return ["all"]
    texts: list[str] = []
    for digits in (6, 9, 12, 17):
        texts = [f"{cut:.{digits}g}" for cut in cuts]
        if len(set(texts)) == len(texts):
            break
    inner = [f"{low} – {high}" for low, high in itertools.pairwise(texts)]
    return [f"≤ {texts[0]}", *inner, f"> {texts[-1]}"]


def _class_cuts(
    rows: Rows,
    sketch: Quantiles,
    columns: list[int],
    better_encoding: bool,
) -> dict[int, np.ndarray]:
    """Cuts by the description length of the classes, from one pass over the rows."""
    if not columns:
        return {}
    # possible cuts are halfway between the values of the sketch
    values = [sketch.columns[j].values for j in columns]
    edges = tuple(midpoints(each[:-1], each[1:]) for each in values)
    bins = rows.reduce(partial(ClassBins.of, columns=tuple(columns), cuts=edges))
    return {
        j: mdl_cuts(edges[i], bins.counts[i], better_encoding)
        for i, j in enumerate(columns)
    }


def _are_classes(y: Target) -> bool:
    if is_dask(y):
        return getattr(y, "dtype", np.dtype(object)).kind != "f"
    try:
        return type_of_target(np.asarray(y)) in ("binary", "multiclass")
    except (TypeError, ValueError):
        return True  # refused with a better message later


# -- cuts by the classes ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClassBins:
    """The weight of every class between neighboring cuts of some columns; merges.

    Attributes
    ----------
    counts : tuple of arrays of shape (cuts + 1, classes)
        For every column; missing cells are left out.
    """

    counts: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls,
        block: Block,
        columns: tuple[int, ...],
        cuts: tuple[np.ndarray, ...],
    ) -> ClassBins:
        """The counts of a block.

        Parameters
        ----------
        block : Block
            Its target has classes.
        columns : places of columns
        cuts : ascending arrays, one per column
        """
        K = block.n_classes
        y = block.y
        assert y is not None
        tables = []
        for j, edges in zip(columns, cuts):
            x = np.asarray(block.X[:, j], dtype=np.float64)
            keep = ~np.isnan(x) & (y >= 0)
            # bin and class of a row as one number
            cells = np.searchsorted(edges, x[keep], side="left") * K + y[keep]
            w = None
            if block.w is not None:
                w = block.w[keep]
            counts = np.bincount(cells, w, (len(edges) + 1) * K)
            tables.append(counts.astype(np.float64).reshape(-1, K))
        return cls(tuple(tables))

    def merge(self, other: ClassBins) -> ClassBins:
        pairs = zip(self.counts, other.counts)
        return ClassBins(tuple(first + second for first, second in pairs))


def mdl_cuts(
    edges: np.ndarray, counts: np.ndarray, better_encoding: bool = False
) -> np.ndarray:
    """The cuts that shorten the description of the classes (Fayyad and Irani 1993).

    A stretch S of N rows is cut at T, the place of the least class entropy, if the information gain
    is more than [log₂(N - 1) + log₂(3^k - 2) - k H(S) + k₁ H(S₁) + k₂ H(S₂)] / N, where k is the
    number of classes in a stretch; then both parts are cut in the same way.

    Parameters
    ----------
    edges : ascending array of shape (m,)
        Where a cut is possible.
    counts : array of shape (m + 1, classes)
        The weight of every class between them.
    better_encoding : bool, default=False
        Whether the number of possible cuts of the stretch takes the place of N − 1.

    Examples
    --------
    >>> counts = np.array([[9.0, 0.0], [9.0, 1.0], [0.0, 9.0], [1.0, 9.0]])
    >>> mdl_cuts(np.array([1.0, 2.0, 3.0]), counts).tolist()
    [2.0]
    """
    # sums up to every bin: those of a stretch are a difference
    sums = np.concatenate([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
    cuts: list[int] = []
    stretches = [(0, len(counts))]
    while stretches:
        start, stop = stretches.pop()
        cut = _best_cut(sums, start, stop, better_encoding)
        if cut is not None:
            cuts.append(cut)
            stretches += [(start, cut), (cut, stop)]
    return edges[np.sort(np.array(cuts, dtype=int)) - 1]


def _best_cut(
    sums: np.ndarray, start: int, stop: int, better_encoding: bool
) -> int | None:
    """The place of the best cut of a stretch of bins, None if it does not pay."""
    if stop - start < 2:
        return None
    whole = sums[stop] - sums[start]
    left = sums[start + 1 : stop] - sums[start]
    right = whole - left
    N = whole.sum()
    n_left = left.sum(axis=1)
    n_right = right.sum(axis=1)
    if not N > 1:
        return None
    # N₁ H(S₁) + N₂ H(S₂) of every cut; infinite where one side is empty
    bits = n_left * entropy(left) + n_right * entropy(right)
    bits[(n_left <= 0) | (n_right <= 0)] = np.inf
    best = int(bits.argmin())
    if not np.isfinite(bits[best]):
        return None
    n_places = _n_values(sums[start : stop + 1]) - 1 if better_encoding else N - 1
    gain = entropy(whole) - bits[best] / N
    price = np.log2(n_places) + _delta(whole, left[best], right[best])
    return start + 1 + best if gain > price / N else None


def _n_values(sums: np.ndarray) -> int:
    """The number of bins that have rows, from the sums up to every bin."""
    return int(np.count_nonzero(np.diff(sums.sum(axis=1))))


def _delta(whole: np.ndarray, left: np.ndarray, right: np.ndarray) -> float:
    """log₂(3^k − 2) − k H(S) + k₁ H(S₁) + k₂ H(S₂), from the weights of the classes."""
    k = int((whole > 0).sum())
    bits = [int((part > 0).sum()) * entropy(part) for part in (whole, left, right)]
    # log₂(3^k − 2) without 3^k, which overflows for many classes
    return k * np.log2(3.0) + np.log2(1 - 2 * 3.0**-k) - bits[0] + bits[1] + bits[2]
