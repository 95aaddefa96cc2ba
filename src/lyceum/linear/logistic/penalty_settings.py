"""The penalty and the solver that scikit-learn's parameters ask for."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np

from lyceum._core.base import SparseCoefficients
from lyceum.errors import SettingError

# scikit-learn's other ways to the one minimum
THEIR_SOLVERS = {"liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}


# how scikit-learn's warnings of a stop before the optimum begin, by solver
STOPPED_SHORT = {
    "lbfgs": "lbfgs failed to converge",
    "liblinear": "Liblinear failed to converge, increase the number of iterations.",
    "newton-cg": "newton-cg failed to converge. Increase the number of iterations.",
    "newton-cholesky": "Newton solver did not converge after {n} iterations",
    "sag": "The max_iter was reached which means the coef_ did not converge",
    "saga": "The max_iter was reached which means the coef_ did not converge",
}


class PenaltySettings(SparseCoefficients):
    """`penalty`, `C`, `l1_ratio` and `solver` of a logistic regression, as they are meant."""

    _parameter_docs: ClassVar[str] = """
    penalty : {"l1", "l2", "elasticnet", "deprecated"} or None
        As in earlier versions of scikit-learn: "l1" is l1_ratio=1, "l2" l1_ratio=0, None C=inf.
        "deprecated" and "elasticnet": by C and l1_ratio alone.
    """
    _without_effect: ClassVar[dict[str, str]] = {
        "dual": "the primal and the dual problem have one solution",
        "intercept_scaling": "the intercept is not penalized, whatever the solver",
    }

    penalty: str | None
    C: float
    l1_ratio: float | None
    solver: str

    @property
    def _C(self) -> float:
        return np.inf if self.penalty is None else self.C

    @property
    def _l1_ratio(self) -> float:
        """The share of absolute values that `penalty` and `l1_ratio` ask for."""
        if self.penalty in ("l1", "l2"):
            return 1.0 if self.penalty == "l1" else 0.0
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise SettingError("penalty='elasticnet' needs a number: set l1_ratio")
        return self.l1_ratio or 0.0

    def _warn_of_unused(self) -> None:
        """Warn of settings that say two things."""
        is_given = self.l1_ratio not in (None, 0.0)
        if self.penalty is None and (self.C != 1.0 or is_given):
            message = "Setting penalty=None will ignore the C and l1_ratio parameters"
        elif self.penalty in ("l1", "l2") and self.l1_ratio not in (
            None,
            0.0,
            self._l1_ratio,
        ):
            message = (
                "l1_ratio parameter is only used when penalty is 'elasticnet'. Got"
                f" (penalty={self.penalty}); Inconsistent values: penalty={self.penalty} with"
                f" l1_ratio={self.l1_ratio}"
            )
        else:
            return
        warnings.warn(message, UserWarning, stacklevel=4)

    @property
    def _solver(self) -> str:
        """Our solver: scikit-learn's other ones lead to the same minimum."""
        return "auto" if self.solver in THEIR_SOLVERS else self.solver

    def _in_type_of_rows(self) -> tuple[str, ...]:
        # scikit-learn's liblinear computes in doubles
        return () if self.solver == "liblinear" else ("coef_", "intercept_")
