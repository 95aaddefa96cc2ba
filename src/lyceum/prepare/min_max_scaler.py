"""Columns to a given range."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, OnePassLearner
from lyceum._core.data import Block, Schema
from lyceum._core.statistics import Moments
from lyceum._core.types import Categories, Data
from lyceum.errors import SettingError, number_setting
from lyceum.prepare.base import Transformer
from lyceum.prepare.statistics import of_weighted_rows
from lyceum.prepare.steps import Affine
from lyceum.report import Summary, Table


class MinMaxScaler(Transformer, OnePassLearner):
    """Continuous columns to the range [new_min, new_max]; categories stay as they are.

    .. math:: z = \\frac{x - \\min x}{\\max x - \\min x} (new_{max} - new_{min}) + new_{min}

    Missing cells are left out of the range and stay missing. A constant column becomes `new_min`. A
    column with nothing but missing cells stays as it is.

    Parameters
    ----------
    feature_range : tuple of float, default=(0, 1)
        The ends of the range, new_min and new_max.
    clip : bool, default=False
        Whether cells beyond the range seen in `fit` are set to its ends.
    categorical_features : str, bool, mask, indices, names, dict or Schema, default="from_dtype"
        Columns to leave alone because they hold categories: a mask, indices or names; True for all;
        the kinds of some columns as a dict, or of all as a `Schema`. Columns of text, of category
        types and of true and false are always left alone.

    Attributes
    ----------
    data_min_ : array of shape (n_features,)
        The smallest cell of every column; NaN for those left alone.
    data_max_ : array of shape (n_features,)
        The largest cell of every column; NaN for those left alone.
    data_range_ : array of shape (n_features,)
        Their difference.
    scale_, min_ : arrays of shape (n_features,)
        z = x · scale_ + min_.
    n_samples_seen_ : int
        The number of rows.
    statistic_ : Moments
        The merged moments of the columns, which `partial_fit` adds to.

    See Also
    --------
    StandardScaler : columns to mean 0 and standard deviation 1.

    Examples
    --------
    >>> from lyceum.prepare import MinMaxScaler
    >>> MinMaxScaler(feature_range=(-1, 1)).fit_transform([[10.0], [15.0], [20.0]]).ravel().tolist()
    [-1.0, 0.0, 1.0]
    """

    _parameter_constraints: ClassVar[dict] = {
        "feature_range": [tuple, list],
        "clip": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    _takes_text = True

    def __init__(
        self,
        feature_range: tuple[float, float] = (0, 1),
        *,
        copy: bool = True,
        clip: bool = False,
        categorical_features: Categories = "from_dtype",
    ) -> None:
        self.feature_range = feature_range
        self.copy = copy
        self.clip = clip
        self.categorical_features = categorical_features

    def inverse_transform(self, X: Data) -> Any:
        """Back to the units of the columns; what was clipped stays clipped."""
        check_is_fitted(self)
        return self._through(self._affine(inverse=True), X)

    def _statistic(self) -> Callable[[Block], Moments]:
        ends = number_setting("feature_range", self.feature_range)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise SettingError(
                f"feature_range is {self.feature_range}: its minimum must be smaller than its"
                " maximum"
            )
        return partial(of_weighted_rows, statistic=Moments)

    def _finish(self, moments: Moments) -> None:
        # a column without a known cell has no low and high: inf and -inf
        moving = moments.low <= moments.high
        moving[[column.is_categorical for column in self.schema_]] = False
        self.data_min_ = np.where(moving, moments.low, np.nan)
        self.data_max_ = np.where(moving, moments.high, np.nan)
        self.data_range_ = self.data_max_ - self.data_min_
        new_min, new_max = map(float, self.feature_range)
        widths = np.where(self.data_range_ > 0, self.data_range_, 1.0)
        self.scale_ = (new_max - new_min) / widths
        self.min_ = new_min - np.where(moving, self.data_min_, 0.0) * self.scale_
        self.n_samples_seen_ = int(moments.n_rows)

    def _step(self, schema: Schema) -> Affine:
        return self._affine()

    def _affine(self, inverse: bool = False) -> Affine:
        moving = ~np.isnan(self.data_min_)
        new_min, new_max = self.feature_range
        width = np.where(moving, self.data_max_ - self.data_min_, 1.0)
        return Affine(
            center=np.where(moving, self.data_min_, 0.0),
            scale=np.where(width > 0, width, 1.0),
            gain=np.where(moving, float(new_max) - new_min, 1.0),
            offset=np.where(moving, float(new_min), 0.0),
            low=np.where(moving, new_min, -np.inf) if self.clip else None,
            high=np.where(moving, new_max, np.inf) if self.clip else None,
            inverse=inverse,
        )

    def summary(self) -> Summary:
        """The range of every continuous column."""
        check_is_fitted(self)
        rows = [
            (self.schema_[int(j)].name, self.data_min_[j], self.data_max_[j])
            for j in self.schema_.continuous
        ]
        table = Table("Continuous columns", ("column", "min", "max"), rows)
        facts = {"rows": self.n_rows_, "new range": self.feature_range}
        return Summary(self._title(), facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            "data_min_": (self.n_features_in_,),
            "data_max_": (self.n_features_in_,),
        }
