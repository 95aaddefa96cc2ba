"""Missing cells filled with a mean, a median, a mode or a constant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn import impute
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, OnePassLearner
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Column, Schema
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.prepare.imputer import FillRules, FillTransformer
from lyceum.prepare.shared_transformer import SharedTransformer, has_words
from lyceum.prepare.steps import Fill
from lyceum.report import Summary, Table


class _Theirs(impute.SimpleImputer):
    """scikit-learn's with its tags, for which that one imports pandas."""

    def __sklearn_tags__(self) -> Any:
        # by its own name it is ours under the switch
        tags = super(_Theirs.__base__, self).__sklearn_tags__()
        missing = self.missing_values
        is_nan = isinstance(missing, Real) and missing != missing
        tags.input_tags.allow_nan = is_nan or type(missing).__name__ == "NAType"
        tags.input_tags.sparse = True
        return tags


class SimpleImputer(SharedTransformer, FillTransformer, _Theirs):
    """Fill the missing cells of every column with one value of that column.

    The value minimizes a loss over the known cells: the mean the squared, the median the absolute
    error, the mode the number of wrong categories,

    .. math:: \\hat v = \\arg\\min_v \\sum_{i\\ \\mathrm{present}} w_i\\, L(x_i, v).

    Arrays and frames of numbers are filled as scikit-learn does, sparse ones too, and so are arrays
    and frames of anything by "most_frequent" and "constant".

    Rows of `scan(...)`, Dask collections, pyarrow tables and frames with words go by the kinds of
    their columns: `strategy` fills the continuous ones, `categorical` the others. A column without
    missing cells in `fit` is filled too when cells are missing later. A category that `fit` did not
    see is not missing and stays unknown. A column with nothing but missing cells is filled with 0,
    or with its first category or `fill_value`, and a warning names it; in an array it is left out,
    unless `keep_empty_features`.

    Parameters
    ----------
    missing_values : number, str, nan, None or pandas.NA, default=nan
        What stands for a missing cell in an array.
    strategy : {"mean", "median", "most_frequent", "constant"} or function, default="mean"
        What fills a column: a statistic of its known cells, or a function of them.
    fill_value : number, str or dict, default=None
        The constant; None is 0 for numbers and "missing_value" for words. By kinds of columns also
        one for each kind, {"continuous": -1, "categorical": "none"}; None is then 0 and "missing".
        A categorical column with missing cells that does not have it gains it, as a word; one
        without missing cells in `fit` that does not have it is filled with its mode.
    copy : bool, default=True
        Whether an array that is given may not be changed.
    add_indicator : bool, default=False
        Whether every column with missing cells in `fit` gets a 0/1 column that says where they
        were: "missingindicator_<name>" of arrays, "<name> missing" by kinds of columns.
    keep_empty_features : bool, default=False
        Whether columns of an array with nothing but missing cells stay.
    categorical : {"mode", "constant"}, default="mode"
        What fills categorical columns, binary ones too, where columns go by their kinds. Of
        equally common categories the first is the mode.

    Attributes
    ----------
    statistics_ : array of shape (n_features,)
        What fills every column of an array.
    indicator_ : MissingIndicator or None
        Finds the missing cells of arrays, with `add_indicator`.

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

    _theirs = impute.SimpleImputer
    _theirs_takes_sparse = True
    _parameter_constraints: ClassVar[dict] = {
        **impute.SimpleImputer._parameter_constraints,
        "fill_value": [Real, str, dict, np.bool_, None],
        "categorical": [StrOptions({"mode", "constant"})],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        strategy: Literal["mean", "median", "most_frequent", "constant"]
        | Callable[..., Any] = "mean",
        fill_value: float | str | Mapping[str, Any] | None = None,
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        categorical: Literal["mode", "constant"] = "mode",
        categorical_features: Categories = "from_dtype",
    ) -> None:
        self.missing_values = missing_values
        self.strategy = strategy
        self.fill_value = fill_value
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.categorical = categorical
        self.categorical_features = categorical_features

    def _goes_by_kinds(self, X: Data) -> bool:
        is_own = isinstance(self.fill_value, Mapping) or self.categorical != "mode"
        by_kinds = is_own or super()._goes_by_kinds(X)
        return by_kinds or (self.strategy in ("mean", "median") and has_words(X))

    def _fit_by_kinds(self, X: Data, y: Target, sample_weight: Weights) -> None:
        if (
            self.missing_values is not None
            and self.missing_values == self.missing_values
        ):
            raise SettingError(
                f"missing_values={self.missing_values!r} is for arrays: say so where the rows are"
                " read, scan(..., missing=...)"
            )
        OnePassLearner.fit(self, X, None, sample_weight)

    def partial_fit(
        self, X: Data, y: Target = None, sample_weight: Weights = None
    ) -> Any:
        """Learn from more rows: the result is that of one `fit` on all rows seen."""
        OnePassLearner.partial_fit(self, X, None, sample_weight)
        self.by_kinds_ = True
        return self

    def _fill_rules(self) -> FillRules:
        values: dict[str, Any] = {"continuous": 0.0, "categorical": "missing"}
        if isinstance(self.fill_value, Mapping):
            values |= self.fill_value
        elif self.fill_value is not None:
            values["categorical"] = self.fill_value
            if self.strategy == "constant":
                values["continuous"] = self.fill_value
        if len(values) > 2 or not isinstance(values["continuous"], Real):
            raise SettingError(
                f"fill_value={self.fill_value!r} is no number for continuous columns: give one for"
                " each kind, e.g. {'continuous': 0, 'categorical': 'none'}"
            )
        if self.strategy not in ("mean", "median", "constant"):
            raise SettingError(
                f"strategy={self.strategy!r} fills arrays and frames; where columns go by their"
                " kinds, give 'mean', 'median' or 'constant'"
            )
        number = float(values["continuous"])
        return FillRules(self.strategy, self.categorical, number, values["categorical"])

    def _is_flagged(self, column: Column) -> bool:
        return self.add_indicator

    def _finish_array(self, X: Data) -> Any:
        SharedTransformer._finish_array(self, X)
        statistics = self.statistics_
        self.flagged_ = []
        self.filled_schema_ = self.schema_
        if statistics.dtype.kind == "f":
            self.fill_ = statistics
        return self

    def summary(self) -> Summary:
        """What every column is filled with, and of columns by their kinds how much is missing."""
        check_is_fitted(self)
        if self.by_kinds_:
            return FillTransformer.summary(self)
        names = [column.name for column in self.schema_]
        rows = list(zip(names, self.statistics_.tolist()))
        table = Table("Columns", ("column", "filled with"), rows)
        return Summary(self._title(), {"columns": self.n_features_in_}, [table])

    def _step(self, schema: Schema) -> Fill:
        if not self.by_kinds_:
            is_plain = self.statistics_.dtype.kind == "f" and not self.add_indicator
            if not is_plain or np.isnan(self.statistics_).any():
                raise self._no_step("words, an indicator or empty columns")
        return FillTransformer._step(self, schema)
