"""How the penalized log loss is minimized: which solver, from where, and whether a minimum exists.

Besides the solvers of every smooth problem there is proximal Newton, for a penalty on absolute
values.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum._core.data import Block
from lyceum._core.native import native
from lyceum._core.solvers import (
    LBFGS,
    ConjugateGradient,
    GradientDescent,
    LevenbergMarquardt,
    Newton,
    Observer,
    Outcome,
    Point,
    Solver,
    descent_loop,
    newton_on_support,
)
from lyceum._core.statistics import PositiveFactor
from lyceum._core.types import Estimator
from lyceum.errors import SettingError
from lyceum.linear.least_squares.base import warn_dependent
from lyceum.linear.linear_scores import class_leads
from lyceum.linear.logistic.bounds import minimize_by_turns
from lyceum.linear.logistic.log_loss import LogLoss
from lyceum.linear.logistic.penalty_settings import STOPPED_SHORT

SMALL = 300  # parameters up to which summing the Hessian over the rows is cheap
# parameters up to which proximal Newton can hold the Hessian
_MOST = 5000

SOLVERS: dict[str, Solver] = {
    "irls": Newton(),
    "levenberg_marquardt": LevenbergMarquardt(),
    "lbfgs": LBFGS(),
    "conjugate_gradient": ConjugateGradient(),
    "gradient_descent": GradientDescent(),
}

Start = tuple[np.ndarray, np.ndarray] | None  # coefficients, and intercepts at x = 0


def minimize(
    problem: LogLoss,
    solver: str,
    max_iter: int,
    tol: float,
    last: Start,
    observer: Observer | None,
) -> Outcome:
    """The minimum of the penalized loss, from the parameters `last` or from the discriminant."""
    if problem.penalty.l1 > 0:
        return _minimize_by_proximal_newton(problem, max_iter, tol, last, observer)
    if solver == "bound":
        theta = starting_point(problem, last, False).theta
        return minimize_by_turns(problem, theta, max_iter, tol, observer)
    if solver == "auto":
        solver = "irls" if problem.n_free <= SMALL else "lbfgs"
    method = SOLVERS[solver]
    start = starting_point(problem, last, method.needs_hessian)
    # where the first Newton step from the discriminant is too long, "irls" starts from the
    # intercepts alone, where the Hessian is that of the columns
    if solver == "irls" and last is None:
        method = Newton(second_start=lambda: problem.evaluate(problem.null(), True))
    return method.minimize(problem, start, max_iter, tol, observer)


def starting_point(problem: LogLoss, last: Start, hessian: bool) -> Point:
    """The parameters of the last fit if they suit; else the discriminant, or intercepts alone if
    better."""
    shape = (problem.outputs, problem.shape[1] - 1)
    if last is not None and last[0].shape == shape:
        # θ has its intercepts at the column means: b₀ + b·x̄
        coef, intercept = last
        at_mean = np.zeros_like(intercept)
        if problem.fit_intercept:
            at_mean = intercept + coef @ problem.shift
        theta = np.column_stack([coef, at_mean])
        if problem.reference is not None:
            theta = theta - theta[problem.reference]
        return problem.evaluate(theta, hessian)
    start = problem.evaluate(problem.start(), hessian)
    if start.value <= problem.null_value * (1 + 1e-9):
        return start
    return problem.evaluate(problem.null(), hessian)


# -- what is refused, and what is warned of ----------------------------------------------


def check_settings(learner: Estimator) -> None:
    """Refuse what cannot go together."""
    l1 = learner._l1_ratio > 0 and not np.isinf(learner._C)
    averages = learner.standard_errors is True or learner.posterior != "plugin"
    is_sigmoid = learner._solver == "sigmoid_bound"
    is_recursive = learner._solver == "recursive"
    refusals = {
        f"solver={learner._solver!r} cannot take l1_ratio={learner._l1_ratio}: give"
        " solver='auto'": (l1 and learner._solver != "auto"),
        "standard errors and posteriors of the weights need l1_ratio=0: with an L1 penalty the"
        " weights have no Gaussian about their mode": l1 and averages,
        "standard errors and posteriors of the weights need their mode, which"
        " solver='sigmoid_bound' only comes near: give solver='lbfgs'": is_sigmoid
        and averages,
        "solver='sigmoid_bound' is for three classes and more: two have no sum to bound, take"
        " solver='auto'": is_sigmoid and len(learner.classes_) == 2,
        "solver='recursive' starts from the prior N(0, C) of the weights: give a finite C": (
            is_recursive and np.isinf(learner._C)
        ),
        "solver='recursive' cannot know the deviations of the columns beforehand: standardize"
        " them first, e.g. by lyceum.prepare.StandardScaler()": (
            is_recursive and learner.standardize
        ),
        "solver='recursive' cannot know the class shares beforehand: give class_weight as a"
        " dict": is_recursive and learner.class_weight == "balanced",
        "solver='recursive' goes on by partial_fit: give warm_start=False": (
            is_recursive and learner.warm_start
        ),
    }
    given = learner.learning_rate is not None
    refusals |= {
        f"learning_rate={learner.learning_rate} is the step of solver='gradient_descent', not of"
        f" {learner._solver!r}": given and learner._solver != "gradient_descent",
        "coef_init is where steps of a given length start: give solver='gradient_descent' and a"
        " learning_rate": learner.coef_init is not None and not given,
    }
    for why, is_wrong in refusals.items():
        if is_wrong:
            raise SettingError(why)
    if learner.reference is not None:
        learner._index_of(learner.reference)


def warn_of_fit(
    learner: Estimator,
    problem: LogLoss,
    outcome: Outcome,
    factor: PositiveFactor | None,
) -> None:
    """Warn of an optimum at infinity, a stop before the optimum, and columns that depend on
    each other."""
    if learner.separated_:
        warnings.warn(
            "the classes are separated by the columns, so that the likelihood has no maximum"
            " and coefficients and standard errors grow without end: give a finite C",
            ConvergenceWarning,
            stacklevel=5,
        )
    elif not outcome.converged:
        slope = outcome.point.gradient
        if problem.penalty.l1 > 0:
            slope = ProximalNewton(problem.penalty.l1).violation(outcome.point)
        size = f" with a gradient of {problem.size(slope):.1e}"
        if learner._solver == "sigmoid_bound":
            size = ""
        words = STOPPED_SHORT.get(learner.solver, "").format(n=learner.max_iter)
        warnings.warn(
            f"{words}{': ' if words else ''}LogisticRegression stopped after"
            f" max_iter={learner.max_iter} iterations{size}, short of tol={learner.tol:g}: raise"
            " max_iter, or lower C",
            ConvergenceWarning,
            stacklevel=5,
        )
    if np.isinf(learner._C) and factor is not None and len(factor.dependent):
        warn_dependent(learner, learner.design_names, factor, problem.spread.n_rows)


# -- separation ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lead:
    """The least and the greatest lead of a row's class over the best other one, along θ."""

    least: float
    greatest: float

    @classmethod
    def of(cls, block: Block, coef: np.ndarray, intercept: np.ndarray) -> Lead:
        assert block.y is not None
        lead = class_leads(block.X @ coef.T + intercept, block.y)
        if block.w is not None:
            lead = lead[block.w > 0]
        least = float(lead.min(initial=np.inf))
        greatest = float(lead.max(initial=-np.inf))
        return cls(least, greatest)

    def merge(self, other: Lead) -> Lead:
        least = min(self.least, other.least)
        return Lead(least, max(self.greatest, other.greatest))


