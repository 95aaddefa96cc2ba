"""Features whose products approximate a kernel: a linear machine behind them is a kernel machine on
files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Column, Design, Schema, dense_cells
from lyceum._core.statistics import Moments, RowSample, seed_from
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.kernels.functions.base import Kernel, double_gram
from lyceum.kernels.kernel_learner import KERNEL_CONSTRAINTS, KernelLearner
from lyceum.prepare import Transformer
from lyceum.report import Summary, Table

_ZERO = 1e-12  # eigenvalues below this share of the largest are zero


class Nystroem(Transformer, KernelLearner):
    """Features of any kernel from a sample of the rows (Nyström).

    .. math:: \\phi(x) = K_{mm}^{-1/2} \\, k_m(x), \\qquad \\phi(x) \\cdot \\phi(y) \\approx k(x, y)

    with k_m(x) the kernel values of x with m rows that were drawn, and K_mm theirs with each other.
    For these rows, products of features are kernel values exactly. Fitting is one pass over the
    rows, `transform` is a step of blocks: a pipeline of `Nystroem` and a linear machine learns from
    files larger than memory.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "rbf", "linear", "poly", "sigmoid" or "distance"; a kernel object; a function of two rows
        or of two matrices; or "precomputed": X holds the kernel values of all pairs of rows.
    coef0 : float or None, default=None
        The shift c of "poly" and "sigmoid"; None is 1.
    degree : int or None, default=None
        The degree of "poly"; None is 3.
    n_components : int, default=100
        How many rows are drawn, m; all if there are fewer.

    Attributes
    ----------
    rows_ : array of shape (m, n_columns)
        The rows that were drawn.
    component_indices_ : array of shape (m,)
        Their numbers in the rows of `fit`.
    root_ : array of shape (m, m)
        The inverse root of K_mm; of its eigenvalues, those that are zero are left out.
    rank_ : int
        The number of the others.
    components_, normalization_ : the same two by scikit-learn's names
    kernel_ : Kernel
        The kernel, with what it learned.

    See Also
    --------
    RBFSampler : Features of the RBF kernel without a sample.
    KernelRidge : The kernel itself, where all pairs fit into memory.

    References
    ----------
    Williams and Seeger (2001), Using the Nyström method to speed up kernel machines, NIPS 13.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from lyceum.kernels import Nystroem
    >>> from lyceum.linear import Ridge
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> y = np.sin(x[:, 0])
    >>> features = Nystroem(n_components=20, gamma=1.0, random_state=0)
    >>> model = make_pipeline(features, Ridge(alpha=1e-3)).fit(x, y)
    >>> round(model.score(x, y), 3)
    1.0
    """

    _alternative: ClassVar[str] = "a sample of the rows"
    # a transformer's: `_design` makes the columns that the kernel sees
    _coding = "codes"  # type: ignore[assignment]
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        **KERNEL_CONSTRAINTS,
        "degree": [*KERNEL_CONSTRAINTS["degree"], None],
        "coef0": [*KERNEL_CONSTRAINTS["coef0"], None],
        "kernel_params": [dict, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: object = None,
        coef0: float | None = None,
        degree: int | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Draw rows, and factor their kernel values; one pass.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Rows are drawn with chances that follow their weights.
        """
        rows = self._rows(X, None, sample_weight)
        chosen = self._chosen_kernel()
        if chosen.takes_categories:
            raise SettingError(
                f"Nystroem draws rows of numbers, which {chosen!r} does not compare: use"
                " KernelRidge"
            )
        size = int(self.n_components)
        of = partial(_Sampled.of, size=size, seed=seed_from(self.random_state))
        drawn = rows.then(_design(self.schema_)).reduce(of)
        cells = dense_cells(drawn.sample.X)
        self.rows_ = np.array(cells, dtype=np.float64, order="C")
        self.component_indices_ = drawn.sample.rows
        # γ by a rule follows from the moments of all rows, not of the sample
        rule = getattr(chosen, "gamma", None)
        if isinstance(rule, str):
            gamma = _gamma(rule, drawn.moments)
            chosen = type(chosen)(**{**vars(chosen), "gamma": gamma})
        self.kernel_ = chosen
        if not self._is_precomputed:
            self.kernel_ = chosen.learn(self.rows_)
        # K_mm^(-1/2) = U S^(-1/2) Uᵀ over the directions that are not rounding
        if self._is_precomputed:
            K = self.rows_[:, self.component_indices_]
        else:
            K = double_gram(self.kernel_, self.rows_)
        s, U = linalg.eigh(K, check_finite=False)
        is_positive = s > _ZERO * max(s[-1], np.finfo(float).tiny)
        self.rank_ = int(is_positive.sum())
        U = U[:, is_positive]
        self.root_ = (U / np.sqrt(s[is_positive])) @ U.T
        return self

    def _chosen_kernel(self) -> Kernel:
        is_named = isinstance(self.kernel, str) and self.kernel != "precomputed"
        settings = (self.gamma, self.coef0, self.degree)
        if not is_named and any(value is not None for value in settings):
            raise SettingError(
                "Don't pass gamma, coef0 or degree to Nystroem with a kernel that is no name: give"
                " them to the kernel itself, or as kernel_params of a function"
            )
        return super()._chosen_kernel()

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return False

    @property
    def components_(self) -> np.ndarray:
        """The rows that were drawn, by scikit-learn's name."""
        return self.rows_

    @property
    def normalization_(self) -> np.ndarray:
        """The inverse root of their kernel values, by scikit-learn's name."""
        return self.root_

    def _steps(self) -> Any:
        return Transformer._steps(self)

    def _step(self, schema: Schema) -> _Features:
        made = partial(_kernel_values, self.kernel_, self.rows_, self.root_)
        if self._is_precomputed:
            made = partial(_given_values, self.component_indices_, self.root_)
        return _Features(_design(schema), made, _names("nystroem", len(self.rows_)))

    def summary(self) -> Summary:
        """The kernel, the rows drawn, and how many dimensions they span."""
        check_is_fitted(self)
        facts = {
            "rows": self.n_rows_,
            "kernel": repr(self.kernel_),
            "rows drawn": len(self.rows_),
            "rank": self.rank_,
        }
        return Summary(self._title(), facts)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        m = len(self.rows_)
        d = len(_design(Schema(self.schema_.columns)).after)
        return {"rows_": (m, d), "root_": (m, m), "component_indices_": (m,)}


