"""The constant guesses that a learner has to beat: the class frequencies, or the mean of the
target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    OnePassClassifier,
    OnePassLearner,
    Regressor,
)
from lyceum._core.data import Block
from lyceum._core.statistics import (
    align_labels,
    class_weights,
    classes_of,
    place_classes,
)
from lyceum._core.types import Categories, Data
from lyceum.report import Summary, Table

_CONSTRAINTS = {"categorical_features": CATEGORICAL_FEATURES}


@dataclass(frozen=True, slots=True)
class ClassWeights:
    """The weight of the rows of every class."""

    n_rows: int
    weight: np.ndarray  # (K,)
    classes: np.ndarray  # (K,)

    @classmethod
    def of(cls, block: Block) -> ClassWeights:
        classes = classes_of(block)
        return cls(len(block), class_weights(block, len(classes)), classes)

    def merge(self, other: ClassWeights) -> ClassWeights:
        classes, first, second = align_labels(self.classes, other.classes)
        K = len(classes)
        weight = place_classes(self.weight, first, K)
        weight = weight + place_classes(other.weight, second, K)
        return ClassWeights(self.n_rows + other.n_rows, weight, classes)


class PriorClassifier(OnePassClassifier):
    """The same posteriors for every row: P(k|x) = n_k / N, the shares of the classes.

    Under 0/1 loss it names the commonest class, under a loss matrix the cheapest action. A
    classifier that costs as much has learned nothing from the columns.

    Parameters
    ----------
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; none is used.

    Attributes
    ----------
    class_prior_ : array of shape (K,)
        The shares of the classes, by weight.
    statistic_ : ClassWeights
        The merged statistic of all rows seen.

    See Also
    --------
    MeanRegressor : The same for numbers.
    lyceum.study : Compares every learner with it.

    Examples
    --------
    >>> model = PriorClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "b"])
    >>> model.predict_proba([[7.0]]).round(12).tolist()
    [[0.25, 0.75]]
    """

    _coding = "codes"
    _takes_missing = True
    _takes_text = True
    _parameter_constraints: ClassVar[dict] = _CONSTRAINTS

    def __init__(self, *, categorical_features: Categories = "from_dtype"):
        self.categorical_features = categorical_features

    def _statistic(self) -> Callable[[Block], ClassWeights]:
        return ClassWeights.of

    def _finish(self, statistic: ClassWeights) -> None:
        self.class_prior_ = statistic.weight / statistic.weight.sum()

    def _posteriors(self, block: Block) -> np.ndarray:
        return np.tile(self.class_prior_, (len(block), 1))

    def summary(self) -> Summary:
        rows = list(zip(map(str, self.classes_), self.class_prior_.tolist()))
        table = Table("Posteriors of every row", ("class", "share"), rows)
        return Summary(self._title(), {}, [table])

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), ClassWeights)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"class_prior_": (len(self.classes_),)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@dataclass(frozen=True, slots=True)
class TargetMean:
    """The weighted mean of the target."""

    n_rows: int
    weight: float
    mean: float

    @classmethod
    def of(cls, block: Block) -> TargetMean:
        assert block.y is not None
        w = block.weights
        weight = float(w.sum())
        return cls(len(block), weight, float(w @ block.y) / weight if weight else 0.0)

    def merge(self, other: TargetMean) -> TargetMean:
        weight = self.weight + other.weight
        # μ = μ₁ + w₂ / (w₁ + w₂) (μ₂ − μ₁)
        share = other.weight / weight if weight else 0.0
        mean = self.mean + share * (other.mean - self.mean)
        return TargetMean(self.n_rows + other.n_rows, weight, mean)


class MeanRegressor(Regressor, OnePassLearner):
    """The same number for every row: the mean of the target, which has the least squared error of
    all.

    Parameters
    ----------
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; none is used.

    Attributes
    ----------
    mean_ : array of shape (1,)
        The weighted mean of the target.
    statistic_ : TargetMean
        The merged statistic of all rows seen.

    See Also
    --------
    PriorClassifier : The same for classes.
    lyceum.study : Compares every learner with it.

    Examples
    --------
    >>> MeanRegressor().fit([[0.0], [1.0]], [3.0, 5.0]).predict([[9.0]]).tolist()
    [4.0]
    """

    _coding = "codes"
    _takes_missing = True
    _takes_text = True
    _parameter_constraints: ClassVar[dict] = _CONSTRAINTS

    def __init__(self, *, categorical_features: Categories = "from_dtype"):
        self.categorical_features = categorical_features

    def _statistic(self) -> Callable[[Block], TargetMean]:
        return TargetMean.of

    def _finish(self, statistic: TargetMean) -> None:
        self.mean_ = np.array([statistic.mean])

    def predict(self, X: Data) -> Any:
        """The mean of the target for every row."""
        return self._apply(partial(_constant, self), X)

    def summary(self) -> Summary:
        return Summary(
            self._title(), {"prediction for every row": float(self.mean_[0])}
        )

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), TargetMean)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"mean_": (1,)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def _constant(learner: MeanRegressor, block: Block) -> np.ndarray:
    return np.full(len(block), learner.mean_[0])