def is_separated(problem: LogLoss, outcome: Outcome) -> bool:
    """Whether the classes are separated, wholly or in part (Albert and Anderson, 1984): then the
    loss without a penalty has no minimum.

    Wholly: every row's class leads. In part: one more Newton step would still move the lead of some
    rows by a tenth or more, and that of no row back.
    """

    def lead(theta: np.ndarray) -> Lead:
        coef = theta[:, :-1]
        intercept = theta[:, -1] - coef @ problem.shift
        return problem.rows.reduce(partial(Lead.of, coef=coef, intercept=intercept))

    if lead(outcome.point.theta).least > 0:
        return True
    if outcome.point.hessian is None:
        return False
    onward = lead(problem.newton_step(outcome.point))
    return onward.greatest > 0.1 and onward.least > -0.01 * onward.greatest


# -- proximal Newton -------------------------------------------------------------------

# coefficients that may leave zero in one step, or as many as are not zero
_MOST_NEW = 64
_STAGE = 3.0  # by which the penalty falls from one stage of the start to the next
# of what the last step promised: how far the model may be from its minimum
_SHARE = 1e-6
_EPOCHS = 20  # of coordinate descent from one Newton step on the support to the next
_ROUNDS = 100


def _minimize_by_proximal_newton(
    problem: LogLoss,
    max_iter: int,
    tol: float,
    last: Start,
    observer: Observer | None,
) -> Outcome:
    l1 = problem.penalty.l1
    n_parameters = problem.outputs * problem.shape[1]
    if n_parameters > _MOST:
        raise SettingError(
            f"{n_parameters} parameters are too many for l1_ratio > 0, which takes {_MOST}: give"
            " l1_ratio=0, or fewer columns"
        )
    # With one output the Hessian comes with the loss in one pass; with several it is summed for the
    # working set alone, which the descending penalties of `start` keep small.
    is_single = problem.outputs == 1
    newton = ProximalNewton(l1)
    if is_single or last is not None:
        start = starting_point(problem, last, is_single)
    else:
        start = newton.start(problem)
    # no coefficients at all may be better
    if start.value + l1 * _norm1(start.theta) > problem.null_value:
        start = problem.evaluate(problem.null(), is_single)
    return newton.minimize(problem, start, max_iter, tol, observer)


