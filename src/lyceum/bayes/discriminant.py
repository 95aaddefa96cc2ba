"""The base of the linear, quadratic and regularized discriminants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import CATEGORICAL_FEATURES, undefined
from lyceum._core.data import Block, Rows
from lyceum._core.probability import (
    AGAINST_RUNNER_UP,
    PRIOR_CONSTRAINTS,
    LowRankCovariance,
    class_priors,
    gaussian_log_density,
    log_probability,
    runner_up_odds,
    squared_distance_parts,
)
from lyceum._core.statistics import ClassMoments, ClassRowScatter, ClassScatter, is_wide
from lyceum._core.types import Data, Operation
from lyceum.bayes.class_covariances import (
    check_estimator,
    class_covariances,
    needs_rows,
)
from lyceum.bayes.few_rows import check_covariances
from lyceum.bayes.generative import GenerativeClassifier
from lyceum.errors import SettingError, cannot_export
from lyceum.evaluate import degrees_of_freedom
from lyceum.report import Explanation, Summary, Table

ClassStatistic = ClassMoments | ClassScatter | ClassRowScatter

DISCRIMINANT_CONSTRAINTS: dict[str, list] = {
    "unbiased": ["boolean"],
    "categorical_features": CATEGORICAL_FEATURES,
    **PRIOR_CONSTRAINTS,
}


class Discriminant(GenerativeClassifier):
    """Gaussian classes: one mean per class, and covariances of a chosen structure."""

    _attribute_docs: ClassVar[str] = """
    priors_ : array of shape (K,)
        The class priors as used.
    means_ : array of shape (K, d)
        The mean of every class; for a class without rows, the mean of all rows.
    mean_ : array of shape (d,)
        The mean of all rows.
    statistic_ : ClassScatter, ClassMoments or ClassRowScatter
        The merged statistic of all rows seen.
    """

    _coding = "reference"
    _pooled = False  # whether one scatter over all classes is enough
    _scores_are_logs = True

    covariance: str
    _class_covariances: np.ndarray  # (K, d, d), of an estimator
    unbiased: bool
    priors: Any
    prior_alpha: Any

    def _statistic(self) -> Callable[[Block], ClassStatistic]:
        if self.covariance != "full":
            return ClassMoments.of
        if self._has_few_rows:
            return ClassRowScatter.of
        return partial(ClassScatter.of, pooled=self._pooled)

    def _statistic_for(self, rows: Rows) -> Callable[[Block], ClassStatistic]:
        """The rows themselves where they are fewer than many columns, else the products of all
        columns."""
        self.__dict__.pop("statistic_", None)
        self.__dict__.pop("_class_covariances", None)
        if hasattr(self, "covariance_estimator"):
            check_estimator(self)
            if needs_rows(self):
                self._class_covariances = class_covariances(self, rows)
        if self.covariance == "full" and is_wide(rows):
            return ClassRowScatter.of
        return self._statistic()

    def _continue_fit(self, rows: Rows) -> Any:
        if hasattr(self, "_class_covariances"):
            raise SettingError(
                "partial_fit keeps sums, not rows, which shrinkage='auto' and covariance_estimator"
                " need: fit on all rows at once"
            )
        return super()._continue_fit(rows)

    @property
    def _has_few_rows(self) -> bool:
        """Whether there are over 1,000 columns and fewer rows, so that no matrix of all columns is
        made."""
        return isinstance(getattr(self, "statistic_", None), ClassRowScatter)

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), LowRankCovariance)

    def _finish_classes(
        self, statistic: ClassStatistic
    ) -> tuple[np.ndarray, np.ndarray]:
        """Set means and priors; return log priors (-inf without rows) and the variances over all
        rows."""
        self.class_count_ = statistic.class_weight
        weight, self.mean_, scatter = statistic.over_classes()
        has_rows = self.class_count_ > 0
        self.means_ = np.where(has_rows[:, None], statistic.mean, self.mean_)
        self.priors_ = class_priors(
            self.class_count_, self._given_priors(), self.prior_alpha
        )
        variance = np.divide(
            scatter, weight, out=np.zeros_like(weight), where=weight > 0
        )
        return self._log_priors(), variance

    def _given_priors(self) -> Any:
        """The parameter `priors`; a subclass may take shares that do not sum to 1."""
        return self.priors

    def _log_priors(self) -> np.ndarray:
        """log π_k; -inf for a class without rows, which is never predicted."""
        return np.where(self.class_count_ > 0, log_probability(self.priors_), -np.inf)

    def _n_used_columns(self) -> int:
        """The columns that vary over all rows: a constant one has no part in the density."""
        _, _, scatter = self.statistic_.over_classes()
        return int((scatter > 0).sum())

    def _count_parameters(self, family: str) -> int:
        """Free priors, means and covariances, as a family of `degrees_of_freedom` counts them."""
        return self._n_shares() + degrees_of_freedom(
            family,
            d=self._n_used_columns(),
            K=self._n_classes_used(),
            covariance=self.covariance,
            shares=False,
        )

    def decision_function(self, X: Data) -> Any:
        """Log posteriors up to a constant of the row; with two classes the log-odds of the
        second."""
        return self._apply(self._decision, X)

    def _decision(self, block: Block) -> np.ndarray:
        joint = self._log_joint(block)
        if joint.shape[1] == 2:
            return joint[:, 1] - joint[:, 0]
        return joint

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """The log-odds that every column adds for the predicted class against the runner-up.

        Base and contributions sum to the log of the ratio of the two posteriors. With two classes
        the runner-up is the other one.
        """
        return self._explain(X, self._column_odds, AGAINST_RUNNER_UP)

    def _column_odds(self, block: Block) -> np.ndarray:
        raise undefined(self, "_column_odds")

    def summary(self) -> Summary:
        """Class priors, means, and how the covariances are estimated."""
        head = super().summary()
        facts = {
            "rows": self.n_rows_,
            "covariance": self.covariance,
            "divided by": self._divisor(),
        }
        heads = [f"mean | {label}" for label in self.classes_]
        means = [
            (name, *values) for name, values in zip(self.design_names, self.means_.T)
        ]
        tables = [
            Table(
                "Classes",
                ("class", "weight", "prior"),
                list(zip(self.classes_, self.class_count_, self.priors_)),
            ),
            Table("Means", ("column", *heads), means),
        ]
        return Summary(head.title, {**head.facts, **facts}, tables)

    def _divisor(self) -> str:
        raise undefined(self, "_divisor")


class QuadraticRule(Discriminant):
    """δ_k(x) = constant_k - ½ |W_k (x - μ_k)|², with W_k a triangle, or a diagonal as a vector."""

    means_: np.ndarray
    _whiten: np.ndarray  # (K, d, d) or (K, d)
    _constant: np.ndarray  # (K,)

    def _log_joint(self, block: Block) -> np.ndarray:
        if not self._has_few_rows:
            return gaussian_log_density(
                block.X, self.means_, self._whiten, self._constant
            )
        squares = [
            S.squared_distances(block.X - m)
            for S, m in zip(self.covariance_, self.means_)
        ]
        return self._constant - 0.5 * np.column_stack(squares)

    def _operations(self) -> list[Operation]:
        if self._has_few_rows:
            raise cannot_export(self, "it has fewer rows than columns")
        whiten = self._whiten
        if whiten.ndim == 2:  # diagonals
            whiten = whiten[:, :, None] * np.eye(whiten.shape[1])
        constants = {
            "means": self.means_.tolist(),
            "whiten": whiten.tolist(),
            "constant": self._constant.tolist(),
        }
        return [("gaussians", constants), ("softmax", {})]

    def _set_few_rows(
        self,
        covariances: list[LowRankCovariance],
        log_priors: np.ndarray,
        total_variance: np.ndarray,
    ) -> None:
        """The rule of covariances that are kept as rows."""
        self.covariance_: Any = covariances
        self.__dict__.pop("_whiten", None)
        self._set_constant(log_priors, covariances, total_variance)

    def _set_constant(
        self, log_priors: np.ndarray, factors: Sequence[Any], total_variance: np.ndarray
    ) -> None:
        """Set δ_k at the mean: the log prior and the log density of the columns that vary."""
        log_det = np.array([factor.log_det for factor in factors])
        n_used = (total_variance > 0).sum()
        self._constant = log_priors - 0.5 * (log_det + n_used * np.log(2 * np.pi))

    def _column_odds(self, block: Block) -> np.ndarray:
        return runner_up_odds(-0.5 * self._squared_parts(block), self._constant)

    def _squared_parts(self, block: Block) -> np.ndarray:
        """The part of every column in the squared distances from the means, (n, K, d)."""
        # z_j (Σ_k⁻¹ z)_j with z = x - μ_k, which sum to zᵀ Σ_k⁻¹ z
        if not self._has_few_rows:
            return squared_distance_parts(block.X, self.means_, self._whiten)
        centered = [block.X - mean for mean in self.means_]
        return np.stack(
            [Z * S.solve(Z) for S, Z in zip(self.covariance_, centered)], axis=1
        )

    def _check_model(self) -> None:
        super()._check_model()
        if self._has_few_rows:
            check_covariances(
                self.covariance_, (len(self.classes_), len(self.design_names))
            )

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.classes_)
        d = len(self.design_names)
        shapes: dict[str, tuple[int, ...]] = {
            "means_": (K, d),
            "_constant": (K,),
            "mean_": (d,),
            "priors_": (K,),
        }
        if not self._has_few_rows:
            shapes["_whiten"] = (K, d, d) if self.covariance == "full" else (K, d)
        return shapes


def apply_structure(covariance: str, variances: np.ndarray) -> np.ndarray:
    """Variances (..., d) under a structure: as they are, or for "spherical" their mean in every
    column."""
    if covariance != "spherical" or not variances.shape[-1]:
        return variances
    return np.broadcast_to(variances.mean(axis=-1, keepdims=True), variances.shape)
