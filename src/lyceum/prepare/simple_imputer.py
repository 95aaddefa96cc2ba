"""Missing cells filled with a mean, a median, a mode or a constant."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar, Literal

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Column
from lyceum._core.types import Categories
from lyceum.errors import SettingError
from lyceum.prepare.imputer import FillRules, FillTransformer


class SimpleImputer(FillTransformer):
    """Fill the missing cells of every column with one value of that column.

    The value minimizes a loss over the known cells: the mean the squared, the median the absolute
    error, the mode the number of wrong categories,

    .. math:: \\hat v = \\arg\\min_v \\sum_{i\\ \\mathrm{present}} w_i\\, L(x_i, v).

    A column without missing cells in `fit` is filled too when cells are missing later. A category
    that `fit` did not see is not missing and stays unknown. A column with nothing but missing cells
    is filled with 0, or with its first category or `fill_value`, and a warning names it.

    Parameters
    ----------
    continuous : "mean", "median" or "constant", default="mean"
        What fills continuous columns.
    categorical : "mode" or "constant", default="mode"
        What fills categorical columns, binary ones too. Of equally common categories the first is
        the mode.
    fill_value : number, str or dict, default=None
        The constant, or one for each kind, {"continuous": -1, "categorical": "none"}; None is 0 for
        continuous and "missing" for categorical columns. A categorical column with missing cells
        that does not have it gains it, as a word; one without missing cells in `fit` that does not
        have it is filled with its mode.
    indicator : bool, default=False
        Whether every column with missing cells in `fit` gets a 0/1 column "<name> missing".

    See Also
    --------
    MissingCategory : missing cells as a category of their own.
    IterativeImputer : a prediction from the other columns instead.
    DropMissing : the rows with missing cells left out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.prepare import SimpleImputer
    >>> table = pa.table({"age": [20.0, None, 40.0], "sex": ["f", "f", None]})
    >>> SimpleImputer().fit_transform(table).to_pydict()
    {'age': [20.0, 30.0, 40.0], 'sex': ['f', 'f', 'f']}
    """

    _parameter_constraints: ClassVar[dict] = {
        "continuous": [StrOptions({"mean", "median", "constant"})],
        "categorical": [StrOptions({"mode", "constant"})],
        "fill_value": [Real, str, dict, None],
        "indicator": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        continuous: Literal["mean", "median", "constant"] = "mean",
        categorical: Literal["mode", "constant"] = "mode",
        fill_value: float | str | Mapping[str, Any] | None = None,
        indicator: bool = False,
        categorical_features: Categories = "from_dtype",
    ) -> None:
        self.continuous = continuous
        self.categorical = categorical
        self.fill_value = fill_value
        self.indicator = indicator
        self.categorical_features = categorical_features

    def _fill_rules(self) -> FillRules:
        values: dict[str, Any] = {"continuous": 0.0, "categorical": "missing"}
        if isinstance(self.fill_value, Mapping):
            values |= self.fill_value
        elif self.fill_value is not None:
            values["categorical"] = self.fill_value
            if self.continuous == "constant":
                values["continuous"] = self.fill_value
        if len(values) > 2 or not isinstance(values["continuous"], Real):
            raise SettingError(
                f"fill_value={self.fill_value!r} is no number for continuous columns: give one for"
                " each kind, e.g. {'continuous': 0, 'categorical': 'none'}"
            )
        number = float(values["continuous"])
        return FillRules(
            self.continuous, self.categorical, number, values["categorical"]
        )

    def _is_flagged(self, column: Column) -> bool:
        return self.indicator