class RBFSampler(Transformer):
    """Features of the RBF kernel from random waves.

    .. math:: \\phi(x) = \\sqrt{2/D} \\, [\\cos \\Omega (x - m), \\sin \\Omega (x - m)], \\qquad
        \\Omega_{ij} \\sim N(0, 2\\gamma)

    E[φ(x)·φ(y)] = exp(-γ |x - y|²), with an error of the order of 1/√D for any rows; φ(x)·φ(x) = 1
    if D is even. Nothing but means and variances is learned from the rows, in one pass; `transform`
    is a step of blocks, so that a linear machine behind it is a kernel machine on files larger than
    memory.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        γ = 1 / (2σ²); "scale" is 1 / (d · variance of the cells), "auto" is 1 / d.
    n_components : int, default=100
        The number D of features. A wave gives two, a cosine and a sine; the last of an odd number
        gives one, a cosine with a random phase.

    Attributes
    ----------
    frequencies_ : array of shape (ceil(D / 2), n_columns)
        Ω.
    phase_ : float
        The phase of the last wave: 0 for an even D.
    mean_ : array of shape (n_columns,)
        The means m of the design columns, which do not change the kernel but keep digits.
    random_weights_, random_offset_ : arrays of shape (n_columns, D) and (D,)
        W and b of √(2/D) cos(xᵀW + b), scikit-learn's form of the same features.
    gamma_ : float
        γ as used.

    See Also
    --------
    Nystroem : Features of any kernel, which adapt to the rows.

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines, NIPS 20.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.kernels import RBFKernel, RBFSampler
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> Z = RBFSampler(n_components=4000, gamma=0.2, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - RBFKernel(gamma=0.2).gram(X)).max() < 0.1)
    True
    """

    _takes_missing = False
    _takes_sparse = True
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "gamma": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"scale", "auto"}),
        ],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        n_components: int = 100,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Draw the waves; one pass for means and variances.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : ignored
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, None, sample_weight)
        moments = rows.then(_design(self.schema_)).reduce(Moments.of)
        d = len(moments.mean)
        self.mean_ = moments.mean
        if isinstance(self.gamma, str):
            self.gamma_ = _gamma(self.gamma, moments)
        else:
            self.gamma_ = float(self.gamma)
        # exp(-γ|z|²) is the mean of cos ω·z over ω ~ N(0, 2γ I) (Bochner); a wave has a cosine and
        # a sine, and the last of an odd number of features a cosine at a random phase
        rng = np.random.default_rng(seed_from(self.random_state))
        n_waves = -(-self.n_components // 2)
        normal = rng.standard_normal((n_waves, d))
        self.frequencies_ = np.sqrt(2.0 * self.gamma_) * normal
        self.phase_ = 0.0
        if self.n_components % 2:
            self.phase_ = float(rng.uniform(0.0, 2.0 * np.pi))
        return self

    @property
    def random_weights_(self) -> np.ndarray:
        """W of φ(x) = √(2/D) cos(xᵀW + b), scikit-learn's form, (n_columns, D)."""
        waves = self.frequencies_
        return np.concatenate([waves, waves[: self.n_components // 2]]).T

    @property
    def random_offset_(self) -> np.ndarray:
        """b of φ(x) = √(2/D) cos(xᵀW + b), (D,): a sine is a cosine a quarter behind."""
        angle = -self.frequencies_ @ self.mean_
        angle[-1] += self.phase_
        sines = angle[: self.n_components // 2] - np.pi / 2
        return np.concatenate([angle, sines])

    def _step(self, schema: Schema) -> _Features:
        made = partial(
            _waves,
            self.frequencies_,
            self.phase_,
            self.mean_,
            self.n_components,
        )
        return _Features(_design(schema), made, _names("rbfsampler", self.n_components))

    def summary(self) -> Summary:
        """The width, and the waves."""
        check_is_fitted(self)
        lengths = np.linalg.norm(self.frequencies_, axis=1)
        facts = {
            "rows": self.n_rows_,
            "kernel": f"RBFKernel(gamma={self.gamma_:.4g})",
            "waves": len(lengths),
        }
        rows = [
            ("least", float(lengths.min())),
            ("mean", float(lengths.mean())),
            ("largest", float(lengths.max())),
        ]
        table = Table("Lengths of frequencies", ("", "length"), rows)
        return Summary(self._title(), facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(_design(Schema(self.schema_.columns)).after)
        return {"frequencies_": (len(self.frequencies_), d), "mean_": (d,)}


# -- what one pass tells ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sampled:
    """A sample of the rows, and the moments of all."""

    sample: RowSample
    moments: Moments

    @classmethod
    def of(cls, block: Block, size: int, seed: int) -> _Sampled:
        sample = RowSample.of(block, size, seed)
        return cls(sample, Moments.of(block.without_zero_weights()))

    def merge(self, other: _Sampled) -> _Sampled:
        sample = self.sample.merge(other.sample)
        return _Sampled(sample, self.moments.merge(other.moments))


def _design(schema: Schema) -> Design:
    # as the kernel itself sees rows: see `cells_of`
    return Design(Schema(schema.columns), every=True, sparse=True)


def _gamma(rule: str, moments: Moments) -> float:
    d = len(moments.mean)
    if rule == "auto":
        return 1.0 / d
    # of all cells: the mean variance within the columns, and that of the column means
    variance = float(moments.variance().mean() + moments.mean.var())
    if variance > 0:
        return 1.0 / (d * variance)
    return 1.0


# -- blocks ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Features:
    """Cells replaced by features."""

    design: Design
    made: Any
    names: tuple[str, ...]

    def schema(self, schema: Schema) -> Schema:
        columns = tuple(Column(name) for name in self.names)
        return Schema(columns, schema.target, schema.weight)

    def __call__(self, block: Block) -> Block:
        X = self.design(block).X
        kind = X.dtype if X.dtype.kind == "f" else np.float64
        features = np.ascontiguousarray(self.made(X), dtype=kind)
        return block.with_X(features, self.schema(block.schema))


def _names(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{k}" for k in range(count))


def _kernel_values(
    kernel: Kernel,
    rows: np.ndarray,
    root: np.ndarray,
    X: Data,
) -> np.ndarray:
    return double_gram(kernel, X, rows) @ root


def _given_values(indices: np.ndarray, root: np.ndarray, X: Data) -> np.ndarray:
    """Features of rows of kernel values with all rows of `fit`."""
    return dense_cells(X)[:, indices] @ root


def _waves(
    frequencies: np.ndarray,
    phase: float,
    mean: np.ndarray,
    n_components: int,
    X: Data,
) -> np.ndarray:
    """√(2/D) times the cosines of all waves, then the sines of those that have both."""
    if sparse.issparse(X):
        angle = X @ frequencies.T - frequencies @ mean
    else:
        angle = (X - mean) @ frequencies.T
    # 2 cos(a + b) cos(c + b) is cos(a - c) in the mean over a random phase b, as cosine and sine
    angle[:, -1] += phase
    sines = np.sin(angle[:, : n_components // 2])
    waves = np.concatenate([np.cos(angle), sines], axis=1)
    return waves * np.sqrt(2.0 / n_components)