@dataclass(frozen=True, slots=True)
class ProximalNewton:
    """Minimize the log loss plus l1 Σ|b|: the quadratic model plus the penalty by coordinate
    descent.

    The model has the coefficients that are not zero and those that most want to leave it, so that
    second derivatives are only summed for a few. The intercepts, which are free, are eliminated
    from it first; then a step is cut until the objective falls by a share of what the model
    promised (Lee, Sun and Saunders, 2014).
    """

    l1: float

    def minimize(
        self,
        problem: LogLoss,
        start: Point,
        max_iter: int,
        tol: float,
        observer: Observer | None = None,
    ) -> Outcome:
        """The minimum from `start`, where the largest violation of optimality is at most `tol`."""

        last = abs(start.value)  # what the last step promised

        def advance(point: Point) -> tuple[Point | None, float]:
            nonlocal last
            step, promised = self._model_step(problem, point, last)
            last = -promised
            return self._backtrack(problem, point, step, promised), promised

        def is_optimal(point: Point) -> bool:
            violation = problem.size(self.violation(point))
            return violation <= tol * problem.small_beside(point.value)

        def ends_flat(point: Point, promised: float) -> bool:
            return -promised <= 1e-9 * abs(point.value)

        return descent_loop(
            self._penalize(start),
            advance,
            is_optimal,
            max_iter=max_iter,
            observer=observer,
            ends_flat=ends_flat,
        )

    def start(self, problem: LogLoss) -> Point:
        """A point near the minimum: a step each at penalties that fall to this one from where all b
        are zero.

        On the way few coefficients are not zero, and steps are cheap.
        """
        # all b are zero from l1 = max |g| on
        point = problem.evaluate(problem.null(), problem.outputs == 1)
        slopes = np.abs(point.gradient[:, :-1])
        l1 = float(slopes.max(initial=0.0)) / _STAGE
        while l1 > 1.5 * self.l1:
            stage = ProximalNewton(l1)
            before = stage._penalize(point)
            step, promised = stage._model_step(problem, before, before.value)
            after = stage._backtrack(problem, before, step, promised)
            if after is None:
                break
            # without the penalty of this stage
            loss = after.value - l1 * _norm1(after.theta)
            point = replace(after, value=loss)
            l1 /= _STAGE
        return point

    def violation(self, point: Point) -> np.ndarray:
        """How far 0 is from the subgradients, entry by entry."""
        # |b| has the slope sign(b), and at b = 0 any in [-1, 1]: there only what |g| is above l1
        # cannot be canceled; intercepts keep their gradient
        b = point.theta[:, :-1]
        g = point.gradient.copy()
        inner = g[:, :-1]
        at_zero = np.sign(inner) * np.maximum(np.abs(inner) - self.l1, 0.0)
        off_zero = inner + self.l1 * np.sign(b)
        inner[:] = np.where(b != 0, off_zero, at_zero)
        return g

    def _penalize(self, point: Point) -> Point:
        return replace(point, value=point.value + self.l1 * _norm1(point.theta))

    def _working_set(self, problem: LogLoss, point: Point) -> np.ndarray:
        """Which coefficients may move: those not zero, and those that violate optimality most."""
        b = point.theta[:, :-1]
        violation = np.abs(self.violation(point)[:, :-1])
        moves = b != 0
        if problem.reference is not None:
            moves[problem.reference] = False
            violation[problem.reference] = 0.0
        # some new ones, or as many as there are already: the model at most doubles
        violation = np.where(moves, 0.0, violation).ravel()
        room = max(_MOST_NEW, int(moves.sum()))
        new = np.argsort(-violation, kind="stable")[:room]
        moves.flat[new[violation[new] > 0]] = True
        return moves

    def _working_entries(
        self,
        problem: LogLoss,
        point: Point,
    ) -> tuple[np.ndarray, int]:
        """The entries of θ that may move, the coefficients first, and how many these are."""
        moves = np.zeros(problem.shape, bool)
        moves[:, :-1] = self._working_set(problem, point)
        ends = np.zeros_like(moves)
        ends[:, -1] = problem.fit_intercept & (
            np.arange(problem.outputs) != problem.reference
        )
        inner = np.flatnonzero(moves)
        return np.concatenate([inner, np.flatnonzero(ends)]), len(inner)

    def _model_step(
        self,
        problem: LogLoss,
        point: Point,
        last: float,
    ) -> tuple[np.ndarray, float]:
        """The minimizer of g·s + ½ sᵀHs + l1 |b + s|₁ less where we are, and the fall of the linear
        part.

        Only the coefficients of the working set and the intercepts move. The minimum is found to a
        share of `last`, what the last step promised: early models are rough.
        """
        chosen, inner = self._working_entries(problem, point)
        g = point.gradient.ravel()[chosen]
        before = point.theta.ravel()[chosen[:inner]]
        H = problem.curvature(point, chosen)
        Q = H[:inner, :inner]
        pull = g[:inner].copy()
        factor = None
        if problem.fit_intercept:
            Q, pull, factor = _eliminate_intercepts(H, g, inner)
        b = before.copy()
        exactness = max(1e-14 * abs(point.value), _SHARE * last)
        _descend(np.ascontiguousarray(Q), pull, b, self.l1, exactness)
        step = np.zeros(point.theta.size)
        step[chosen[:inner]] = b - before
        # the intercepts follow: the minimum of the model in them, given the new b
        if factor is not None:
            slope = g[inner:] + H[inner:, :inner] @ (b - before)
            step[chosen[inner:]] = problem.center_intercepts(-factor.solve(slope))
        risen = self.l1 * float(np.abs(b).sum() - np.abs(before).sum())
        promised = float(point.gradient.ravel() @ step) + risen
        return step.reshape(problem.shape), promised

    def _backtrack(
        self,
        problem: LogLoss,
        point: Point,
        step: np.ndarray,
        promised: float,
    ) -> Point | None:
        # Armijo's rule, down to falls that are rounding of the objective
        noise = 16 * float(np.finfo(np.float64).eps) * abs(point.value)
        length = 1.0
        while -promised * length > noise:
            theta = point.theta + length * step
            next_point = self._penalize(problem.evaluate(theta, problem.outputs == 1))
            if next_point.value <= point.value + 1e-4 * length * promised:
                return next_point
            length *= 0.5
        return None


