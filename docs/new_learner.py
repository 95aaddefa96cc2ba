"""A new learner in one file: nearest class mean, in units of each column's pooled standard
deviation.

It says how a block of rows is summarized (`_statistic`) and how the merged summary becomes
parameters (`_finish`). That is all: arrays, frames, files larger than memory, Dask, weights,
partial_fit, posteriors and scikit-learn's contract come from the base.
`tests/checks/test_new_learner.py` puts it through every law.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lyceum.base import CATEGORICAL_FEATURES, OnePassClassifier
from lyceum.data import Block
from lyceum.report import Summary, Table
from lyceum.statistics import ClassMoments


class NearestMean(OnePassClassifier):
    """Classify by the nearest class mean: the class k with the least ½ Σ_j (x_j − m_kj)² / s_j².

    Parameters
    ----------
    categorical_features : "from_dtype", mask, indices or names
        Columns to code one-of-C before distances are taken.
    """

    _parameter_constraints: ClassVar[dict] = {
        "categorical_features": CATEGORICAL_FEATURES
    }

    def __init__(self, *, categorical_features="from_dtype"):
        self.categorical_features = categorical_features

    def _statistic(self):
        return ClassMoments.of

    def _finish(self, moments: ClassMoments) -> None:
        seen = moments.class_weight > 0
        variance = moments.scatter.sum(axis=0) / moments.class_weight.sum()
        self.scale_ = np.where(variance > 0, np.sqrt(variance), 1.0)
        self.means_ = moments.mean
        self.offset_ = np.where(seen, 0.0, -np.inf)

    def _log_joint(self, block: Block) -> np.ndarray:
        distance = ((block.X[:, None, :] - self.means_) / self.scale_) ** 2
        return self.offset_ - 0.5 * distance.sum(axis=2)

    def summary(self) -> Summary:
        rows = [[str(name), *mean] for name, mean in zip(self.classes_, self.means_)]
        return Summary(
            self._title(), {}, [Table("Means", ["class", *self.design_names], rows)]
        )

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K, d = len(self.classes_), len(self.design_names)
        return {"means_": (K, d), "scale_": (d,), "offset_": (K,)}
