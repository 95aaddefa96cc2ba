"""RadialNetwork: what the classifier and the regressor of radial basis functions share."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import CATEGORICAL_FEATURES, Learner
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import ArraySource, Block, Column, Rows, Schema
from lyceum._core.solvers import ExpectationMaximization
from lyceum._core.statistics import seed_from
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.text import undetermined_fact
from lyceum._core.types import Data
from lyceum.errors import SettingError, number_setting
from lyceum.neighbors.radial.em import RadialMixture
from lyceum.neighbors.radial.units import RadialUnits, place_centers, start_widths
from lyceum.neighbors.smooth import minimize
from lyceum.neighbors.stored_rows import check_not_empty, moments_of, number_scales
from lyceum.report import Summary, Table

_COUNT = Interval(Integral, 1, None, closed="left")
# of the squares of every column, in the linear models that EM fits to units
_RIDGE = 1e-6
RADIAL_CONSTRAINTS: dict[str, list[Any]] = {
    "n_centers": [_COUNT],
    "centers": [StrOptions({"clustered", "sampled", "uniform"}), "array-like"],
    "bandwidth": [
        StrOptions({"shared", "own"}),
        Interval(Real, 0, None, closed="neither"),
    ],
    "units": [StrOptions({"constant", "linear"})],
    "fit_by": [StrOptions({"least_squares", "gradient", "em"})],
    "normalized": ["boolean", None],
    "alpha": [Interval(Real, 0, None, closed="left")],
    "standardize": ["boolean", StrOptions({"range"})],
    "max_iter": [_COUNT],
    "tol": [Interval(Real, 0, None, closed="left")],
    "random_state": ["random_state"],
    "record": ["boolean"],
    "categorical_features": CATEGORICAL_FEATURES,
}


class RadialNetwork(Learner):
    """Radial units in scaled columns, fitted to one or several target columns."""

    _parameter_docs: ClassVar[str] = """
    n_centers : int
        The number of units m; fewer where there are fewer distinct rows.
    centers : {"clustered", "sampled", "uniform"} or array of shape (m, d)
        Where the units are: at the centers of k-means, at random rows, or spread evenly over the
        ranges of the columns (equally spaced in one column, Halton's points in more); or the
        centers themselves.
    bandwidth : {"shared", "own"} or float
        The widths, in units of scaled columns. "own": the root mean square distance of a center to
        its two nearest others; "shared": the mean of these; or one number for all.
    units : {"constant", "linear"}
        Whether the output of a unit is a constant or a linear model.
    fit_by : {"least_squares", "gradient", "em"}
        "least_squares": centers and widths stay, weights are solved for. "gradient": quasi-Newton
        steps on the squared error then move centers, widths and weights together. "em": rows and
        targets are a mixture of units, each a Gaussian with a model of the target, fitted by
        expectation-maximization.
    normalized : bool or None
        Whether the activations of a row are divided by their sum; None does so for "em" alone.
    alpha : float
        The ridge penalty on the weights, relative to the mean square of the activations.
    max_iter : int
        The most iterations of "gradient" and "em".
    tol : float
        Where these stop: the largest part of the gradient, or the gain of log-likelihood per row.
    """

    _step_kind = StepKind(
        "iteration",
        (
            StepColumn(
                "objective",
                "loss",
                "the mean over rows of |f(x) − t|², of numbers in units of their spread;"
                " em: the log-likelihood; logistic outputs: the mean log loss",
            ),
            StepColumn(
                "centers",
                "c",
                "the centers of the units",
                axes=("unit", "column"),
                ends_in="centers_",
            ),
            StepColumn(
                "widths",
                "h",
                "the widths of the units",
                axes=("unit",),
                ends_in="widths_",
            ),
            StepColumn(
                "weights",
                "a",
                "the weights of the units",
                axes=("unit", "term", "output"),
                ends_in="weights_",
            ),
        ),
    )
    _reads_rows = "in memory"
    _coding = "every_category"
    _parameter_constraints: ClassVar[dict[str, Any]] = RADIAL_CONSTRAINTS
    history_axes: ClassVar[tuple[str, str]] = ("iteration", "objective")

    n_centers: int
    centers: Any
    bandwidth: Any
    units: str
    fit_by: str
    normalized: bool | None
    alpha: float
    standardize: Any
    max_iter: int
    tol: float
    random_state: int | np.random.RandomState | None
    record: bool

    centers_: np.ndarray
    widths_: np.ndarray
    log_gains_: np.ndarray
    weights_: np.ndarray
    bias_: np.ndarray
    mean_: np.ndarray
    scale_: np.ndarray
    n_undetermined_: int

    def _fit_rows(self, rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scaled rows, targets (of the subclass) and weights in memory."""
        block = rows.in_one_block(
            type(self).__name__, "lyceum.neural.MLPClassifier or MLPRegressor"
        )
        block = block.without_zero_weights()
        check_not_empty(self, block)
        held = Rows(ArraySource(block.X, block.y, block.w, block.schema, coded=True))
        moments = moments_of(held)
        self.mean_ = moments.mean
        self.scale_ = number_scales(
            moments, self.schema_, self._design, self.standardize
        )
        assert block.y is not None
        return self._scale_rows(block), block.y, np.array(block.weights)

    def _scale_rows(self, block: Block) -> np.ndarray:
        return (np.asarray(block.X, dtype=np.float64) - self.mean_) / self.scale_

    # -- fit ---------------------------------------------------------------------------

    def _fit_units(self, Z: np.ndarray, T: np.ndarray, w: np.ndarray) -> None:
        """Place the units and fit them to targets T, (n, K), of about mean 0 and spread 1."""
        normalized = bool(self.normalized)
        if self.normalized is None:
            normalized = self.fit_by == "em"
        if self.fit_by == "em" and not normalized:
            raise SettingError(
                "fit_by='em' makes normalized units: leave normalized at None"
            )
        v = w / w.sum()
        units = self._place_units(Z, v, normalized, T.shape[1])
        steps: list[dict[str, Any]] = []
        if self.fit_by == "em":
            units, history = self._by_em(units, Z, T, w, steps)
        else:
            units = units.solve(Z, T, v, float(self.alpha))
            history = [_error(units, Z, T, v)]
            steps.append(unit_step(units, history[0]))
            if self.fit_by == "gradient":
                units, history = self._by_gradient(units, Z, T, v, steps)
        self._keep_units(units)
        self.history_ = history
        self.n_iter_ = max(1, len(history) - 1)
        self._keep_steps(steps)

    def _place_units(
        self, Z: np.ndarray, v: np.ndarray, normalized: bool, K: int
    ) -> RadialUnits:
        d = Z.shape[1]
        if isinstance(self.centers, str):
            seed = seed_from(self.random_state)
            m = int(self.n_centers)
            centers = place_centers(Z, v * len(Z), m, self.centers, seed)
        else:
            centers = number_setting("centers", self.centers)
            if centers.ndim != 2 or centers.shape[1] != d or not len(centers):
                raise SettingError(
                    f"centers must have shape (m, {d}), one row per unit, but they have"
                    f" {centers.shape}"
                )
            centers = (centers - self.mean_) / self.scale_
        if isinstance(self.bandwidth, str):
            widths = start_widths(Z, v, centers, self.bandwidth == "shared")
        else:
            widths = np.full(len(centers), float(self.bandwidth))
        m = len(centers)
        linear = self.units == "linear"
        n_terms = 1 + d if linear else 1
        return RadialUnits(
            centers=centers,
            widths=widths,
            log_gains=np.zeros(m),
            normalized=normalized,
            linear=linear,
            weights=np.zeros((m, n_terms, K)),
            bias=np.zeros(K),
        )

    def _by_gradient(
        self,
        units: RadialUnits,
        Z: np.ndarray,
        T: np.ndarray,
        v: np.ndarray,
        steps: list[dict[str, Any]],
    ) -> tuple[RadialUnits, list[float]]:
        # a small penalty on weights alone: they are solved for at the end with all of alpha
        alpha = float(self.alpha) * 1e-3
        m, d = units.centers.shape
        widths = slice(m * d, m * d + m)

        def function(theta: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = units.unpack(theta).loss(Z, T, v, alpha)
            if self.bandwidth == "shared":  # all widths move together
                gradient[widths] = gradient[widths].mean()
            elif self.bandwidth != "own":
                gradient[widths] = 0.0
            return value, gradient

        def observe(point: Any) -> None:
            steps.append(unit_step(units.unpack(point.theta), 2.0 * point.value))

        descent = minimize(
            function, units.pack(), int(self.max_iter), float(self.tol), observe
        )
        history = (2.0 * np.asarray(descent.history)).tolist()
        # weights solved for at the last centers and widths, unless those of the descent are better
        moved = units.unpack(descent.point.theta)
        solved = moved.solve(Z, T, v, float(self.alpha))
        error = _error(solved, Z, T, v)
        if error <= _error(moved, Z, T, v):
            steps.append(unit_step(solved, error))
            return solved, history
        return replace(moved, n_undetermined=solved.n_undetermined), history

    def _by_em(
        self,
        units: RadialUnits,
        Z: np.ndarray,
        T: np.ndarray,
        w: np.ndarray,
        steps: list[dict[str, Any]],
    ) -> tuple[RadialUnits, list[float]]:
        d = Z.shape[1]
        K = T.shape[1]
        columns = tuple(Column(f"z{j}", why="scaled") for j in range(d + K))
        cells = np.hstack([Z, T])
        rows = Rows(ArraySource(cells, None, w, Schema(columns), coded=True))
        problem = RadialMixture(
            self.units == "linear", self.bandwidth == "shared", _RIDGE
        )
        loop = ExpectationMaximization(
            int(self.max_iter), float(self.tol), record=bool(self.record)
        )
        mean_squares = (T**2).mean(axis=1)
        spread = float(np.sqrt(np.average(mean_squares, weights=w)))
        outcome = loop.maximize(rows, problem, problem.start(units, K, spread))
        for step in outcome.record or ():
            step_units = step["parameters"].units(problem.linear)
            steps.append(unit_step(step_units, step["objective"]))
        history = [float(value) for value in outcome.history]
        return outcome.parameters.units(problem.linear), history

    def _keep_steps(self, steps: list[dict[str, Any]]) -> None:
        """Set the record, with centers in the units of the columns, as `centers_` is."""
        self.__dict__.pop("record_", None)
        if self.record:
            self.record_ = []
            for i, step in enumerate(steps):
                centers = step["centers"] * self.scale_ + self.mean_
                self.record_.append({"step": i, **step, "centers": centers})

    def _keep_units(self, units: RadialUnits) -> None:
        self.centers_ = units.centers * self.scale_ + self.mean_
        self.widths_ = units.widths
        self.log_gains_ = units.log_gains
        self.weights_ = units.weights
        self.bias_ = units.bias
        self.normalized_ = bool(units.normalized)
        self.n_undetermined_ = units.n_undetermined

    @property
    def _units(self) -> RadialUnits:
        return RadialUnits(
            centers=(self.centers_ - self.mean_) / self.scale_,
            widths=self.widths_,
            log_gains=self.log_gains_,
            normalized=self.normalized_,
            linear=self.units == "linear",
            weights=self.weights_,
            bias=self.bias_,
        )

    def activations(self, X: Data) -> np.ndarray:
        """The activations of the units by every row, (n_samples, m): 1 at a center, or shares that
        sum to 1.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        """
        return self._apply(self._activations, X)

    def _activations(self, block: Block) -> np.ndarray:
        return self._units.activations(self._scale_rows(block))

    # -- what was learned --------------------------------------------------------------

    def _walk(self, block: Block, score: Any) -> np.ndarray:
        """What every column adds on the way from the mean row to the row, column by column: (n, 1 +
        d).

        The first column is the score of the mean row.
        """
        Z = self._scale_rows(block)
        point = np.zeros_like(Z)
        before = score(point)
        out = np.empty((len(Z), 1 + Z.shape[1]))
        out[:, 0] = before
        for j in range(Z.shape[1]):
            point[:, j] = Z[:, j]
            after = score(point)
            out[:, 1 + j] = after - before
            before = after
        return out

    def summary(self) -> Summary:
        """The units: centers, widths and weights."""
        head = super().summary()
        n_weights = self.weights_[:, :, 0].size + (not self.normalized_)
        facts = {
            **head.facts,
            "units": len(self.centers_),
            "of": f"{self.units} models" if self.units == "linear" else "constants",
            "centers": self.centers if isinstance(self.centers, str) else "given",
            "fitted by": self.fit_by.replace("_", " "),
            "normalized": self.normalized_,
            "objective": self.history_[-1],
            **undetermined_fact(self.n_undetermined_, n_weights, "weight"),
        }
        rows = [
            (i, float(width), *center.tolist())
            for i, (center, width) in enumerate(zip(self.centers_, self.widths_))
        ]
        names = (f"center, {name}" for name in self.design_names)
        table = Table("Units", ("unit", "width", *names), rows)
        return Summary(head.title, facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        m = len(self.widths_)
        d = len(self.design_names)
        K = len(self.bias_)
        return {
            "centers_": (m, d),
            "widths_": (m,),
            "log_gains_": (m,),
            "weights_": (m, 1 + d if self.units == "linear" else 1, K),
            "bias_": (K,),
            "mean_": (d,),
            "scale_": (d,),
        }


def _error(units: RadialUnits, Z: np.ndarray, T: np.ndarray, v: np.ndarray) -> float:
    """The weighted mean of the squared errors."""
    return float(v @ ((units.outputs(Z) - T) ** 2).sum(axis=1))


def unit_step(units: RadialUnits, objective: float) -> dict[str, Any]:
    """What `record_` keeps of a step."""
    return {
        "objective": objective,
        "centers": units.centers,
        "widths": units.widths,
        "weights": units.weights,
    }
