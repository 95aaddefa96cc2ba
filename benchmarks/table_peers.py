"""Tuned scikit-learn models on the folds of a study, built as a careful person would."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR

INNER = 3


def features(frame: pd.DataFrame, target: str) -> pd.DataFrame:
    """The columns that a careful person would keep: no constants, counters of rows or names of
    rows."""
    kept = {}
    for name in frame.columns.drop(target):
        cells = frame[name].replace([np.inf, -np.inf], np.nan)
        numeric = pd.api.types.is_numeric_dtype(cells)
        present = cells.notna().sum()
        counter = (
            numeric
            and present == len(cells) > 1
            and counts_rows(cells.to_numpy(dtype=float))
        )
        names = not numeric and cells.nunique() > 0.9 * present
        if cells.nunique() < 2 or counter or names:
            continue
        kept[str(name)] = (
            cells.astype(float)
            if numeric
            else cells.astype(object).where(cells.notna(), np.nan)
        )
    return pd.DataFrame(kept)


def counts_rows(cells: np.ndarray) -> bool:
    """Whether cells are the numbers of the rows from 0 or 1 on, in any order; years are not."""
    return cells.min() in (0, 1) and bool((np.diff(np.sort(cells)) == 1).all())


def peers(task: str, X: pd.DataFrame) -> dict[str, tuple[Any, Any]]:
    """The models with their grids."""
    text = [name for name in X.columns if X[name].dtype == object]
    numbers = [name for name in X.columns if name not in text]
    ordinal = ColumnTransformer(
        [
            (
                "text",
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
                text,
            ),
            ("numbers", SimpleImputer(add_indicator=True), numbers),
        ]
    )
    scaled = ColumnTransformer(
        [
            ("text", OneHotEncoder(handle_unknown="ignore", min_frequency=2), text),
            (
                "numbers",
                make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
                numbers,
            ),
        ]
    )
    few = [name for name in text if X[name].nunique() <= 255]
    raw = ColumnTransformer(
        [
            (
                "text",
                OrdinalEncoder(
                    handle_unknown="use_encoded_value", unknown_value=np.nan
                ),
                text,
            ),
            ("numbers", "passthrough", numbers),
        ]
    )
    at = [text.index(name) for name in few]
    boosting = _grids(
        {"min_samples_leaf": 20}, {"min_samples_leaf": 5}, {"learning_rate": 0.03}
    )
    forest = _grids(
        {"max_features": "sqrt"}, {"max_features": 0.5}, {"min_samples_leaf": 3}
    )
    svm = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": ["scale", 0.01]}
    if task == "classification":
        return {
            "boosting": (
                make_pipeline(
                    raw,
                    HistGradientBoostingClassifier(
                        categorical_features=at, random_state=0
                    ),
                ),
                boosting,
            ),
            "forest": (
                make_pipeline(ordinal, RandomForestClassifier(random_state=0)),
                forest,
            ),
            "linear": (
                make_pipeline(scaled, LogisticRegression(max_iter=2000)),
                {"C": [0.01, 0.1, 1.0, 10.0, 100.0]},
            ),
            "svm": (make_pipeline(scaled, SVC()), svm),
        }
    return {
        "boosting": (
            make_pipeline(
                raw,
                HistGradientBoostingRegressor(categorical_features=at, random_state=0),
            ),
            boosting,
        ),
        "forest": (
            make_pipeline(ordinal, RandomForestRegressor(random_state=0)),
            forest,
        ),
        "linear": (
            make_pipeline(scaled, Ridge()),
            {"alpha": [0.01, 0.1, 1.0, 10.0, 100.0]},
        ),
        "svm": (make_pipeline(scaled, _ScaledSVR()), svm),
    }


def _grids(*settings: dict[str, Any]) -> list[dict[str, list]]:
    """One point each."""
    return [{key: [value] for key, value in one.items()} for one in settings]


class _ScaledSVR(SVR):
    """Support vector regression of the standardized target, so that C means the same for any
    unit."""

    def fit(self, X, y, sample_weight=None):
        self.center_, self.unit_ = float(np.mean(y)), float(np.std(y)) or 1.0
        return super().fit(X, (y - self.center_) / self.unit_, sample_weight)

    def predict(self, X):
        return self.center_ + self.unit_ * super().predict(X)


def fold_losses(
    task: str,
    X: pd.DataFrame,
    y: np.ndarray,
    splits: list[tuple[np.ndarray, np.ndarray]],
) -> dict[str, list[float] | str]:
    """The loss of every model on every fold: share of errors or mean squared error; or why there is
    none."""
    found: dict[str, list[float] | str] = {}
    for name, (model, grid) in peers(task, X).items():
        last = model.steps[-1][0]
        space = [
            {f"{last}__{key}": values for key, values in part.items()}
            for part in (grid if isinstance(grid, list) else [grid])
        ]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = [
                    _one_fold(task, model, space, X, y, *split) for split in splits
                ]
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            found[name] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return found


def _one_fold(task, model, space, X, y, train, test) -> float:
    classes = task == "classification"
    if classes and len(np.unique(y[train])) == 1:
        return float(np.mean(y[test] != y[train][0]))
    smallest = (
        int(np.bincount(y[train])[np.unique(y[train])].min()) if classes else len(train)
    )
    n_inner = min(INNER, len(train) if not classes else max(2, smallest))
    inner = (StratifiedKFold if classes and smallest >= 2 else KFold)(
        n_inner, shuffle=True, random_state=0
    )
    score = "accuracy" if classes else "neg_mean_squared_error"
    search = GridSearchCV(model, space, scoring=score, cv=inner, error_score=-np.inf)
    found = search.fit(X.iloc[train], y[train]).predict(X.iloc[test])
    return float(
        np.mean(found != y[test]) if classes else np.mean((found - y[test]) ** 2)
    )
