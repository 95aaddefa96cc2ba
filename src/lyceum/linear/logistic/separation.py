"""Whether a direction separates the classes: then the unpenalised log loss has no minimum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from lyceum._core.data import Block
from lyceum._core.solvers import Outcome
from lyceum.linear.logistic.log_loss import LogLoss


@dataclass(frozen=True, slots=True)
class Lead:
    """The least and the greatest lead of a row's own class over the best other one, along θ."""

    least: float
    greatest: float

    @classmethod
    def of(cls, block: Block, coef: np.ndarray, intercept: np.ndarray) -> Lead:
        assert block.y is not None
        scores = block.X @ coef.T + intercept
        if len(coef) == 1:
            scores = np.column_stack([np.zeros(len(block)), scores])
        own = np.take_along_axis(scores, block.y[:, None], axis=1)[:, 0]
        np.put_along_axis(scores, block.y[:, None], -np.inf, axis=1)
        lead = own - scores.max(axis=1)
        if block.w is not None:
            lead = lead[block.w > 0]
        return cls(float(lead.min(initial=np.inf)), float(lead.max(initial=-np.inf)))

    def merge(self, other: Lead) -> Lead:
        return Lead(min(self.least, other.least), max(self.greatest, other.greatest))


def is_separated(problem: LogLoss, outcome: Outcome) -> bool:
    """Whether the classes are separated, wholly or in part (Albert and Anderson, 1984).

    Wholly: every row's class leads. In part: one more Newton step would still move the lead of some
    rows by a tenth or more, and that of no row back.
    """
    theta = outcome.point.theta
    if _lead(problem, theta).least > 0:
        return True
    if outcome.point.hessian is None:
        return False
    onward = _lead(problem, problem.newton_step(outcome.point))
    return onward.greatest > 0.1 and onward.least > -0.01 * onward.greatest


def _lead(problem: LogLoss, theta: np.ndarray) -> Lead:
    coef = theta[:, :-1]
    return problem.rows.reduce(
        partial(Lead.of, coef=coef, intercept=theta[:, -1] - coef @ problem.shift)
    )
