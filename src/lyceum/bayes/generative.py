"""What classifiers with a density for every class share: the joint density, and the count of
priors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import OnePassClassifier
from lyceum._core.data import Block
from lyceum._core.probability import class_priors, log_probability
from lyceum._core.types import Data


class GenerativeClassifier(OnePassClassifier):
    """A model of p(x, k) = P(k) p(x | k)."""

    _attribute_docs: ClassVar[str] = """
    classes_ : array of shape (K,)
        The class labels, in the order of the columns of `predict_proba`.
    class_count_ : array of shape (K,)
        The weight of the rows of every class.
    """

    class_count_: np.ndarray
    priors: Any
    prior_alpha: Any

    def predict_joint_log_proba(self, X: Data) -> Any:
        """ln p(x, k) = ln P(k) + ln p(x | k), one column per class in the order of `classes_`.

        A histogram column of naive Bayes gives the probability of the bin, and multinomial counts
        are without the coefficient that all classes share. The sum over rows at their own classes
        is the joint log-likelihood, see `lyceum.evaluate.joint_log_likelihood`.
        """
        return self._apply(self._joint_density, X)

    @property
    def _prior_rule(self) -> Any:
        """How the class priors are found: what `class_priors` takes."""
        return self.priors

    def _set_priors(self, statistic: Any) -> None:
        """Set the counts and the priors of the classes from a statistic of them."""
        self.class_count_ = statistic.class_weight
        self.class_prior_ = class_priors(
            statistic.class_weight, self._prior_rule, self.prior_alpha
        )
        self.class_log_prior_ = log_probability(self.class_prior_)

    def _joint_density(self, block: Block) -> np.ndarray:
        """ln p(x, k), (n, K); by default the log joint that predictions come from."""
        return self._log_joint(block)

    def _n_shares(self) -> int:
        """How many priors are free: none that were given, else one less than the classes with
        rows."""
        rule = self._prior_rule
        learned = rule is None or (isinstance(rule, str) and rule != "uniform")
        if not learned:
            return 0
        return max(self._n_classes_used() - 1, 0)

    def _n_classes_used(self) -> int:
        return int((self.class_count_ > 0).sum())