def _norm1(theta: np.ndarray) -> float:
    """Σ|b| of the coefficients, without the intercepts."""
    return float(np.abs(theta[:, :-1]).sum())


def _eliminate_intercepts(
    H: np.ndarray,
    g: np.ndarray,
    inner: int,
) -> tuple[np.ndarray, np.ndarray, PositiveFactor]:
    """The model in the first `inner` entries alone, and the factor of T.

    H = [Q sideᵀ; side T] in coefficients and intercepts. The best intercepts for any b leave
    Q - sideᵀ T⁻¹ side, Schur's complement.
    """
    side = H[inner:, :inner]
    factor = PositiveFactor.of(H[inner:, inner:])
    Q = H[:inner, :inner] - side.T @ factor.solve(side)
    pull = g[:inner] - side.T @ factor.solve(g[inner:])
    return Q, pull, factor


def _descend(
    Q: np.ndarray,
    pull: np.ndarray,
    b: np.ndarray,
    l1: float,
    tol: float,
) -> None:
    """Move b to the minimum of pull·(x - b) + ½ (x - b)ᵀQ(x - b) + l1 |x|₁ in x.

    Coordinate descent settles which coefficients are zero, Newton steps on the others the rest.
    """
    # in x alone: ½ xᵀQx - q·x + l1 |x|₁ with q = Qb - pull
    q = Q @ b - pull
    for _ in range(_ROUNDS):
        gradient = q - Q @ b
        _, decrease = native.gram_descent(
            Q,
            q,
            gradient,
            b,
            l1,
            0.0,
            np.nan,
            tol,
            _EPOCHS,
        )
        if decrease <= tol:
            return
        newton_on_support(lambda on: Q[on[:, None], on], q, b, l1, 0.0)
