"""score_of: scikit-learn's scorers on predictions that boosting has already."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from lyceum._core.types import Data, Target, Weights


def score_of(
    learner: Any, scores: np.ndarray, y: np.ndarray, w: np.ndarray | None
) -> float:
    """The score, by `scoring` of the learner, of predictions from scores (n, K)."""
    from sklearn.metrics import check_scoring  # takes long to import

    answers = _ScoredRows(learner, scores)
    score = check_scoring(answers, learner.scoring)
    weights = {} if w is None else {"sample_weight": w}
    return float(score(answers, np.empty((len(y), 0)), y, **weights))


class _ScoredRows(BaseEstimator):
    """Predictions that are known already, as a fitted learner, for scorers."""

    def __init__(self, learner: Any, scores: np.ndarray) -> None:
        self.learner = learner
        self.scores = scores
        if hasattr(learner, "classes_"):
            self.classes_ = learner.classes_

    def __sklearn_tags__(self) -> Any:
        return self.learner.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Data, y: Target = None) -> Any:
        return self

    def predict(self, X: Data) -> np.ndarray:
        return self.learner._decide(self.scores)

    def score(self, X: Data, y: Target, sample_weight: Weights = None) -> float:
        from sklearn.metrics import accuracy_score, r2_score  # takes long to import

        measure = accuracy_score if hasattr(self, "classes_") else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    @available_if(lambda self: hasattr(self, "classes_"))
    def predict_proba(self, X: Data) -> np.ndarray:
        return self.learner._posterior(self.scores)

    @available_if(lambda self: hasattr(self, "classes_"))
    def decision_function(self, X: Data) -> np.ndarray:
        return self.learner._flat(self.scores)
