"""The price table of the syllabus, 6.7, by standard deviations."""

import numpy as np
import pandas as pd
import pytest

from lyceum._core.trees import GROUPS
from lyceum.trees import ModelTreeRegressor

ORGANS = pd.DataFrame(
    {
        "Model": ["B3", "T202", "A100", "T202", "M102", "A100", "T202", "A100", "E112"],
        "Condition": [
            "excellent",
            "fair",
            "good",
            "good",
            "good",
            "excellent",
            "fair",
            "good",
            "fair",
        ],
        "Leslie": ["no", "yes", "no", "no", "yes", "no", "no", "yes", "no"],
    }
)
PRICE = np.array([4513, 625, 1051, 270, 870, 1770, 99, 1900, 77], dtype=float)


def weighted(column, of):
    """The mean over the values of a column, by rows, of a measure of their prices."""
    return (
        sum(
            len(prices) * of(prices)
            for _, prices in pd.Series(PRICE).groupby(ORGANS[column])
        )
        / 9
    )


@pytest.mark.syllabus("6.7")
@pytest.mark.parametrize("of", [np.var, np.std])
def test_model_beats_condition_and_leslie(of):
    left = {column: weighted(column, of) for column in ORGANS}
    assert min(left, key=left.get) == "Model"


@pytest.mark.syllabus("6.7.2")
def test_the_model_tree_asks_for_the_model_first_and_orders_models_by_mean_price():
    tree = ModelTreeRegressor(
        model="constant", pruning=None, smoothing=0, sd_fraction=0
    ).fit(ORGANS, PRICE)
    names = (
        ORGANS.columns[tree.tree_.feature[0]],
        tree.schema_["Model"].categories.tolist(),
    )
    assert names == ("Model", ["A100", "B3", "E112", "M102", "T202"])
    # means 1573.7, 4513, 77, 870, 331.3
    assert tree.columns_.ranks[0].tolist() == [3, 4, 0, 2, 1]
    assert tree.tree_.kind[0] == GROUPS
    model = ORGANS["Model"].to_numpy()
    best = max(
        (_reduction(np.isin(model, group)), group)
        for group in (
            ["B3"],
            ["B3", "A100"],
            ["B3", "A100", "M102"],
            ["B3", "A100", "M102", "T202"],
        )
    )
    assert tree.tree_.gain[0] == pytest.approx(best[0])
    branches = tree.tree_.branches[tree.tree_.table[0] :][:5]
    assert {name for name, side in zip(names[1], branches) if side} == set(best[1])


def _reduction(high):
    """sd(T) − Σ |T_i| / |T| · sd(T_i)"""
    return (
        PRICE.std()
        - high.mean() * PRICE[high].std()
        - (~high).mean() * PRICE[~high].std()
    )
