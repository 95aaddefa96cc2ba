"""Expectation-maximization over rows from any source, with a likelihood that may not fall."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum._core.data import Block, Rows
from lyceum._core.progress import report
from lyceum._core.report import Shown
from lyceum.errors import DataError, SettingError, undefined

_ROUNDING = 1e-10  # a fall of the objective by this part of its size is rounding error


@dataclass(frozen=True, slots=True)
class Expectation:
    """The result of an E-step on some rows; merges.

    Attributes
    ----------
    statistic : Statistic
        The expected sufficient statistic, e.g. a `ClassScatter` weighted by responsibilities.
    log_likelihood : float
        Σ w log p(x) of the rows under the parameters of the E-step.
    weight : float
        The weight of the rows.

    See Also
    --------
    EMProblem : Its `expectation` makes one from a block.
    lyceum.statistics.ClassScatter : A statistic that takes responsibilities.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.solvers import Expectation
    >>> from lyceum.statistics import Scatter
    >>> scatter = np.array([[2.0]])
    >>> one = Scatter(2, 2.0, mean=np.array([1.0]), scatter=scatter, targets=0)  # of 0 and 2
    >>> two = Scatter(2, 2.0, mean=np.array([3.0]), scatter=scatter, targets=0)  # of 2 and 4
    >>> both = Expectation(one, -5.0, 2.0).merge(Expectation(two, -4.0, 2.0))
    >>> both.log_likelihood, both.statistic.mean.tolist(), both.statistic.scatter.tolist()
    (-9.0, [2.0], [[8.0]])
    """

    statistic: Any
    log_likelihood: float
    weight: float

    def merge(self, other: Expectation) -> Expectation:
        """The E-step on the rows of both."""
        return Expectation(
            self.statistic.merge(other.statistic),
            self.log_likelihood + other.log_likelihood,
            self.weight + other.weight,
        )


class EMProblem:
    """A model with hidden variables, as expectation-maximization sees it; a base class with three
    methods.

    The parameters of the model may be any value. `expectation` must be picklable with the problem,
    so that it runs on Dask.

    See Also
    --------
    ExpectationMaximization : The loop over E-steps and M-steps.
    Expectation : What `expectation` returns.

    Examples
    --------
    Two Gaussians of variance 1 and equal weight; which one a row comes from is hidden:

    >>> import numpy as np
    >>> from lyceum.data import scan
    >>> from lyceum.solvers import EMProblem, Expectation, ExpectationMaximization
    >>> from lyceum.statistics import ClassMoments
    >>> class TwoGaussians(EMProblem):
    ...     def expectation(self, block, parameters):
    ...         joint = -((block.X - parameters) ** 2) / 2 - np.log(2 * np.sqrt(2 * np.pi))
    ...         log_p = np.logaddexp.reduce(joint, axis=1)
    ...         shares = np.exp(joint - log_p[:, None])
    ...         moments = ClassMoments.of(block, responsibilities=shares)
    ...         return Expectation(moments, log_p.sum(), block.weight)
    ...     def maximization(self, statistic):
    ...         return statistic.mean[:, 0]
    >>> rows = scan(np.array([[-4.0], [-2.0], [2.0], [4.0]]))
    >>> found = ExpectationMaximization().maximize(rows, TwoGaussians(), np.array([-1.0, 1.0]))
    >>> found.parameters.round(3).tolist()
    [-3.0, 3.0]
    """

    def expectation(self, block: Block, parameters: Any) -> Expectation:
        """E-step on a block of rows: expected statistic and log-likelihood under the parameters."""
        raise undefined(self, "expectation")

    def maximization(self, statistic: Any) -> Any:
        """M-step: the parameters from the expected statistic of all rows."""
        raise undefined(self, "maximization")

    def log_prior(self, parameters: Any) -> float:
        """The log prior of the parameters, for M-steps that maximize a posterior; 0 otherwise."""
        return 0.0


@dataclass(frozen=True, slots=True)
class EMOutcome(Shown):
    """Where expectation-maximization stopped.

    Attributes
    ----------
    parameters : any
        The parameters of the last M-step.
    objective : float
        The log-likelihood of all rows at `parameters`, plus the log prior if there is one.
    n_iter : int
        The number of M-steps.
    converged : bool
        Whether the last iteration gained at most `tol` per unit of weight.
    history : list of float
        The objective at the start and after every iteration.
    record : list of dict or None
        With `record=True`: `step`, `objective`, `gain` and `parameters` of the start and every
        iteration.
    start_objectives : tuple of float
        The final objective from every start, in order.
    weight : float
        The weight of all rows.

    See Also
    --------
    ExpectationMaximization : What returns it.
    Outcome : The same for solvers of smooth problems.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.data import scan
    >>> from lyceum.solvers import EMProblem, Expectation, ExpectationMaximization
    >>> from lyceum.statistics import Moments
    >>> class Mean(EMProblem):  # of N(μ, 1), up to a constant: nothing is hidden, one step will do
    ...     def expectation(self, block, parameters):
    ...         log_p = -((block.X - parameters) ** 2).sum() / 2
    ...         return Expectation(Moments.of(block), log_p, block.weight)
    ...     def maximization(self, statistic):
    ...         return statistic.mean
    >>> rows = scan(np.array([[1.0], [2.0], [6.0]]))
    >>> found = ExpectationMaximization().maximize(rows, Mean(), np.zeros(1))
    >>> found.parameters.tolist(), found.converged, [float(value) for value in found.history]
    ([3.0], True, [-20.5, -7.0, -7.0])
    """

    parameters: Any
    objective: float
    n_iter: int
    converged: bool
    history: list[float]
    record: list[dict[str, Any]] | None = None
    start_objectives: tuple[float, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ExpectationMaximization:
    """Maximize the likelihood of a model with hidden variables, one pass over the rows per
    iteration.

    An iteration is an M-step (parameters from the expected statistic) and an E-step (expected
    statistic and log-likelihood L from the parameters). No iteration can lower L, or L plus the log
    prior; if one does by more than rounding, a `ConvergenceWarning` says so and the parameters
    before it are returned.

    Parameters
    ----------
    max_iter : int, default=100
        The most iterations; a `ConvergenceWarning` says when they were not enough.
    tol : float, default=1e-4
        Stop when an iteration gains at most this much log-likelihood per unit of weight.
    record : bool, default=False
        Whether to keep the parameters of every iteration.

    See Also
    --------
    EMProblem : The model.
    EMOutcome : What `maximize` returns.
    lyceum.mixtures.GaussianMixture : A learner that is fitted so.
    lyceum.bayesnets.expectation_maximization : The parameters of a network from incomplete rows.

    References
    ----------
    A. P. Dempster, N. M. Laird and D. B. Rubin, "Maximum likelihood from incomplete data via the EM
    algorithm", Journal of the Royal Statistical Society B 39, 1977.

    Examples
    --------
    Two coins, of which one is tossed ten times per row; which one is hidden:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum.solvers import EMProblem, Expectation, ExpectationMaximization
    >>> class Coins(EMProblem):
    ...     def expectation(self, block, parameters):
    ...         heads = block.X
    ...         joint = np.log(parameters) * heads + np.log1p(-parameters) * (10 - heads)
    ...         log_p = np.logaddexp.reduce(joint, axis=1) - np.log(2)
    ...         share = np.exp(joint - joint.max(axis=1, keepdims=True))
    ...         share /= share.sum(axis=1, keepdims=True)
    ...         sums = _Sums(share.T @ heads[:, 0], share.sum(axis=0))
    ...         return Expectation(sums, log_p.sum(), len(block))
    ...     def maximization(self, statistic):
    ...         return statistic.heads / (10 * statistic.rows)
    >>> @dataclass
    ... class _Sums:
    ...     heads: np.ndarray
    ...     rows: np.ndarray
    ...     def merge(self, other):
    ...         return _Sums(self.heads + other.heads, self.rows + other.rows)
    >>> rows = scan(pa.table({"heads": [5.0, 9.0, 8.0, 4.0, 7.0]}))
    >>> found = ExpectationMaximization(tol=1e-9).maximize(rows, Coins(), np.array([0.6, 0.5]))
    >>> found.parameters.round(2).tolist(), found.converged
    ([0.8, 0.52], True)
    """

    max_iter: int = 100
    tol: float = 1e-4
    record: bool = False

    def maximize(self, rows: Rows, problem: EMProblem, start: Any) -> EMOutcome:
        """The parameters that the iterations from `start` lead to.

        Parameters
        ----------
        rows : Rows
            Read once per iteration.
        problem : EMProblem
        start : any
            The parameters to start from.
        """
        return self.maximize_from(rows, problem, [start])

    def maximize_from(
        self,
        rows: Rows,
        problem: EMProblem,
        starts: Iterable[Any],
    ) -> EMOutcome:
        """The outcome with the largest objective of several starts; the first one of equal ones."""
        best: EMOutcome | None = None
        objectives: list[float] = []
        for start in starts:
            outcome = self._run(rows, problem, start)
            objectives.append(outcome.objective)
            if best is None or outcome.objective > best.objective:
                best = outcome
        if best is None:
            raise SettingError(
                "starts is empty: give the parameters of one start at least"
            )
        if not best.converged and len(best.history) == self.max_iter + 1:
            self._warn_of_limit(best)
        return replace(best, start_objectives=tuple(objectives))

    def _run(self, rows: Rows, problem: EMProblem, parameters: Any) -> EMOutcome:
        here, weight = _evaluate(rows, problem, parameters, 0)
        history = [here.objective]
        steps = [_step(here, 0, np.nan)]
        converged = False
        for step in range(1, self.max_iter + 1):
            report("iterations", step - 1, self.max_iter)
            # the M-step from the statistic at hand, and the E-step of the next: one pass
            better = problem.maximization(here.statistic)
            there, _ = _evaluate(rows, problem, better, step)
            gain = there.objective - here.objective
            if gain < -_ROUNDING * max(abs(here.objective), weight):
                warnings.warn(
                    f"expectation-maximization stopped: iteration {step} lowered the"
                    f" log-likelihood by {-gain:.3g}, which an exact M-step cannot do; the"
                    " parameters before it are returned. A ridge on singular covariances does"
                    " this: give the model a prior instead",
                    ConvergenceWarning,
                    stacklevel=4,
                )
                break
            here = there
            history.append(here.objective)
            if self.record:
                steps.append(_step(here, step, gain))
            # the gain per unit of weight, so that the tolerance does not depend on the rows
            if gain <= self.tol * weight:
                converged = True
                break
        return EMOutcome(
            here.parameters,
            here.objective,
            n_iter=len(history) - 1,
            converged=converged,
            history=history,
            record=steps if self.record else None,
            weight=weight,
        )

    def _warn_of_limit(self, outcome: EMOutcome) -> None:
        gain = np.inf
        if len(outcome.history) > 1:
            gain = outcome.history[-1] - outcome.history[-2]
        warnings.warn(
            f"expectation-maximization stopped after max_iter={self.max_iter} iterations, the last"
            f" of which still gained {gain:.3g} log-likelihood. Best performing initialization did"
            " not converge. Try different init parameters, or increase max_iter, tol, or check for"
            " degenerate data.",
            ConvergenceWarning,
            stacklevel=4,
        )


@dataclass(frozen=True, slots=True)
class _Point:
    """Parameters, the expected statistic under them, and the log-likelihood plus log prior."""

    parameters: Any
    statistic: Any
    objective: float


def _evaluate(
    rows: Rows,
    problem: EMProblem,
    parameters: Any,
    step: int,
) -> tuple[_Point, float]:
    of = partial(problem.expectation, parameters=parameters)
    expectation: Expectation = rows.reduce(of)
    objective = expectation.log_likelihood + problem.log_prior(parameters)
    if np.isnan(objective):
        raise DataError(
            f"the log-likelihood is not a number after {step} iterations: start from other"
            " parameters, or give the model a prior that keeps it away from singular ones"
        )
    point = _Point(parameters, expectation.statistic, float(objective))
    return point, expectation.weight


def _step(point: _Point, step: int, gain: float) -> dict[str, Any]:
    return {
        "step": step,
        "objective": point.objective,
        "gain": gain,
        "parameters": point.parameters,
    }
